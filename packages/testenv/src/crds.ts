import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import type { AdminClient, ApiObject } from './admin.ts';

/** A CustomResourceDefinition as an object, or the path of a YAML or JSON file or of a folder with such files. */
export type CrdSource = ApiObject | string;

const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Applies CustomResourceDefinitions and waits until the API server serves them. */
export async function applyCrds(admin: AdminClient, sources: readonly CrdSource[]): Promise<void> {
  const crds = (await Promise.all(sources.map(load))).flat();
  await Promise.all(
    crds.map(async (crd) => {
      await admin.request('PATCH', `${collection}/${crd.metadata.name}?fieldManager=testenv&force=true`, crd, {
        contentType: 'application/apply-patch+yaml',
      });
      await waitUntilEstablished(admin, crd.metadata.name);
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

interface CrdStatus {
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

async function waitUntilEstablished(admin: AdminClient, name: string): Promise<void> {
  const deadline = Date.now() + 30_000;
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
