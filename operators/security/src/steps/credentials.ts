/** The Secrets that `spec.output` names: which keys they must have, and what was found. Values are never looked at. */
import type { ObserveContext } from '@keelson/runtime';
import { Secret } from '@keelson/schema';
import type { SecurityAgent } from '../resource.ts';
import { type Store, storeOf } from '../store.ts';
import { targetNamespace } from './context.ts';

/** A Secret that pods will ask for. */
export interface SecretNeed {
  readonly path: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** What is known of a Secret: the keys that hold something, and a version that changes whenever it does. */
export interface SecretFinding {
  readonly keys: readonly string[];
  readonly version: string;
}

/** By name; null for one that does not exist. */
export type Findings = Readonly<Record<string, SecretFinding | null>>;

/** Every Secret that the pods of `usesOutput` features mount or take their environment from. */
export function secretNeeds(store: Store | undefined): readonly SecretNeed[] {
  const { path, auth, tls } = store ?? {};
  const needs: SecretNeed[] = [];
  if (auth?.secretRef !== undefined)
    needs.push({ path: `${path}.auth.secretRef`, name: auth.secretRef.name, keys: ['username', 'password'] });
  if (auth?.apiKeySecretRef !== undefined) {
    const { name, key } = auth.apiKeySecretRef;
    needs.push({ path: `${path}.auth.apiKeySecretRef`, name, keys: [key] });
  }
  if (tls?.caSecretRef !== undefined)
    needs.push({ path: `${path}.tls.caSecretRef`, name: tls.caSecretRef.name, keys: [tls.caSecretRef.key] });
  return needs;
}

/** Looks the Secrets up, uncached: the operator holds no Secret in memory, and needs no right to list them. */
export async function findSecrets({ self, read }: ObserveContext<typeof SecurityAgent>): Promise<Findings> {
  const namespace = targetNamespace(self);
  const names = new Set(secretNeeds(storeOf(self.spec.output)).map(({ name }) => name));
  const found = await Promise.all(
    [...names].map(async (name): Promise<[string, SecretFinding | null]> => {
      const secret = await read.find(Secret, { name, namespace });
      if (secret === undefined) return [name, null];
      const keys = Object.entries(secret.data ?? {}).flatMap(([key, value]) => (value === '' ? [] : [key]));
      return [name, { keys: keys.sort(), version: secret.metadata.resourceVersion ?? '' }];
    }),
  );
  return Object.fromEntries(found);
}

/** What is missing, in words; undefined when all is there, or when nobody could look (offline). */
export function missingSecret(store: Store | undefined, namespace: string, findings: Findings | undefined) {
  for (const { path, name, keys } of findings === undefined ? [] : secretNeeds(store)) {
    const finding = findings?.[name];
    if (finding === null || finding === undefined)
      return `${path}: there is no Secret '${name}' in namespace ${namespace}: create it with the ${keyText(keys)}`;
    const missing = keys.filter((key) => !finding.keys.includes(key));
    if (missing.length > 0) return `${path}: Secret '${name}' in namespace ${namespace} lacks the ${keyText(missing)}`;
  }
  return undefined;
}

function keyText(keys: readonly string[]): string {
  return `${keys.length === 1 ? 'key' : 'keys'} ${keys.map((key) => `'${key}'`).join(' and ')}`;
}

/** A word that changes when any of these Secrets does. */
export function secretVersion(findings: Findings | undefined, names: ReadonlySet<string>): string | undefined {
  const versions = Object.entries(findings ?? {}).flatMap(([name, finding]) =>
    finding === null || !names.has(name) ? [] : [`${name}=${finding.version}`],
  );
  return versions.length === 0 ? undefined : versions.sort().join(',');
}
