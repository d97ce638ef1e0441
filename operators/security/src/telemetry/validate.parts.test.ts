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

function configsOf(
  enabled: readonly string[],
  output: object,
  config: object,
  cluster: string,
): ReadonlyMap<string, string> {
  const { problems, objects } = renderInstance(
    security,
    agentOf([...enabled, { name: 'otel_pipeline', config }], { global: { clusterName: cluster }, output }),
  );
  expect(problems).toEqual([]);
  const maps = objects.filter(
    (object): object is ConfigMap =>
      object.kind === 'ConfigMap' && [NODE_CONFIG, GATEWAY_CONFIG].includes(object.metadata.name),
  );
  return new Map(maps.map(({ metadata, data }) => [metadata.name, data?.[CONFIG_FILE] ?? '']));
}

const direct = { deadLetters: false };

test.each([
  ['nobody', 'elasticsearch', {}, direct],
  ['nobody, by the relay', 'elasticsearch', {}, {}],
  ['user and password', 'elasticsearch', { auth: { secretRef: { name: 'login' } } }, direct],
  ['user and password, by the relay', 'opensearch', { auth: { secretRef: { name: 'login' } } }, {}],
  ['API key', 'elasticsearch', { auth: { apiKeySecretRef: { name: 'login', key: 'api-key' } } }, direct],
  ['authority of its own', 'elasticsearch', { tls: { caSecretRef: { name: 'ca' }, insecureSkipVerify: true } }, direct],
])('all combinations of tools, and the store reached as %s', async (_how, kind, store, config) => {
  const output = { [kind]: { url: 'https://search.logging.svc:9200', ...store } };
  for (const enabled of combinations) {
    const configs = configsOf(enabled, output, config, 'prod');
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
    const config =
      configsOf(['falco'], { elasticsearch: { url: 'https://es:9200' } }, {}, cluster).get(NODE_CONFIG) ?? '';
    const { ok, output } = await validateCollectorConfig(config, { environment });
    expect(ok, output).toBe(true);
  },
);
