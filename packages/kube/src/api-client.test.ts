import {
  ConfigMap,
  Deployment,
  defineKind,
  type KubeObject,
  manifest,
  Namespace,
  Pod,
  ServiceAccount,
} from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient, WatchEvent } from './client.ts';
import { loadConfig } from './config/load-config.ts';
import { createClient } from './create-client.ts';
import { type Fault, type FaultCode, isFault } from './fault.ts';

let env: TestEnv;
let client: KubeClient;
let namespace: string;
const clients: KubeClient[] = [];

async function clientFor(kubeconfig: string): Promise<KubeClient> {
  const created = createClient(await loadConfig({ kubeconfig, env: {} }));
  clients.push(created);
  return created;
}

beforeAll(async () => {
  env = await startTestEnv();
  client = await clientFor(env.kubeconfig);
  namespace = await env.createNamespace();
});

afterAll(async () => {
  await Promise.all(clients.map((each) => each.close()));
  await env?.stop();
});

const configMap = (name: string, data: Record<string, string> = {}): ConfigMap =>
  manifest(ConfigMap, { name, namespace }, { data });

function deployment(name: string, replicas: number): Deployment {
  return manifest(
    Deployment,
    { name, namespace },
    {
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } },
      },
    },
  );
}

async function faultOf(promise: Promise<unknown>, code: FaultCode): Promise<Fault> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (problem: unknown) => problem,
  );
  if (!isFault(error, code)) throw error;
  return error;
}

describe('one object', () => {
  it('given a created object, get, find and update see it, and delete ends it', async () => {
    const created = await client.create(ConfigMap, configMap('one', { a: '1' }));
    expect(created.metadata.uid).toBeDefined();
    const ref = { name: 'one', namespace };
    expect(await client.get(ConfigMap, ref)).toEqual(created);
    const updated = await client.update(ConfigMap, { ...created, data: { a: '2' } });
    expect(updated.data).toEqual({ a: '2' });
    expect((await client.find(ConfigMap, ref))?.metadata.resourceVersion).toBe(updated.metadata.resourceVersion);
    expect(await client.delete(ConfigMap, ref)).toBeUndefined();
    expect(await client.find(ConfigMap, ref)).toBeUndefined();
    const fault = await faultOf(client.get(ConfigMap, ref), 'NotFound');
    expect(fault.message).toBe(`cannot get configmaps "one" in namespace "${namespace}": it does not exist`);
  });

  it('given patches of each type, they are applied', async () => {
    await client.create(Deployment, deployment('patched', 1));
    const ref = { name: 'patched', namespace };
    const replicas = async (patch: Parameters<KubeClient['patch']>[2]) =>
      (await client.patch(Deployment, ref, patch)).spec.replicas;
    expect(await replicas({ type: 'merge', value: { spec: { replicas: 2 } } })).toBe(2);
    expect(await replicas({ type: 'json', operations: [{ op: 'replace', path: '/spec/replicas', value: 3 }] })).toBe(3);
    expect(await replicas({ type: 'strategic', value: { spec: { replicas: 4 } } })).toBe(4);
  });

  it('given a dry run, nothing is stored', async () => {
    await client.create(ConfigMap, configMap('dry'), { dryRun: true });
    await client.apply(ConfigMap, configMap('dry'), { fieldManager: 'me', dryRun: true });
    expect(await client.find(ConfigMap, { name: 'dry', namespace })).toBeUndefined();
  });

  it('given metadataOnly, there is metadata and nothing else, under its true kind', async () => {
    await client.create(ConfigMap, configMap('meta', { big: 'x' }));
    const object = await client.get(ConfigMap, { name: 'meta', namespace }, { metadataOnly: true });
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'meta' } });
    expect(object.data).toBeUndefined();
  });

  it('given subresources, status, scale, token and eviction work', async () => {
    const created = await client.create(Deployment, deployment('scaled', 1));
    const status = await client.update(Deployment, { ...created, status: { replicas: 7 } }, { subresource: 'status' });
    expect(status.status?.replicas).toBe(7);
    const ref = { name: 'scaled', namespace };
    expect(await client.get(Deployment, ref, { subresource: 'scale' })).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 1 },
    });
    await client.patch(Deployment, ref, { type: 'merge', value: { spec: { replicas: 5 } } }, { subresource: 'scale' });
    expect((await client.get(Deployment, ref)).spec.replicas).toBe(5);
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'default', namespace },
      spec: {},
    };
    const token = await client.create<KubeObject>(ServiceAccount, request, { subresource: 'token' });
    expect(token).toMatchObject({ kind: 'TokenRequest', status: { token: expect.any(String) } });
    const pod = manifest(Pod, { name: 'evicted', namespace }, { spec: { containers: [{ name: 'c', image: 'x' }] } });
    await client.create(Pod, pod);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted', namespace } };
    await client.create<KubeObject>(Pod, eviction, { subresource: 'eviction' });
    expect(await client.find(Pod, { name: 'evicted', namespace })).toBeUndefined();
  });

  it('given a cluster-scoped kind, no namespace is needed', async () => {
    expect((await client.get(Namespace, { name: 'default' })).metadata.name).toBe('default');
  });
});

describe('server-side apply', () => {
  it('given another owner, the fault names manager and field; with force the field is ours', async () => {
    await client.apply(ConfigMap, configMap('owned', { a: '1', b: '1' }), { fieldManager: 'alice' });
    const fault = await faultOf(
      client.apply(ConfigMap, configMap('owned', { a: '2' }), { fieldManager: 'bob' }),
      'ApplyConflict',
    );
    expect(fault.details.conflicts).toEqual([{ manager: 'alice', field: '.data.a' }]);
    expect(fault.message).toContain('.data.a is owned by "alice"');
    const taken = await client.apply<ConfigMap>(ConfigMap, configMap('owned', { a: '2' }), {
      fieldManager: 'bob',
      force: true,
    });
    expect(taken.data).toEqual({ a: '2', b: '1' });
  });
});

describe('deleting', () => {
  it('given a precondition that does not hold, nothing is deleted', async () => {
    const created = await client.create(ConfigMap, configMap('kept'));
    const ref = { name: 'kept', namespace };
    await faultOf(client.delete(ConfigMap, ref, { preconditions: { uid: 'another' } }), 'Conflict');
    await faultOf(client.delete(ConfigMap, ref, { preconditions: { resourceVersion: '1' } }), 'Conflict');
    const { uid, resourceVersion } = created.metadata;
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
    expect(await client.delete(ConfigMap, ref, { preconditions })).toBeUndefined();
    await faultOf(client.delete(ConfigMap, ref), 'NotFound');
  });

  it('given a finalizer or foreground propagation, the object is still there and returned', async () => {
    const held = configMap('held');
    await client.create(ConfigMap, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/wait'] } });
    const left = await client.delete(ConfigMap, { name: 'held', namespace });
    expect(left?.metadata).toMatchObject({ finalizers: ['example.com/wait'], deletionTimestamp: expect.any(String) });
    await client.create(Deployment, deployment('fore', 1));
    const fore = await client.delete(Deployment, { name: 'fore', namespace }, { propagation: 'Foreground' });
    expect(fore?.metadata.finalizers).toEqual(['foregroundDeletion']);
    await client.create(Deployment, deployment('back', 1));
    expect(await client.delete(Deployment, { name: 'back', namespace }, { propagation: 'Background' })).toBeUndefined();
    const doomed = await env.createNamespace();
    const terminating = await client.delete(Namespace, { name: doomed });
    expect(terminating).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
  });
});

describe('lists', () => {
  it('given pages, each item carries its kind, and listAll gives every one of them of one snapshot', async () => {
    const own = await env.createNamespace();
    for (let i = 0; i < 7; i += 1) {
      await client.create(ConfigMap, {
        ...configMap(`c${i}`),
        metadata: { name: `c${i}`, namespace: own, labels: { odd: String(i % 2) } },
      });
    }
    const page = await client.list(ConfigMap, { namespace: own, limit: 3 });
    expect(page.items.map((item) => [item.apiVersion, item.kind, item.metadata.name])).toEqual([
      ['v1', 'ConfigMap', 'c0'],
      ['v1', 'ConfigMap', 'c1'],
      ['v1', 'ConfigMap', 'c2'],
    ]);
    expect(page.remainingItemCount).toBe(4);
    const all = await client.listAll(ConfigMap, { namespace: own, limit: 2 });
    expect(all.items.map((item) => item.metadata.name)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6']);
    expect(all.resourceVersion).toBe(page.resourceVersion);
    const odd = await client.listAll(ConfigMap, { namespace: own, labelSelector: 'odd=1', metadataOnly: true });
    expect(odd.items.map((item) => [item.kind, item.metadata.name])).toEqual([
      ['ConfigMap', 'c1'],
      ['ConfigMap', 'c3'],
      ['ConfigMap', 'c5'],
    ]);
    const named = await client.list(ConfigMap, { namespace: own, fieldSelector: 'metadata.name=c4' });
    expect(named.items).toHaveLength(1);
  });

  it('given a continue token that is spoilt, the fault says so', async () => {
    const fault = await faultOf(client.list(ConfigMap, { continue: 'spoilt', limit: 1 }), 'BadRequest');
    expect(fault.message).toContain('continue key is not valid');
  });
});

describe('watches', () => {
  it('given changes, they arrive as events, metadata only if asked, and the initial ones end with a mark', async () => {
    const own = await env.createNamespace();
    const seed = { ...configMap('seed', { a: '1' }), metadata: { name: 'seed', namespace: own } };
    await client.create(ConfigMap, seed);
    const controller = new AbortController();
    const events: WatchEvent<ConfigMap>[] = [];
    let opened = false;
    const onOpen = () => {
      opened = true;
    };
    const options = { namespace: own, sendInitialEvents: true, metadataOnly: true, signal: controller.signal, onOpen };
    for await (const event of client.watch(ConfigMap, options)) {
      events.push(event);
      if (event.type === 'BOOKMARK') await client.delete(ConfigMap, { name: 'seed', namespace: own });
      if (event.type === 'DELETED') break;
    }
    expect(opened).toBe(true);
    expect(
      events.map((event) =>
        event.type === 'BOOKMARK' ? event.initialEventsEnd : [event.type, event.object.kind, event.object.data],
      ),
    ).toEqual([['ADDED', 'ConfigMap', undefined], true, ['DELETED', 'ConfigMap', undefined]]);
  });

  it('given the time limit that was asked for, the server ends the watch and so does the generator', async () => {
    const startedAt = performance.now();
    for await (const _ of client.watch(ConfigMap, { namespace, timeoutSeconds: 1 }));
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });
});

describe('faults of a real server', () => {
  it('given an invalid object, the fields that are wrong', async () => {
    const fault = await faultOf(client.create(Deployment, deployment('bad', -1)), 'Invalid');
    expect(fault.message).toContain('spec.replicas: Invalid value: -1');
    expect(fault.details.causes?.[0]?.field).toBe('spec.replicas');
  });

  it('given an existing object, a stale version, a missing namespace, a kind that is not served', async () => {
    const created = await client.create(ConfigMap, configMap('twice'));
    expect((await faultOf(client.create(ConfigMap, configMap('twice')), 'AlreadyExists')).message).toContain(
      'it exists already',
    );
    await client.update(ConfigMap, { ...created, data: { a: 'b' } });
    await faultOf(client.update(ConfigMap, { ...created, data: { a: 'c' } }), 'Conflict');
    const nowhere = { ...configMap('x'), metadata: { name: 'x', namespace: 'nowhere' } };
    expect((await faultOf(client.create(ConfigMap, nowhere), 'NotFound')).message).toContain(
      'namespace "nowhere" does not exist',
    );
    const website = defineKind({
      group: 'example.dev',
      version: 'v1',
      kind: 'Website',
      plural: 'websites',
      scope: 'Namespaced',
    });
    const ref = { name: 'x', namespace };
    for (const call of [() => client.list(website), () => client.get(website, ref), () => client.find(website, ref)]) {
      expect((await faultOf(call(), 'KindNotServed')).message).toContain('install its CRD');
    }
  });

  it('given a user without rights, who lacks what; with a Role in place, it works', async () => {
    const reader = await clientFor(await env.kubeconfigFor({ serviceAccount: { namespace, name: 'reader' } }));
    const fault = await faultOf(reader.list(ConfigMap, { namespace }), 'Forbidden');
    expect(fault.message).toBe(
      `cannot list configmaps in namespace "${namespace}": user "system:serviceaccount:${namespace}:reader" lacks the permission; grant it by a Role in namespace "${namespace}": apiGroups [""], resources ["configmaps"], verbs ["list"]`,
    );
    await env.kubectl(['create', 'role', 'r', '-n', namespace, '--verb=list', '--resource=configmaps']);
    await env.kubectl([
      'create',
      'rolebinding',
      'r',
      '-n',
      namespace,
      '--role=r',
      `--serviceaccount=${namespace}:reader`,
    ]);
    await expect
      .poll(() =>
        reader.list(ConfigMap, { namespace }).then(
          () => 'ok',
          () => 'refused',
        ),
      )
      .toBe('ok');
  });

  it('given an expired token or certificate, which one it was', async () => {
    const late = await clientFor(
      await env.kubeconfigFor({ serviceAccount: { namespace, name: 'late' }, expiresInSeconds: -60 }),
    );
    expect((await faultOf(late.list(ConfigMap), 'Unauthorized')).message).toMatch(
      /does not accept who we are: the token of user .* was refused/,
    );
    const old = await clientFor(await env.kubeconfigFor({ user: 'old', expiresInSeconds: -60 }));
    expect((await faultOf(old.list(ConfigMap), 'Unauthorized')).message).toMatch(
      /the client certificate of user .* expired on 20/,
    );
  });

  it('given an object beyond the size limit, a media type that the kind lacks, a method that is not there', async () => {
    await faultOf(client.create(ConfigMap, configMap('huge', { a: 'x'.repeat(4 << 20) })), 'RequestEntityTooLarge');
    await faultOf(client.patch(ConfigMap, { name: 'a', namespace }, { type: 'merge', value: 'no object' }), 'NotFound');
    const version = await client.raw('/version');
    expect(JSON.parse(version.body)).toMatchObject({ major: '1' });
    expect((await client.raw('/nothing')).status).toBe(404);
    expect((await client.raw('/version', { method: 'POST', body: {} })).status).toBeGreaterThanOrEqual(400);
  });

  it('given impersonation in the config, the server sees the other user and every group', async () => {
    const config = await loadConfig({ kubeconfig: env.kubeconfig, env: {} });
    const impersonate = { user: 'jane', groups: ['a', 'b,c'], extra: { scopes: ['x', 'y'] } };
    const jane = createClient({ ...config, impersonate });
    clients.push(jane);
    const review = defineKind({
      group: 'authentication.k8s.io',
      version: 'v1',
      kind: 'SelfSubjectReview',
      plural: 'selfsubjectreviews',
      scope: 'Cluster',
    });
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } };
    expect(await jane.create(review, body)).toMatchObject({
      status: {
        userInfo: { username: 'jane', groups: ['a', 'b,c', 'system:authenticated'], extra: { scopes: ['x', 'y'] } },
      },
    });
  });
});

describe('logs', () => {
  it('given a pod that has no node yet, its log is empty; given no such pod, a fault', async () => {
    const pod = manifest(Pod, { name: 'quiet', namespace }, { spec: { containers: [{ name: 'c', image: 'x' }] } });
    await client.create(Pod, pod);
    const read = async (name: string) => {
      let text = '';
      for await (const chunk of client.logs({ name, namespace, container: 'c' }, { tailLines: 1 })) text += chunk;
      return text;
    };
    expect(await read('quiet')).toBe('');
    await faultOf(read('gone'), 'NotFound');
  });
});
