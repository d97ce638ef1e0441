/** The table of fields and the merge itself, against a real API server. */
import { writeFileSync } from 'node:fs';
import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { podPatches } from '../testing/patches.ts';
import { type OpenApiDocument, podFieldsOf, toSource } from '../testing/pod-fields-source.ts';
import { fullPod, workload } from '../testing/workloads.ts';
import { checkPatch } from './check-patch.ts';
import type { PlainMap } from './plain.ts';
import { podFields } from './pod-fields.ts';
import { strategicMerge } from './strategic-merge.ts';

interface Deployment {
  readonly spec: { readonly template: PlainMap } & PlainMap;
}

let env: TestEnv;
let path: string;
let live: Deployment;

beforeAll(async () => {
  env = await startTestEnv();
  const namespace = await env.createNamespace();
  path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  live = (await env.adminRequest('POST', path, workload('Deployment', fullPod))) as Deployment;
  path = `${path}/falco`;
});
afterAll(() => env.stop());

test('the table of pod fields says what the OpenAPI document of the server says', async () => {
  const document = (await env.adminRequest('GET', '/openapi/v2')) as OpenApiDocument;
  const table = podFieldsOf(document);
  if (process.env.GOLDEN === 'write') writeFileSync(new URL('pod-fields.ts', import.meta.url), toSource(table));
  expect(table.get('PodSpec')?.fields.get('containers')).toEqual({
    list: 'Container',
    mergeKey: 'name',
    keys: ['name'],
  });
  expect(podFields).toEqual(table);
});

/** What the server makes of the patch; undefined when it refuses. */
async function patched(patch: PlainMap): Promise<unknown> {
  return answer('PATCH', { spec: { template: patch } }, 'application/strategic-merge-patch+json');
}

/** What the server makes of our merge: the same defaults, if it takes it. A patch that we find fault with is refused. */
async function merged(patch: PlainMap): Promise<unknown> {
  if (checkPatch(patch, 'PodTemplateSpec', '').length > 0) return undefined;
  const template = strategicMerge(live.spec.template, patch, 'PodTemplateSpec');
  return answer('PUT', { ...live, spec: { ...live.spec, template } }, 'application/json');
}

async function answer(method: string, body: unknown, contentType: string): Promise<unknown> {
  try {
    const result = await env.adminRequest(method, `${path}?dryRun=All`, body, { contentType });
    return (result as Deployment).spec.template;
  } catch (error) {
    if (!isApiError(error)) throw error;
    return undefined;
  }
}

const container = (fields: PlainMap): PlainMap => ({ spec: { containers: [{ name: 'falco', ...fields }] } });

describe('a strategic merge gives what kubectl patch gives', () => {
  const cases: Readonly<Record<string, PlainMap>> = {
    nothing: {},
    'a field of the pod': { spec: { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' } },
    'null takes a field away': { spec: { affinity: null, hostPID: null, nodeSelector: { pool: null, zone: 'b' } } },
    'null for what is not there': { spec: { runtimeClassName: null, dnsConfig: { searches: null } } },
    'a map is merged': { metadata: { labels: { team: 'sec', tier: null }, annotations: { note: 'two' } } },
    'a map is replaced': { spec: { nodeSelector: { $patch: 'replace', only: 'this' } } },
    'a map is emptied': { spec: { nodeSelector: { $patch: 'delete' }, securityContext: { $patch: 'delete' } } },
    'a directive on what is not there': { spec: { overhead: { $patch: 'delete' }, readinessGates: [] } },
    'a container by name': container({ image: 'falco:2', tty: true }),
    'a container before the others': { spec: { containers: [{ name: 'side', image: 'side:1' }] } },
    'containers in another order': {
      spec: {
        containers: [{ name: 'reloader', image: 'reloader:2' }, { name: 'side', image: 's' }, { name: 'falco' }],
      },
    },
    'a container deleted': { spec: { containers: [{ name: 'reloader', $patch: 'delete' }] } },
    'a container that is not there deleted': { spec: { containers: [{ name: 'nobody', $patch: 'delete' }] } },
    'all containers replaced': { spec: { containers: [{ $patch: 'replace' }, { name: 'new', image: 'new:1' }] } },
    'no container left': { spec: { containers: [{ $patch: 'replace' }] } },
    'the order of init containers': {
      spec: { '$setElementOrder/initContainers': [{ name: 'rules' }, { name: 'driver' }] },
    },
    'the order with an addition': {
      spec: {
        '$setElementOrder/initContainers': [{ name: 'driver' }, { name: 'new' }, { name: 'rules' }],
        initContainers: [
          { name: 'new', image: 'n' },
          { name: 'rules', image: 'rules:2' },
        ],
      },
    },
    'the order of a part': {
      spec: { '$setElementOrder/containers': [{ name: 'reloader' }], containers: [{ name: 'reloader', tty: true }] },
    },
    'env by name': container({
      env: [
        { name: 'LEVEL', value: 'debug' },
        { name: 'NEW', value: 'x' },
      ],
    }),
    'env deleted': container({ env: [{ name: 'LEVEL', $patch: 'delete' }] }),
    'env of two sources': container({
      env: [{ name: 'LEVEL', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    }),
    'env of another source': container({
      env: [{ name: 'LEVEL', value: null, valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
    }),
    'ports by containerPort': container({ ports: [{ containerPort: 8080, name: 'web' }, { containerPort: 9090 }] }),
    'a port of the other protocol': container({ ports: [{ containerPort: 53, protocol: 'TCP' }] }),
    'mounts by mountPath': container({ volumeMounts: [{ mountPath: '/host/proc', name: 'proc', readOnly: true }] }),
    'a mount without a volume': container({ volumeMounts: [{ mountPath: '/x', name: 'nothing' }] }),
    'volumes by name': {
      spec: {
        volumes: [
          { name: 'tmp', emptyDir: {} },
          { name: 'proc', hostPath: { type: 'Directory' } },
        ],
      },
    },
    'a volume of two sources': { spec: { volumes: [{ name: 'proc', emptyDir: {} }] } },
    'a volume of another source': {
      spec: { volumes: [{ name: 'proc', $retainKeys: ['name', 'emptyDir'], emptyDir: {} }] },
    },
    'a volume in use deleted': { spec: { volumes: [{ name: 'proc', $patch: 'delete' }] } },
    'lists without a key are replaced': { spec: { tolerations: [{ operator: 'Exists' }], dnsConfig: { options: [] } } },
    'args are replaced': container({ args: ['--verbose'], command: ['/bin/falco'] }),
    'an arg is taken out': container({ '$deleteFromPrimitiveList/args': ['--cri', '--never'] }),
    'a list that is not there, deleted from': container({ '$deleteFromPrimitiveList/command': ['x'] }),
    'hostAliases, pull secrets, constraints': {
      spec: {
        hostAliases: [
          { ip: '10.0.0.1', hostnames: ['c'] },
          { ip: '10.0.0.2', hostnames: ['d'] },
        ],
        imagePullSecrets: [{ name: 'third' }, { name: 'mirror', $patch: 'delete' }],
        topologySpreadConstraints: [{ topologyKey: 'zone', maxSkew: 2 }],
      },
    },
    'a probe of two handlers': container({ livenessProbe: { exec: { command: ['true'] } } }),
    'a probe of another handler': container({ livenessProbe: { httpGet: null, exec: { command: ['true'] } } }),
    capabilities: container({ securityContext: { capabilities: { add: ['SYS_PTRACE'] }, runAsUser: 0 } }),
    'a selecting label': { metadata: { labels: { app: 'other' } } },
    'the whole spec': { spec: { $patch: 'replace', containers: [{ name: 'a', image: 'b' }] } },
    'no spec': { spec: null },
    finalizers: { metadata: { finalizers: ['b.example.com/x', 'a.example.com/y'] } },
  };

  /** Merged alike, and then refused by the server: the pod that comes out of it cannot be. */
  const refused = new Set([
    'no container left',
    'env of two sources',
    'a mount without a volume',
    'a volume of two sources',
    'a volume in use deleted',
    'a probe of two handlers',
    'a selecting label',
    'no spec',
  ]);

  test.each(Object.entries(cases))('%s', async (title, patch) => {
    const [theirs, ours] = await Promise.all([patched(patch), merged(patch)]);
    expect(ours).toEqual(theirs);
    expect(theirs === undefined).toBe(refused.has(title));
    expect(checkPatch(patch, 'PodTemplateSpec', '')).toEqual([]);
  });

  test('a field that cannot be empty is taken away, where a server only says that it cannot', async () => {
    const patch = container({
      livenessProbe: { $patch: 'delete' },
      securityContext: { seccompProfile: { $patch: 'delete' } },
    });
    expect(await patched(patch)).toBeUndefined();
    expect(await merged(patch)).toEqual(
      await patched(container({ livenessProbe: null, securityContext: { seccompProfile: null } })),
    );
  });

  test('kubectl itself agrees', async () => {
    const [, , , , namespace = ''] = path.split('/').slice(1);
    const patch = cases['containers in another order'] ?? {};
    const printed = await env.kubectl([
      ...['patch', 'deployment', 'falco', '-n', namespace, '--type=strategic', '--dry-run=server', '-o', 'json'],
      `--patch=${JSON.stringify({ spec: { template: patch } })}`,
    ]);
    expect((JSON.parse(printed) as Deployment).spec.template).toEqual(await merged(patch));
  });

  test('random patches: both refused, or the same pod', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(podPatches, async (patch) => {
        const [theirs, ours] = await Promise.all([patched(patch), merged(patch)]);
        expect(ours).toEqual(theirs);
        if (theirs !== undefined) accepted += 1;
      }),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
