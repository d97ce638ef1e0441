import { createClient, Fault, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, type KubeObject, manifest, Namespace } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFence } from '../lease/fence.ts';
import { silentLogger } from '../logging/logger.ts';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { createEventRecorder, type DropReason, type EventRecorderOptions } from './event-recorder.ts';
import { truncate } from './note.ts';

let env: TestEnv;
let client: KubeClient;

beforeAll(async () => {
  env = await startTestEnv();
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});

interface WrittenEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly action: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly name: string; readonly uid: string };
  readonly series?: { readonly count: number };
}

const read = async (namespace: string): Promise<readonly WrittenEvent[]> =>
  (await env.adminRequest<{ items: WrittenEvent[] }>('GET', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`))
    .items;

function open(options: Partial<EventRecorderOptions> = {}) {
  const clock = createSimulatedClock(Date.now());
  const dropped: DropReason[] = [];
  const recorder = createEventRecorder({
    client,
    clock,
    fence: openFence,
    logger: silentLogger,
    source: { controller: 'keelson.io/test', instance: 'replica-1' },
    onDrop: (reason) => dropped.push(reason),
    ...options,
  });
  return { recorder, clock, dropped };
}

async function target(): Promise<{ namespace: string; object: KubeObject }> {
  const namespace = await env.createNamespace();
  const object = await client.create(ConfigMap, manifest(ConfigMap, { name: 'target', namespace }, {}));
  return { namespace, object };
}

describe('a recorder', () => {
  it('writes what happened where kubectl shows it', async () => {
    const { namespace, object } = await target();
    const { recorder } = open();
    recorder.record(object, { type: 'Warning', reason: 'Broken', message: 'it broke', action: 'Apply' });
    await recorder.flush();
    expect(await read(namespace)).toMatchObject([
      {
        type: 'Warning',
        reason: 'Broken',
        note: 'it broke',
        action: 'Apply',
        reportingController: 'keelson.io/test',
        regarding: { kind: 'ConfigMap', name: 'target', uid: object.metadata.uid },
      },
    ]);
    expect(await env.kubectl(['describe', 'configmap', 'target', '-n', namespace])).toContain('it broke');
  });

  it('counts the same again as a series, written once in a while', async () => {
    const { namespace, object } = await target();
    const { recorder, clock } = open();
    const note = { type: 'Normal', reason: 'Again', message: 'and again' } as const;
    const mark = await env.audit.mark();
    for (let n = 0; n < 20; n += 1) recorder.record(object, note);
    await clock.advance(30_000);
    await recorder.flush();
    expect(await read(namespace)).toMatchObject([{ note: 'and again', series: { count: 20 } }]);
    recorder.record(object, note);
    await recorder.flush();
    expect(await read(namespace)).toMatchObject([{ series: { count: 21 } }]);
    const writes = await env.audit.entries({ since: mark, resource: 'events', namespace, verb: ['create', 'patch'] });
    expect(writes.map(({ verb }) => verb)).toEqual(['create', 'patch', 'patch']);

    await clock.advance(10 * 60_000);
    recorder.record(object, note);
    await recorder.flush();
    expect(await read(namespace)).toHaveLength(2);
  });

  it('cuts short an object that keeps saying something new, but not the others', async () => {
    const { namespace, object } = await target();
    const other = await client.create(ConfigMap, manifest(ConfigMap, { name: 'other', namespace }, {}));
    const { recorder, clock, dropped } = open();
    for (let n = 0; n < 30; n += 1) recorder.record(object, { type: 'Normal', reason: 'Chatty', message: `news ${n}` });
    recorder.record(other, { type: 'Normal', reason: 'Quiet', message: 'hello' });
    await recorder.flush();
    expect(await read(namespace)).toHaveLength(11);
    expect(dropped).toEqual(Array(20).fill('rate'));
    await clock.advance(30_000);
    recorder.record(object, { type: 'Normal', reason: 'Chatty', message: 'later' });
    await recorder.flush();
    expect(await read(namespace)).toHaveLength(12);
  });

  it('writes about what has no namespace, and cuts what is too long', async () => {
    const name = await env.createNamespace();
    const object = await client.get(Namespace, { name });
    const { recorder, dropped } = open();
    recorder.record(object, {
      type: 'Normal',
      reason: 'R'.repeat(200),
      message: '한'.repeat(2_000),
      action: 'A'.repeat(200),
    });
    await recorder.flush();
    expect(dropped).toEqual([]);
    const written = (await read('default')).find(({ regarding }) => regarding.name === name);
    expect(Buffer.byteLength(written?.note ?? '')).toBeLessThanOrEqual(1_024);
    expect(written?.note).toMatch(/^한+…$/);
  });

  it('never fails and never waits: what cannot be written is counted', async () => {
    const { namespace, object } = await target();
    await env.adminRequest('DELETE', `/api/v1/namespaces/${namespace}`);
    const { recorder, dropped } = open();
    const before = performance.now();
    recorder.record(object, { type: 'Normal', reason: 'TooLate', message: 'nobody hears' });
    expect(performance.now() - before).toBeLessThan(50);
    await recorder.flush();
    expect(dropped).toEqual(['refused']);
  });

  it('writes nothing once the fence says no, and holds no more than its buffer', async () => {
    const { namespace, object } = await target();
    let isFenced = false;
    const { recorder, dropped } = open({
      fence: {
        check() {
          if (isFenced) throw new Fault('LeaseLost', 'lost');
        },
      },
    });
    const others = Array.from({ length: 600 }, (_, n) => ({
      ...object,
      metadata: { ...object.metadata, uid: `uid-${n}` },
    }));
    for (const other of others) recorder.record(other, { type: 'Normal', reason: 'Many', message: 'many' });
    isFenced = true;
    await recorder.flush();
    expect(dropped.filter((reason) => reason === 'buffer')).toHaveLength(100);
    expect(dropped.filter((reason) => reason === 'fenced')).toHaveLength(500);
    expect(await read(namespace)).toEqual([]);
  });

  it('stops waiting for the server when it is told to', async () => {
    const { object } = await target();
    const { recorder } = open();
    await env.parts.apiserver.pause();
    recorder.record(object, { type: 'Normal', reason: 'Stuck', message: 'stuck' });
    const before = performance.now();
    await recorder.flush(AbortSignal.timeout(200));
    expect(performance.now() - before).toBeLessThan(2_000);
    await env.parts.apiserver.resume();
    await recorder.flush();
  });
});

it('cuts text between characters', () => {
  expect(truncate('short', 10)).toBe('short');
  expect(truncate('aé漢字😀tail', 12)).toBe('aé漢字…');
  expect(truncate('😀😀😀', 8)).toBe('😀…');
});
