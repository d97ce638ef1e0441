/**
 * The store of an agent: where events, inventory and vulnerabilities go. `spec.output` names it by what it is; everything else speaks of
 * *the store*, and asks for its kind only where stores differ.
 */
import type { Output, StoreSettings } from './resource.ts';

/** What a store may be: a field of `spec.output` each. */
export type StoreKind = 'elasticsearch' | 'opensearch';

export interface Store extends StoreSettings {
  readonly kind: StoreKind;
  /** Where the user wrote it down, for messages: `spec.output.elasticsearch`. */
  readonly path: string;
}

/** The store that `spec.output` names; undefined where there is none. */
export function storeOf(output: Output | undefined): Store | undefined {
  const [named] = Object.entries(output ?? {}) as [StoreKind, StoreSettings][];
  if (named === undefined) return undefined;
  const [kind, settings] = named;
  return { ...settings, kind, path: `spec.output.${kind}` };
}
