import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import type { AdminClient, ApiObject } from './admin.ts';

/** A CustomResourceDefinition as an object, or the path of a YAML or JSON file or of a folder with such files. */
export type CrdSource = ApiObject | string;

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const establishWithinMs = 30_000;

/** Applies CustomResourceDefinitions and waits until the API server serves them. */
export async function applyCrds(admin: AdminClient, sources: readonly CrdSource[]): Promise<void> {
  const crds = (await Promise.all(sources.map(load))).flat();
  await Promise.all(
    crds.map(async (crd) => {
      await admin.request('PATCH', `${collection}/${crd.metadata.name}?fieldManager=testenv&force=true`, crd, {
        contentType: 'application/apply-patch+yaml',
      });
      await waitUntilEstablished(admin, crd.metadata.name);
      await waitUntilServed(admin, crd as CustomResourceDefinition);
    }),
  );
}

async function load(source: CrdSource): Promise<ApiObject[]> {
  if (typeof source !== 'string') return [source];
  if ((await stat(source)).isDirectory()) {
    const files = (await readdir(source)).filter((file) => /\.(ya?ml|json)$/.test(file)).sort();
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
}

/** An established definition is not yet in the server's routes, and its first list may come too early for the cache. */
async function waitUntilServed(admin: AdminClient, { spec }: CustomResourceDefinition): Promise<void> {
  const served = spec.versions.filter((version) => version.served);
  const deadline = Date.now() + establishWithinMs;
  await Promise.all(
    served.map(async ({ name }) => {
      const path = `/apis/${spec.group}/${name}/${spec.names.plural}?limit=1`;
      while (!(await admin.answers(path))) {
        // Asked once more in the open, the server says what it lacks.
        if (Date.now() > deadline) await admin.request('GET', path);
        await sleep(25);
      }
    }),
  );
}

interface CrdStatus {
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

async function waitUntilEstablished(admin: AdminClient, name: string): Promise<void> {
  const deadline = Date.now() + establishWithinMs;
  for (;;) {
    const { status } = (await admin.request('GET', `${collection}/${name}`)) as CrdStatus;
    const conditions = status?.conditions ?? [];
    if (conditions.some((condition) => condition.type === 'Established' && condition.status === 'True')) return;
    if (Date.now() > deadline) {
      const why = conditions.map((c) => `${c.type}=${c.status} ${c.message ?? ''}`).join('; ') || 'no condition is set';
      throw new Error(`the API server did not establish the CustomResourceDefinition ${name} within 30 s: ${why}`);
    }
    await sleep(25);
  }
}
