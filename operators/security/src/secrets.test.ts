/** No credential ever gets out of its Secret: not into a ConfigMap, a status, an event, a log line or a rendered file. */
import { renderInstance } from '@keelson/runtime';
import { ConfigMap, Event, type KubeObject, manifest, Secret } from '@keelson/schema';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { security } from './operator.ts';
import { agentOf } from './testing/agent.ts';
import { type Stage, sample, startStage, upstreamCrds } from './testing/stage.ts';

const planted = ['planted-user-6b1f', 'planted-word-91c2', 'planted-key-a07d', 'planted-authority-3e5b'] as const;
const [username, password, apiKey, authority] = planted;
/** As they stand in a Secret, and as a careless program might print them. */
const forms = planted.flatMap((text) => [text, Buffer.from(text).toString('base64'), encodeURIComponent(text)]);

describe('planted secrets', () => {
  let stage: Stage;
  const lines: string[] = [];
  beforeAll(async () => {
    stage = await startStage(
      { crds: await upstreamCrds('trivy-operator'), auditLevel: 'Request' },
      { onLog: (line) => lines.push(line) },
    );
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test.each([
    ['user and password', { secretRef: { name: 'store' } }],
    ['API key', { apiKeySecretRef: { name: 'store', key: 'api-key' } }],
  ])('with %s, nothing is found anywhere', async (_case, auth) => {
    const namespace = await stage.env.createNamespace();
    const stringData = { username, password, 'api-key': apiKey, 'ca.crt': authority };
    await stage.apply(manifest(Secret, { name: 'store', namespace }, { stringData }));
    const output = {
      elasticsearch: { url: 'https://es:9200', auth, tls: { caSecretRef: { name: 'store', key: 'ca.crt' } } },
    };
    const nodes = { override: { nodeAgent: { nodeSelector: { test: namespace } } } };
    const object = agentOf(['falco', 'osquery', 'trivy'], { output, ...nodes });
    await stage.apply({ ...object, metadata: { name: 'main', namespace } });
    await stage.untilCondition({ name: 'main', namespace }, 'Applied', { status: 'True' });
    // A changed Secret rolls what uses it, and is told of without its content.
    await stage.apply(
      manifest(Secret, { name: 'store', namespace }, { stringData: { ...stringData, password: `${password}-new` } }),
    );
    await stage.admin.delete(ConfigMap, { name: 'otel-gateway-config', namespace });
    await vi.waitFor(
      async () => expect(await stage.admin.find(ConfigMap, { name: 'otel-gateway-config', namespace })).toBeDefined(),
      { timeout: 60_000 },
    );

    const kinds =
      'daemonsets,deployments,cronjobs,configmaps,services,serviceaccounts,securityagents,networkpolicies,poddisruptionbudgets,clusterroles,clusterrolebindings,priorityclasses';
    const stored = await stage.env.kubectl(['get', kinds, '-n', namespace, '-o', 'yaml', '--show-managed-fields']);
    const events = JSON.stringify((await stage.admin.list(Event, {})).items);
    expect(stored).toContain('otel-gateway');
    expect(events).toContain('otel-gateway-config');
    expect(lines.join('\n')).toContain('main');
    for (const form of forms) {
      expect(stored.includes(form), `${form} in a stored object`).toBe(false);
      expect(events.includes(form), `${form} in an event`).toBe(false);
      expect(
        lines.some((line) => line.includes(form)),
        `${form} in a log line`,
      ).toBe(false);
    }
  });

  test('of the Secret that stands beside an agent in a file, nothing is rendered', () => {
    const objects = sample('full');
    const secret = objects.find(({ kind }) => kind === 'Secret') as Secret | undefined;
    const { password = '' } = secret?.stringData ?? {};
    expect(password).not.toBe('');
    const agent = objects.find(({ kind }) => kind === 'SecurityAgent') as KubeObject;
    const rendered = JSON.stringify(renderInstance(security, agent).objects);
    expect(rendered).toContain('elasticsearch-credentials');
    expect(rendered).not.toContain(password);
  });
});
