/** The configurations of the collectors as the ConfigMaps that their pods mount. */
import { ConfigMap, manifest } from '@keelson/schema';
import { stringify } from 'yaml';
import type { FeatureContext } from '../feature.ts';
import { CONFIG_FILE, GATEWAY_CONFIG, NODE_CONFIG } from '../names.ts';
import type { CollectorConfig } from './collector.ts';
import { synthesise } from './synthesise.ts';

/**
 * No anchors and no folded lines, for people who read it in the cluster. Texts in quotes, for the collector: its YAML takes `1_000`
 * or `0o14`, as a cluster may be called, for numbers.
 */
const form = {
  lineWidth: 0,
  aliasDuplicateObjects: false,
  defaultStringType: 'QUOTE_DOUBLE',
  defaultKeyType: 'PLAIN',
} as const;

/** Both ConfigMaps, or none. */
export function collectorConfigMaps(
  context: Pick<FeatureContext, 'sources' | 'store' | 'cluster'>,
  deadLetters = false,
): readonly ConfigMap[] {
  const { node, gateway } = synthesise(context.sources, { ...context, deadLetters });
  return [...configMap(NODE_CONFIG, node), ...configMap(GATEWAY_CONFIG, gateway)];
}

function configMap(name: string, config: CollectorConfig | undefined): readonly ConfigMap[] {
  if (config === undefined) return [];
  const text = stringify(config, form);
  return [manifest(ConfigMap, { name }, { data: { [CONFIG_FILE]: text } })];
}
