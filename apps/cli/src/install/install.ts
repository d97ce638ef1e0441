/** Puts objects into a cluster for the user: server-side apply under our own name, and a word for each about what changed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '@keelson/kube';
import { apiVersionOf, builtInKinds, CustomResourceDefinition, type Kind, type KubeObject } from '@keelson/schema';
import { failure } from '../failure.ts';

export const fieldManager = 'keelson-cli';

export interface Installed {
  readonly object: KubeObject;
  readonly outcome: 'created' | 'changed' | 'unchanged' | 'kept';
}

export interface InstallOptions {
  /** Kinds that discovery may not show yet, because their CRD has just been made. */
  readonly kinds?: readonly Kind[];
  /** An object that is there already is the user's: it is left as it is. */
  readonly keep?: boolean;
  readonly tell?: (installed: Installed) => void;
}

/** Applies objects in order; a CRD counts as installed once it is served. */
export async function install(
  client: KubeClient,
  objects: readonly KubeObject[],
  { kinds = [], keep = false, tell = () => {} }: InstallOptions = {},
): Promise<Installed[]> {
  const installed: Installed[] = [];
  for (const object of objects) {
    const one = { object, outcome: await applyOne(client, await kindOf(client, object, kinds), object, keep) };
    if (object.kind === CustomResourceDefinition.kind) await whenServed(client, object as CustomResourceDefinition);
    tell(one);
    installed.push(one);
  }
  return installed;
}

async function kindOf(client: KubeClient, { apiVersion, kind }: KubeObject, kinds: readonly Kind[]): Promise<Kind> {
  const known = [...kinds, ...builtInKinds].find((one) => one.kind === kind && apiVersionOf(one) === apiVersion);
  const found = known ?? (await client.resolve({ apiVersion, kind }));
  if (found !== undefined) return found;
  throw failure(
    'missing',
    `the cluster does not know ${kind} (${apiVersion})`,
    'install its CRD first; `keelson crds --apply` installs those of the operators',
  );
}

async function applyOne(
  client: KubeClient,
  kind: Kind,
  object: KubeObject,
  keep: boolean,
): Promise<Installed['outcome']> {
  const { name, namespace } = object.metadata;
  const before = await client.find(kind, namespace === undefined ? { name } : { name, namespace }, {
    metadataOnly: true,
  });
  // A namespace that is there is somebody's: it is used as it is.
  if (before !== undefined && kind.kind === 'Namespace') return 'unchanged';
  if (before !== undefined && keep) return 'kept';
  const after = await client.apply(kind, object, { fieldManager, force: true });
  if (before === undefined) return 'created';
  return before.metadata.resourceVersion === after.metadata.resourceVersion ? 'unchanged' : 'changed';
}

const patienceMs = 15_000;

/** A CRD that was accepted is not served at once: a list of its objects that is answered says that it is. */
async function whenServed(client: KubeClient, { metadata: { name }, spec }: CustomResourceDefinition): Promise<void> {
  const deadline = Date.now() + patienceMs;
  const version = spec.versions.find(({ served }) => served)?.name ?? '';
  while (Date.now() < deadline) {
    const { status } = await client.raw(`/apis/${spec.group}/${version}/${spec.names.plural}?limit=1`);
    if (status !== 404 && status !== 503) return;
    await sleep(50);
  }
  const { status = {} } = await client.get(CustomResourceDefinition, { name });
  const problem = status.conditions?.find((condition) => condition.status === 'False');
  throw failure(
    'failed',
    `the CRD ${name} is not served after ${patienceMs / 1000} s${problem === undefined ? '' : `: ${problem.message}`}`,
    'another CRD may use the same names: `kubectl get crds`',
  );
}

/** `customresourcedefinition/websites.example.keelson.io created` */
export function installedLine({ object, outcome }: Installed): string {
  const words = outcome === 'kept' ? 'exists already: left as it is' : outcome;
  return `${object.kind.toLowerCase()}/${object.metadata.name} ${words}\n`;
}
