/** The operator under its own permissions, and a real Elasticsearch that comes late: templates wait for it, and nothing waits for them. */
import { Event, manifest, Namespace } from '@keelson/schema';
import { type SearchStore, startElasticsearch } from '@keelson/testenv';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { agentOf } from '../../testing/agent.ts';
import { type Stage, startStage } from '../../testing/stage.ts';

const ref = { name: 'main', namespace: 'security-system' };
const PATIENCE = { timeout: 60_000, interval: 100 };

let stage: Stage;
let store: SearchStore;
beforeAll(async () => {
  [stage, store] = await Promise.all([startStage(), startElasticsearch()]);
});
afterAll(() => Promise.all([stage?.[Symbol.asyncDispose](), store?.stop()]));

const templateIn = (index: string) => fetch(`${store.url}/_index_template/keelson.${index}`);

test('a store that is away is told of, and no condition is False for it', async () => {
  await store.part.kill();
  await stage.apply(manifest(Namespace, { name: ref.namespace }, {}));
  await stage.setAgent(agentOf(['falco'], { output: { elasticsearch: { url: store.url } } }));
  await stage.untilCondition(ref, 'Applied', { status: 'True' });
  const { pipeline, conditions } = await vi.waitFor(async () => {
    const { status } = await stage.agent(ref.name, ref.namespace);
    expect(status?.pipeline?.templates).toMatch(/^not in place: the operator does not reach the store at http/);
    return status ?? {};
  }, PATIENCE);
  expect(pipeline?.receivers).toEqual(['filelog/falco']);
  expect(conditions?.map(({ type }) => type)).not.toContain('IndexTemplatesReady');
  await vi.waitFor(
    async () =>
      expect((await stage.admin.list(Event, {})).items.map(({ reason }) => reason)).toContain('IndexTemplatesDelayed'),
    PATIENCE,
  );
});

test('it comes back, and the templates are in place by themselves', async () => {
  await store.part.start();
  const { message } = await stage.untilCondition(
    ref,
    'IndexTemplatesReady',
    { status: 'True', reason: 'InPlace' },
    90_000,
  );
  expect(message).toBe('4 index templates are in place');
  for (const index of ['security-events', 'security-inventory', 'security-vuln', 'security-dead-letters'])
    expect((await templateIn(index)).status).toBe(200);
});

test('another index has its template as soon as it is named', async () => {
  const indices = { events: 'acme-events' };
  await stage.setAgent(agentOf(['falco'], { output: { elasticsearch: { url: store.url, indices } } }));
  await vi.waitFor(async () => expect((await templateIn('acme-events')).status).toBe(200), PATIENCE);
});

test('what the store said stands while it is away again', async () => {
  await store.part.kill();
  await stage.setAgent(agentOf(['falco'], { output: { elasticsearch: { url: store.url, indices: {} } } }));
  await vi.waitFor(async () => {
    const { status } = await stage.agent(ref.name, ref.namespace);
    expect(status?.pipeline?.templates).toMatch(/^as they were: the operator does not reach/);
  }, PATIENCE);
  await stage.untilCondition(ref, 'IndexTemplatesReady', { status: 'True' });
});
