/** What Falco installs, given to a real API server. */
import { renderInstance } from '@keelson/runtime';
import type { ConfigMap } from '@keelson/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { type DryRunServer, startDryRunServer } from '../../testing/dry-run.ts';
import { falco } from './feature.ts';

let server: DryRunServer;

beforeAll(async () => {
  server = await startDryRunServer();
}, 300_000);

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

test.each([
  ['by default', {}],
  ['privileged', { privileged: true }],
  ['with a kernel module', { driver: 'kmod' }],
  ['with the old probe', { driver: 'ebpf' }],
])('the server takes everything %s', async (_, config) => {
  const agent = agentOf([{ name: 'falco', config }]);
  const { objects } = renderInstance(createSecurityOperator([falco]), agent);

  const stored = await Promise.all(objects.map((object) => server.dryRun(object)));

  expect(stored.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['ClusterRole', 'ConfigMap', 'DaemonSet']));
});

test('and half a megabyte of rules as it was written', async () => {
  const text = Array.from(
    { length: 9000 },
    (_, index) => `- macro: macro_number_${index}\n  condition: evt.num=${index}\n`,
  );
  const rules = { 'many.yaml': text.join('') };
  const { objects } = renderInstance(createSecurityOperator([falco]), agentOf([{ name: 'falco', config: { rules } }]));
  const written = objects.find(({ metadata }) => metadata.name === 'falco-rules') as ConfigMap;

  expect(rules['many.yaml'].length).toBeGreaterThan(450_000);
  expect(((await server.dryRun(written)) as ConfigMap).data).toEqual(rules);
});
