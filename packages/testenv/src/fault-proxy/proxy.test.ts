import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type FaultProxy, startTestEnv, type TestEnv } from '../index.ts';
import { connect, type Event } from '../testing/client.ts';

let env: TestEnv;
let proxy: FaultProxy;
let client: Awaited<ReturnType<typeof connect>>;
let configMaps: string;

const configMap = (name: string, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const create = (name: string) => env.adminRequest('POST', configMaps, configMap(name));
const named = async (name: string) => (await client.send('GET', `${configMaps}/${name}`)).code === 200;
const inEtcd = (name: string) =>
  env.adminRequest('GET', `${configMaps}/${name}`).then(
    () => true,
    () => false,
  );

/** Takes so many events of a watch, or all until it ends. */
async function take(events: AsyncGenerator<Event>, count = Number.POSITIVE_INFINITY): Promise<Event[]> {
  const taken: Event[] = [];
  while (taken.length < count) {
    const next = await events.next();
    if (next.done) break;
    taken.push(next.value);
  }
  return taken;
}

const names = (events: readonly Event[]) => events.map((event) => event.object.metadata?.name);

beforeAll(async () => {
  env = await startTestEnv();
});
afterAll(() => env.stop());
beforeEach(async () => {
  const namespace = await env.createNamespace();
  configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
  proxy = await env.faultProxy();
  client = await connect(await proxy.kubeconfigFor({ user: 'alice', groups: ['system:masters'] }));
});
afterEach(async () => {
  await client.close();
  await proxy.close();
});

describe('without rules', () => {
  test('requests pass under the true user, and RBAC still refuses those without rights', async () => {
    const since = await env.audit.mark();
    expect((await client.send('POST', configMaps, configMap('a'))).code).toBe(201);
    expect(await env.audit.writesBy('alice', { since, name: 'a' })).toHaveLength(1);

    const nobody = await connect(await proxy.kubeconfigFor({ user: 'nobody', groups: ['staff'] }));
    expect((await nobody.send('GET', configMaps)).code).toBe(403);
    const [refused] = await env.audit.entries({ since, user: 'nobody' });
    expect(refused?.groups).toEqual(['staff', 'system:authenticated']);
    await nobody.close();
  });

  test('a ServiceAccount passes with its token', async () => {
    const serviceAccount = { namespace: 'default', name: 'robot' };
    const robot = await connect(await proxy.kubeconfigFor({ serviceAccount }));
    const since = await env.audit.mark();
    expect((await robot.send('GET', configMaps)).code).toBe(403);
    expect(await env.audit.entries({ since, user: 'system:serviceaccount:default:robot' })).toHaveLength(1);
    await robot.close();
  });

  test('nobody becomes somebody else by header', async () => {
    const robot = await connect(await proxy.kubeconfigFor({ serviceAccount: { namespace: 'default', name: 'robot' } }));
    const forged = { 'x-remote-user': 'testenv-admin', 'x-remote-group': 'system:masters' };
    expect((await robot.send('GET', configMaps, undefined, forged)).code).toBe(403);
    await robot.close();
    const nobody = await connect(await proxy.kubeconfigFor({ user: 'nobody' }));
    expect((await nobody.send('GET', configMaps, undefined, forged)).code).toBe(403);
    await nobody.close();
  });

  test('an expired certificate is refused as the API server would refuse it', async () => {
    const late = await connect(
      await proxy.kubeconfigFor({ user: 'late', groups: ['system:masters'], expiresInSeconds: -1 }),
    );
    expect(await late.send('GET', configMaps)).toMatchObject({
      code: 401,
      body: { kind: 'Status', reason: 'Unauthorized' },
    });
    await late.close();
  });

  test('kubectl works through it', async () => {
    await create('seen');
    const list = await env.kubectl(['get', 'configmaps', '-A', '-o', 'name'], { kubeconfig: proxy.kubeconfig });
    expect(list).toContain('configmap/seen');
  });

  test('a watch is open before its first event, and events come one by one', async () => {
    const events = await client.watch(`${configMaps}?watch=true`);
    await create('first');
    expect(names(await take(events, 1))).toEqual(['first']);
    await create('second');
    expect(names(await take(events, 1))).toEqual(['second']);
  });
});

describe('rules for requests', () => {
  test.each([
    [409, 'Conflict', undefined],
    [410, 'Expired', undefined],
    [429, 'TooManyRequests', 7],
    [500, 'InternalError', undefined],
    [503, 'ServiceUnavailable', 3],
  ])('answers %i with a proper Status and the API server never sees it', async (code, reason, retryAfterSeconds) => {
    const rule = proxy.rule({
      match: { method: 'POST' },
      times: 1,
      fault: { kind: 'answer', code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
    });
    const answer = await client.send('POST', configMaps, configMap('a'));
    expect(answer).toMatchObject({ code, body: { kind: 'Status', status: 'Failure', code, reason } });
    expect(answer.headers['retry-after']).toBe(retryAfterSeconds?.toString());
    expect(await inEtcd('a')).toBe(false);
    expect((await client.send('POST', configMaps, configMap('a'))).code).toBe(201);
    expect(rule.hits).toBe(1);
  });

  test('strikes by count: lets two pass, strikes twice, then lets pass again', async () => {
    proxy.rule({ match: { write: true }, after: 2, times: 2, fault: { kind: 'answer', code: 500 } });
    const codes: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      codes.push((await client.send('POST', configMaps, configMap(name))).code);
    expect(codes).toEqual([201, 201, 500, 500, 201]);
  });

  test('strikes by user, path and probability, until it is removed', async () => {
    const chances = [0.1, 0.9, 0.1, 0.1];
    const moody = await env.faultProxy({ random: () => chances.shift() ?? 0.9 });
    const user = await connect(await moody.kubeconfigFor({ user: 'bob', groups: ['system:masters'] }));
    using rule = moody.rule({
      match: { user: /^b/, path: /\/configmaps/, write: false },
      probability: 0.5,
      fault: { kind: 'answer', code: 503 },
    });
    const codes = async () => (await user.send('GET', configMaps)).code;
    expect([await codes(), await codes(), await codes()]).toEqual([503, 200, 503]);
    expect((await user.send('GET', '/api/v1/namespaces')).code).toBe(200);
    rule.remove();
    expect(await codes()).toBe(200);
    await user.close();
  });

  test('delays', async () => {
    proxy.rule({ fault: { kind: 'delay', ms: 200 } });
    const started = performance.now();
    await client.send('GET', configMaps);
    expect(performance.now() - started).toBeGreaterThan(190);
  });

  test('resets before the request is done, or after it is done and only the answer is lost', async () => {
    proxy.rule({ times: 1, fault: { kind: 'reset' } });
    await expect(client.send('POST', configMaps, configMap('before'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await inEtcd('before')).toBe(false);
    proxy.rule({ times: 1, fault: { kind: 'reset', at: 'response' } });
    await expect(client.send('POST', configMaps, configMap('after'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await inEtcd('after')).toBe(true);
  });

  test('holds a request, or its answer, until it is released', async () => {
    const held = proxy.rule({ match: { method: 'POST' }, fault: { kind: 'hold' } });
    const first = client.send('POST', configMaps, configMap('held'));
    await held.hit();
    expect(await inEtcd('held')).toBe(false);
    held.remove();
    expect((await first).code).toBe(201);

    const answerHeld = proxy.rule({ match: { method: 'POST' }, fault: { kind: 'hold', at: 'response' } });
    const second = client.send('POST', configMaps, configMap('done'));
    await vi.waitFor(async () => expect(await inEtcd('done')).toBe(true));
    await expect(Promise.race([second, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))])).resolves.toBe(
      'waits',
    );
    answerHeld.release();
    expect((await second).code).toBe(201);
  });

  test('a held request of a client that is gone is never forwarded', async () => {
    const held = proxy.rule({ match: { method: 'POST' }, fault: { kind: 'hold' } });
    const lost = client.send('POST', configMaps, configMap('lost'));
    await held.hit();
    await client.close();
    await expect(lost).rejects.toThrow();
    held.remove();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await inEtcd('lost')).toBe(false);
  });
});

describe('rules for watches', () => {
  const watching = { match: { watch: true } };

  test('cuts after a number of events, abruptly or cleanly', async () => {
    await Promise.all(['a', 'b', 'c'].map(create));
    proxy.rule({ ...watching, times: 1, fault: { kind: 'cut', afterEvents: 2 } });
    const abrupt = await client.watch(`${configMaps}?watch=true&resourceVersion=0`);
    expect(await take(abrupt, 2)).toHaveLength(2);
    await expect(abrupt.next()).rejects.toThrow();
    proxy.rule({ ...watching, times: 1, fault: { kind: 'cut', afterEvents: 0, how: 'clean' } });
    expect(await take(await client.watch(`${configMaps}?watch=true&resourceVersion=0`))).toEqual([]);
  });

  test('cuts after a time', async () => {
    proxy.rule({ ...watching, fault: { kind: 'cut', afterMs: 150 } });
    const started = performance.now();
    await expect(take(await client.watch(`${configMaps}?watch=true`))).rejects.toThrow();
    expect(performance.now() - started).toBeGreaterThan(140);
  });

  test('cuts in the middle of an event', async () => {
    await Promise.all(['a', 'b'].map(create));
    proxy.rule({ ...watching, fault: { kind: 'cut', afterEvents: 1, halfEvent: true } });
    const events = await client.watch(`${configMaps}?watch=true&resourceVersion=0`);
    expect(await take(events, 1)).toHaveLength(1);
    await expect(events.next()).rejects.toThrow();
  });

  test('sends 410 as an ERROR event and ends', async () => {
    await create('a');
    proxy.rule({ ...watching, fault: { kind: 'gone', afterEvents: 1 } });
    const [first, last, ...more] = await take(await client.watch(`${configMaps}?watch=true&resourceVersion=0`));
    expect(first?.type).toBe('ADDED');
    expect(last).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(more).toEqual([]);
  });

  test('drops and duplicates chosen events', async () => {
    const chosen = (name: string) => (event: { object: object }) => (event as Event).object.metadata?.name === name;
    proxy.rule({ ...watching, fault: { kind: 'drop', events: chosen('b') } });
    proxy.rule({ ...watching, fault: { kind: 'duplicate', events: chosen('c') } });
    const events = await client.watch(`${configMaps}?watch=true`);
    for (const name of ['a', 'b', 'c', 'd']) await create(name);
    expect(names(await take(events, 4))).toEqual(['a', 'c', 'c', 'd']);
  });

  test('falls silent but stays open', async () => {
    proxy.rule({ ...watching, fault: { kind: 'stall', afterEvents: 1 } });
    const events = await client.watch(`${configMaps}?watch=true`);
    await create('a');
    expect(names(await take(events, 1))).toEqual(['a']);
    await create('b');
    await expect(
      Promise.race([events.next(), new Promise((resolve) => setTimeout(resolve, 300, 'silence'))]),
    ).resolves.toBe('silence');
  });
});

describe('the whole connection', () => {
  test('cutAll resets the streams that match and no others', async () => {
    await create('a');
    const events = await client.watch(`${configMaps}?watch=true&resourceVersion=0`);
    await take(events, 1);
    proxy.cutAll({ user: 'somebody else' });
    await create('b');
    expect(names(await take(events, 1))).toEqual(['b']);
    proxy.cutAll({ watch: true });
    await expect(events.next()).rejects.toThrow();
    expect(await named('b')).toBe(true);
    const again = await client.watch(`${configMaps}?watch=true`);
    proxy.cutAll();
    await expect(take(again)).rejects.toThrow();
  });

  test('down refuses connections, up accepts them on the same address', async () => {
    await create('a');
    expect(await named('a')).toBe(true);
    await proxy.down();
    await expect(client.send('GET', configMaps)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.up();
    expect(await named('a')).toBe(true);
  });

  test('a killed API server looks like one, and comes back', async () => {
    await create('a');
    await env.parts.apiserver.kill();
    await expect(client.send('GET', configMaps)).rejects.toThrow();
    await env.parts.apiserver.start();
    await vi.waitFor(async () => expect(await named('a')).toBe(true), 10_000);
  });
});

describe('stopping the world', () => {
  test('exactly the first k writes are done, the k-th answer and all later writes wait', async () => {
    const pause = proxy.pauseAfterWrites(3, { path: /\/configmaps/ });
    const writes = ['a', 'b', 'c', 'd', 'e'].map((name) => client.send('POST', configMaps, configMap(name)));
    const passed = await pause.reached;
    expect(passed).toHaveLength(3);
    await vi.waitFor(() => expect(pause.writes).toBe(5));
    const list = await client.send('GET', configMaps);
    const stored = (list.body.items as { metadata: { name: string } }[]).map((item) => item.metadata.name);
    expect(stored).toHaveLength(3);
    pause.release();
    expect((await Promise.all(writes)).map((answer) => answer.code)).toEqual([201, 201, 201, 201, 201]);
    expect((await client.send('POST', configMaps, configMap('f'))).code).toBe(201);
  });

  test('a count of zero stops before the first write', async () => {
    const pause = proxy.pauseAfterWrites(0);
    const write = client.send('POST', configMaps, configMap('a'));
    expect(await pause.reached).toEqual([]);
    expect(await inEtcd('a')).toBe(false);
    pause.release();
    expect((await write).code).toBe(201);
  });

  test('hooks see each request before the API server does, and each answer before the client does', async () => {
    const seen: string[] = [];
    const endRequests = proxy.onRequest(async ({ method, user, write }) => {
      seen.push(`${method} ${user} ${write} ${await inEtcd('a')}`);
    });
    proxy.onResponse(async ({ method }, code) => {
      seen.push(`${method} ${code} ${await inEtcd('a')}`);
    });
    await client.send('POST', configMaps, configMap('a'));
    endRequests();
    await client.send('GET', configMaps);
    expect(seen).toEqual(['POST alice true false', 'POST 201 true', 'GET 200 true']);
  });
});
