import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import type { AdminClient, ApiObject } from './admin.ts';

/** A CustomResourceDefinition as an object, or the path of a YAML or JSON file or of a folder with such files at any depth. */
export type CrdSource = ApiObject | string;

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const serveWithinMs = 60_000;

/** Applies CustomResourceDefinitions and waits until the API server serves them and tells of them in its discovery. */
export async function applyCrds(admin: AdminClient, sources: readonly CrdSource[]): Promise<void> {
  const crds = (await Promise.all(sources.map(load))).flat() as CustomResourceDefinition[];
  await Promise.all(
    crds.map(async (crd) => {
      await admin.request('PATCH', `${collection}/${crd.metadata.name}?fieldManager=testenv&force=true`, crd, {
        contentType: 'application/apply-patch+yaml',
      });
      await waitUntilServed(admin, crd);
    }),
  );
  await waitUntilDiscovered(admin, crds);
}

async function load(source: CrdSource): Promise<ApiObject[]> {
  if (typeof source !== 'string') return [source];
  if ((await stat(source)).isDirectory()) {
    const files = (await readdir(source, { recursive: true })).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
    return (await Promise.all(files.map((file) => load(join(source, file))))).flat();
  }
  const objects = parseAllDocuments(await readFile(source, 'utf8')).map(
    (document) => document.toJS() as ApiObject | null,
  );
  return objects.filter((object) => object?.kind === 'CustomResourceDefinition') as ApiObject[];
}

interface CustomResourceDefinition extends ApiObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
  readonly status?: { readonly conditions?: readonly { type: string; status: string; message?: string }[] };
}

/**
 * Waits until every version answers a list. That is later than the condition Established, which comes before the routes,
 * and far cheaper to ask for: a definition can be a megabyte.
 */
async function waitUntilServed(admin: AdminClient, { metadata, spec }: CustomResourceDefinition): Promise<void> {
  const served = spec.versions.filter((version) => version.served);
  const deadline = Date.now() + serveWithinMs;
  for (const version of served) {
    const path = `/apis/${spec.group}/${version.name}/${spec.names.plural}?limit=1`;
    while (!(await admin.answers(path))) {
      if (Date.now() > deadline) throw await notServed(admin, metadata.name, path);
      await sleep(50);
    }
  }
}

interface Discovered {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly { readonly resource: string }[];
    }[];
  }[];
}

/** Waits until discovery lists every version: it may learn of a kind seconds after its routes do. */
async function waitUntilDiscovered(admin: AdminClient, crds: readonly CustomResourceDefinition[]): Promise<void> {
  const wanted = crds.flatMap(({ spec: { group, names, versions } }) =>
    versions.filter(({ served }) => served).map(({ name }) => `${group}/${name}/${names.plural}`),
  );
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const deadline = Date.now() + serveWithinMs;
  while (wanted.length > 0) {
    const { items } = (await admin.request('GET', '/apis', undefined, { headers: { accept } })) as Discovered;
    const found = new Set(
      items.flatMap(({ metadata, versions }) =>
        versions.flatMap(({ version, resources = [] }) =>
          resources.map(({ resource }) => `${metadata.name}/${version}/${resource}`),
        ),
      ),
    );
    const missing = wanted.filter((path) => !found.has(path));
    if (missing.length === 0) return;
    if (Date.now() > deadline)
      throw new Error(`the API server does not tell of ${missing.join(', ')} after ${serveWithinMs / 1000} s`);
    await sleep(50);
  }
}

async function notServed(admin: AdminClient, name: string, path: string): Promise<Error> {
  const { status } = (await admin.request('GET', `${collection}/${name}`)) as CustomResourceDefinition;
  const conditions = (status?.conditions ?? []).map((c) => `${c.type}=${c.status} ${c.message ?? ''}`.trim());
  return new Error(
    `the API server does not serve ${path} of the CustomResourceDefinition ${name} after ${serveWithinMs / 1000} s: ` +
      (conditions.join('; ') || 'it has no condition yet'),
  );
}
