/** An override on its way through the API server: what is written comes out of the CRD as it was meant, nulls and directives too. */
import { parseInstance, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SecurityAgent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { templateOf } from '../workload/template.ts';
import { applyOverrides } from './override.ts';
import { fullPod, workload } from './testing/workloads.ts';

let env: TestEnv;

beforeAll(async () => {
  env = await startTestEnv({ crds: [toCrd(SecurityAgent)] });
});
afterAll(() => env.stop());

const nulls = {
  podTemplate: { spec: { affinity: null, nodeSelector: { pool: null }, hostPID: false } },
  securityContext: { seccompProfile: null, runAsUser: 0 },
};
const directives = {
  podTemplate: {
    spec: {
      affinity: { $patch: 'delete' },
      nodeSelector: { $retainKeys: ['kubernetes.io/os'] },
      containers: [{ name: 'reloader', $patch: 'delete' }],
      hostPID: false,
    },
  },
  securityContext: { seccompProfile: { $patch: 'delete' }, runAsUser: 0 },
};

test.each<[string, string[], object]>([
  ['nulls, created', ['create'], nulls],
  // Without --server-side kubectl drops nulls, and nobody else can know that they were there.
  ['nulls, applied on the server', ['apply', '--server-side'], nulls],
  ['directives, created', ['create'], directives],
  ['directives, applied', ['apply'], directives],
  ['directives, applied on the server', ['apply', '--server-side'], directives],
])('%s', async (_title, command, tool) => {
  // Given an agent that takes fields away, stored in a cluster
  const namespace = await env.createNamespace();
  const agent = agentOf([], { override: { perTool: { falco: tool } } });
  const { uid: _, ...metadata } = agent.metadata;
  const stdin = JSON.stringify({ ...agent, metadata: { ...metadata, namespace } });
  const printed = await env.kubectl([...command, '-f', '-', '-o', 'json'], { stdin });
  // When the operator reads it
  const parsed = parseInstance(SecurityAgent, JSON.parse(printed));
  const override = parsed.ok ? parsed.instance.spec.override : expect.fail(JSON.stringify(parsed.problems));
  const falco = [{ feature: 'falco', objects: [workload('DaemonSet', fullPod)] }];
  const { contributions, unmatched } = applyOverrides(override, falco, ['falco']);
  // Then they are gone
  expect(unmatched).toEqual([]);
  const pod = templateOf(contributions[0]?.objects[0] ?? expect.fail('it is gone'))?.spec;
  expect(pod?.affinity ?? {}).toEqual({});
  expect(pod?.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' });
  expect(pod?.hostPID).toBe(false);
  expect(pod?.containers[0]?.securityContext).toMatchObject({ runAsUser: 0, allowPrivilegeEscalation: false });
  expect(pod?.containers[0]?.securityContext).not.toHaveProperty('seccompProfile');
});
