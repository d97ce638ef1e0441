/** The webhook as users meet it: a real API server asks it, and kubectl prints what it says. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { createWebhooks, type Webhooks } from '@keelson/runtime';
import { type KubeObject, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { security } from './operator.ts';
import { SecurityAgent } from './resource.ts';
import { agentOf } from './testing/agent.ts';

describe('a SecurityAgent that is applied while the webhook runs', () => {
  let env: TestEnv;
  let client: KubeClient;
  let webhooks: Webhooks;
  beforeAll(async () => {
    env = await startTestEnv({ crds: [toCrd(SecurityAgent)] });
    client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
    await env.createNamespace('security-system');
    // Stored before anybody could object.
    await kubectl('apply', stored);
    webhooks = createWebhooks({
      operators: [security],
      client,
      reach: (port) => ({ url: `https://127.0.0.1:${port}` }),
      certificates: { secret: { namespace: 'security-system', name: 'webhook' }, propagation: '1s' },
      port: 0,
      host: '127.0.0.1',
    });
    await webhooks.start(new AbortController().signal);
    await vi.waitFor(() => expect([webhooks.ready().ok, webhooks.registered().ok]).toEqual([true, true]), {
      timeout: 60_000,
    });
    await vi.waitFor(() => expect(kubectl('create', agent(['nobody']), '--dry-run=server')).rejects.toThrow(), {
      timeout: 60_000,
      interval: 200,
    });
  });
  afterAll(async () => {
    await webhooks?.stop();
    await client?.close();
    await env?.stop();
  });

  const agent = (features: Parameters<typeof agentOf>[0], spec = {}): KubeObject => {
    const { metadata: _metadata, ...rest } = agentOf(features, spec);
    return { ...rest, metadata: { name: 'main', namespace: 'security-system' } } as KubeObject;
  };
  const stored: KubeObject = {
    ...agent([{ name: 'falco', config: { driver: 7 } }]),
    metadata: { name: 'old', namespace: 'security-system' },
  };
  const kubectl = (verb: string, object: KubeObject, ...flags: readonly string[]) =>
    env.kubectl([verb, '-f', '-', ...flags], { stdin: JSON.stringify(object) });

  test.each<[string, KubeObject, string]>([
    ['an unknown feature', agent(['falcoo']), "spec.features[name=falcoo].name: there is no feature 'falcoo'"],
    [
      'a config of the wrong type',
      agent([{ name: 'falco', config: { driver: 7 } }]),
      'spec.features[name=falco].config.driver: ',
    ],
    [
      'a typo in a config',
      agent([{ name: 'trivy', config: { shedule: '@daily' } }]),
      'spec.features[name=trivy].config.shedule: ',
    ],
    [
      'a schedule that is none',
      agent([{ name: 'trivy', config: { schedule: 'often' } }]),
      'spec.features[name=trivy].config.schedule: ',
    ],
  ])('%s is refused with its path', async (_case, object, message) => {
    await expect(kubectl('apply', object)).rejects.toThrow(message);
  });

  test('what is odd but allowed is stored with a warning', async () => {
    const object = agent(['falco'], { override: { perTool: { falcoo: { image: 'x' } } } });
    const answer = await client.create(SecurityAgent, object as never, { dryRun: true });
    expect(answer.metadata.name).toBe('main');
    const printed = await env
      .kubectl(['apply', '-f', '-', '--dry-run=server', '--warnings-as-errors'], { stdin: JSON.stringify(object) })
      .catch(String);
    expect(printed).toMatch(/warning/i);
  });

  test('one that was stored before the webhook came can still be labelled and deleted', async () => {
    await env.kubectl(['label', 'secagent/old', 'seen=yes', '-n', 'security-system']);
    await env.kubectl(['delete', 'secagent/old', '-n', 'security-system', '--wait=true', '--timeout=60s']);
  });
});
