/** The headers by which one user acts as another. */
import type { Impersonation } from '../config/config.ts';

/** Several groups are several headers of one name, never one header with commas: a group name may hold a comma. */
export function impersonationHeaders(impersonate: Impersonation | undefined): Record<string, string | string[]> {
  if (impersonate === undefined) return {};
  const extra = Object.entries(impersonate.extra).map(([key, values]) => [
    // Header names are case-insensitive and the server lower-cases keys; what is no token character is percent-encoded.
    `impersonate-extra-${encodeURIComponent(key).replace(/[()*']/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`,
    [...values],
  ]);
  return {
    'impersonate-user': impersonate.user,
    ...(impersonate.uid === undefined ? {} : { 'impersonate-uid': impersonate.uid }),
    ...(impersonate.groups.length === 0 ? {} : { 'impersonate-group': [...impersonate.groups] }),
    ...Object.fromEntries(extra),
  };
}
