/**
 * What `keelson explain feature` says about a feature, as plain data. What it installs is rendered by the operator itself, with every
 * feature on and all settings at their defaults, so that it cannot differ from what is applied.
 */
import { renderInstance } from '@keelson/runtime';
import type { Feature } from './feature.ts';
import { features } from './features/index.ts';
import { FEATURE_LABEL } from './names.ts';
import { createSecurityOperator } from './operator.ts';

/** The cards of these features, in their order; fits `features` of a keelson.config.ts. */
export function featureCards(list: readonly Feature[] = features) {
  const operator = createSecurityOperator(list);
  const { objects } = renderInstance(operator, {
    apiVersion: 'security.ctem.io/v1alpha1',
    kind: 'SecurityAgent',
    metadata: { name: 'agent', namespace: 'security-system' },
    spec: {
      features: list.map(({ id }) => ({ name: id, enabled: true })),
      output: { elasticsearch: { url: 'https://elasticsearch:9200' } },
    },
  });
  return list.map((feature) => {
    const { id, title, description, version, condition, privileges, exclusive } = feature;
    const events = eventsOf(feature);
    return {
      id,
      title,
      description,
      version,
      operator: operator.name,
      example: { spec: { features: [{ name: id, enabled: true }] } },
      condition,
      installs: objects.filter(({ metadata }) => metadata.labels?.[FEATURE_LABEL] === id),
      privileges,
      rights: feature.rights ?? [],
      requires: feature.requires ?? [],
      config: feature.config.schema,
      ...(events === undefined ? {} : { events }),
      ...(exclusive === undefined ? {} : { exclusive }),
    };
  });
}

function eventsOf(feature: Feature): { from: string; to: string } | undefined {
  const defaults = feature.config.parse({});
  const source = defaults.ok ? feature.telemetry?.(defaults.value) : undefined;
  if (source === undefined)
    return feature.usesOutput === true ? { from: 'its own pods', to: 'the store of spec.output' } : undefined;
  return { from: `${source.path} on every node`, to: `the index in spec.output.<store>.indices.${source.index}` };
}
