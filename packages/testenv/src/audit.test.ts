import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEnv, type TestEnv } from './index.ts';
import { connect } from './testing/client.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const configMap = (name: string, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

describe('the audit log', () => {
  let env: TestEnv;
  beforeAll(async () => {
    env = await startTestEnv({ auditLevel: 'RequestResponse' });
  });
  afterAll(() => env.stop());

  test('says who did what, and with which result', async () => {
    const alice = await connect(await env.kubeconfigFor({ user: 'alice', groups: ['system:masters'] }));
    const mark = await env.audit.mark();
    await alice.send('POST', configMaps, configMap('a', { colour: 'red' }));
    await alice.send('POST', configMaps, configMap('a'));
    await alice.send('GET', `${configMaps}/a`);
    const entries = await env.audit.entries({ user: 'alice', since: mark });
    expect(
      entries.map(({ verb, resource, namespace, name, code }) => ({ verb, resource, namespace, name, code })),
    ).toEqual([
      { verb: 'create', resource: 'configmaps', namespace: 'default', name: 'a', code: 201 },
      { verb: 'create', resource: 'configmaps', namespace: 'default', name: 'a', code: 409 },
      { verb: 'get', resource: 'configmaps', namespace: 'default', name: 'a', code: 200 },
    ]);
    expect(entries[0]).toMatchObject({ groups: ['system:masters', 'system:authenticated'], group: '', version: 'v1' });
    expect(entries[0]?.requestObject).toMatchObject({ data: { colour: 'red' } });
    expect(entries[0] && entries[0].time < entries[0].doneTime).toBe(true);
    await alice.close();
  });

  test('counts as a write only what changed something', async () => {
    const bob = await connect(await env.kubeconfigFor({ user: 'bob', groups: ['system:masters'] }));
    const since = await env.audit.mark();
    await bob.send('POST', `${configMaps}?dryRun=All`, configMap('dry'));
    await bob.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    });
    await bob.send('DELETE', `${configMaps}/nothing`);
    expect(await env.audit.writesBy('bob', { since })).toEqual([]);
    await bob.send('POST', configMaps, configMap('wet'));
    await bob.send('DELETE', `${configMaps}/wet`);
    const writes = await env.audit.writesBy(/^bo/, { since });
    expect(writes.map((entry) => entry.verb)).toEqual(['create', 'delete']);
    await bob.close();
  });

  test('shows a watch when it starts and again when it ends', async () => {
    const carol = await connect(await env.kubeconfigFor({ user: 'carol', groups: ['system:masters'] }));
    for await (const _ of await carol.watch(`${configMaps}?watch=true&timeoutSeconds=1`)) {
      // Only its life counts here.
    }
    const stages = (await env.audit.entries({ user: 'carol', verb: 'watch' })).map((entry) => entry.stage);
    expect(stages).toEqual(['ResponseStarted', 'ResponseComplete']);
    await carol.close();
  });

  test('misses none of 300 answers, large ones among them, and gives each once', async () => {
    const dave = await connect(await env.kubeconfigFor({ user: 'dave', groups: ['system:masters'] }));
    const names = Array.from({ length: 300 }, (_, index) => `many-${index}`);
    await Promise.all(
      names.map((name) => dave.send('POST', configMaps, configMap(name, { text: 'x'.repeat(20_000) }))),
    );
    const [first, second] = await Promise.all([env.audit.writesBy('dave'), env.audit.writesBy('dave')]);
    expect(first.map((entry) => entry.name).sort()).toEqual([...names].sort());
    expect(second).toEqual(first);
    await dave.close();
  });

  test('can be read while the API server is down, and goes on after its restart', async () => {
    const before = await env.audit.entries();
    await env.parts.apiserver.kill();
    expect((await env.audit.entries()).length).toBeGreaterThanOrEqual(before.length);
    await env.parts.apiserver.start();
    const since = await env.audit.mark();
    await env.adminRequest('POST', configMaps, configMap('after-restart'));
    expect(await env.audit.writesBy('testenv-admin', { since, name: 'after-restart' })).toHaveLength(1);
  });
});
