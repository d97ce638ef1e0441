/** The real collector takes what the operator renders, whatever the tools and however the store is reached. */
import { renderInstance } from '@keelson/runtime';
import type { ConfigMap } from '@keelson/schema';
import { validateCollectorConfig } from '@keelson/testenv';
import { expect, test } from 'vitest';
import { CONFIG_FILE, GATEWAY_CONFIG, NODE_CONFIG } from '../names.ts';
import { security } from '../operator.ts';
import { agentOf } from '../testing/agent.ts';

const tools = ['falco', 'tetragon', 'osquery', 'trivy'];
/** Trivy writes to the store itself. */
const collected = ['falco', 'tetragon', 'osquery'];
const environment = { K8S_NODE_NAME: 'node-1' };

const combinations = Array.from({ length: 2 ** tools.length }, (_, bits) =>
  tools.filter((_tool, bit) => bits & (1 << bit)),
);

function configsOf(enabled: readonly string[], elasticsearch: object, cluster: string): ReadonlyMap<string, string> {
  const { problems, objects } = renderInstance(
    security,
    agentOf([...enabled, 'otel_pipeline'], {
      global: { clusterName: cluster },
      output: { elasticsearch: { url: 'https://elasticsearch.logging.svc:9200', ...elasticsearch } },
    }),
  );
  expect(problems).toEqual([]);
  const maps = objects.filter(
    (object): object is ConfigMap =>
      object.kind === 'ConfigMap' && [NODE_CONFIG, GATEWAY_CONFIG].includes(object.metadata.name),
  );
  return new Map(maps.map(({ metadata, data }) => [metadata.name, data?.[CONFIG_FILE] ?? '']));
}

test.each([
  ['nobody', {}],
  ['user and password', { auth: { secretRef: { name: 'login' } } }],
  ['API key', { auth: { apiKeySecretRef: { name: 'login', key: 'api-key' } } }],
  ['authority of its own', { tls: { caSecretRef: { name: 'ca' }, insecureSkipVerify: true } }],
])('all combinations of tools, and the store reached as %s', async (_how, elasticsearch) => {
  for (const enabled of combinations) {
    const configs = configsOf(enabled, elasticsearch, 'prod');
    const receivers = collected.filter((tool) => enabled.includes(tool));
    expect([...configs.keys()].sort()).toEqual(receivers.length === 0 ? [] : [GATEWAY_CONFIG, NODE_CONFIG]);
    const node = configs.get(NODE_CONFIG) ?? '';
    for (const tool of tools) expect(node.includes(`filelog/${tool}`)).toBe(receivers.includes(tool));
    for (const [name, config] of configs) {
      const { ok, output } = await validateCollectorConfig(config, { environment });
      expect(ok, `${name} with ${enabled.join(', ')}: ${output}`).toBe(true);
    }
  }
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own syntax
test.each(['${env:NOBODY_SET_THIS', '${nothing:at all}', '$', '1_000', '"', 'a: b # c', 'EXPR(1)', '\u2028\t\u0000'])(
  'a cluster called %j',
  async (cluster) => {
    const config = configsOf(['falco'], {}, cluster).get(NODE_CONFIG) ?? '';
    const { ok, output } = await validateCollectorConfig(config, { environment });
    expect(ok, output).toBe(true);
  },
);
