/** SecurityAgents for tests: complete unless told otherwise. */
import type { KubeObject } from '@keelson/schema';

type Spec = Record<string, unknown>;

/** An agent with these features enabled (or given whole), an output, and whatever else. */
export function agentOf(features: readonly (string | Spec)[], spec: Spec = {}): KubeObject {
  return {
    apiVersion: 'security.ctem.io/v1alpha1',
    kind: 'SecurityAgent',
    metadata: { name: 'main', namespace: 'security-system', uid: '11111111-2222-3333-4444-555555555555' },
    spec: {
      features: features.map((one) =>
        typeof one === 'string' ? { name: one, enabled: true } : { enabled: true, ...one },
      ),
      output: { elasticsearch: { url: 'https://elasticsearch.logging.svc:9200' } },
      ...spec,
    },
  };
}
