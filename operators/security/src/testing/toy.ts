/** Small features for tests of the host: what a tool is does not matter there. */
import { ConfigMap, DaemonSet, defineKind, manifest, Pod, Type } from '@keelson/schema';
import { defineFeature } from '../feature.ts';
import { nodeAgent } from '../workload/node-agent.ts';

/** A kind of somebody else's, which a cluster may lack. */
export const Policy = defineKind({
  group: 'toys.example.com',
  version: 'v1',
  kind: 'ToyPolicy',
  plural: 'toypolicies',
  scope: 'Cluster',
});

/** A tool on every node, with a ConfigMap that its pods mount. */
export const guard = defineFeature({
  id: 'guard',
  title: 'Guard',
  description: 'Watches.',
  priority: 100,
  version: '1.2.3',
  privileges: [],
  rights: [{ kind: Pod, verbs: ['list'], why: 'it looks at pods' }],
  exclusive: 'both would write /var/log/security/guard/events.log',
  config: Type.Object({
    level: Type.Enum(['low', 'high'], { default: 'low', description: 'How much it tells.' }),
  }),
  contribute: ({ level }, context) => [
    manifest(ConfigMap, { name: 'guard' }, { data: { level } }),
    nodeAgent('guard', {
      containers: [{ name: 'guard', image: context.image('docker.io/example/guard:1.2.3') }],
      volumes: [{ name: 'config', configMap: { name: 'guard' } }],
    }),
  ],
  telemetry: () => ({ tool: 'guard', path: '/var/log/security/guard/events.log', index: 'events' }),
});

/** One that needs a kind of somebody else's, and makes one of it. */
export const judge = defineFeature({
  id: 'judge',
  title: 'Judge',
  description: 'Judges.',
  priority: 50,
  version: '4.5.6',
  privileges: [],
  kinds: [Policy],
  requires: [{ kind: Policy, remedy: 'install the toys' }],
  config: Type.Object({}),
  contribute: (_config, context) => [
    manifest(Policy, { name: context.scopedName('judge') }, {}),
    manifest(DaemonSet, { name: 'judge' }, { spec: { selector: {}, template: { spec: { containers: [] } } } }),
  ],
});

/** One that writes to the store itself. */
export const clerk = defineFeature({
  id: 'clerk',
  title: 'Clerk',
  description: 'Writes.',
  priority: 200,
  version: '1',
  privileges: [],
  usesOutput: true,
  config: Type.Object({}),
  contribute: (_config, { store }) => {
    const secret = store?.auth?.secretRef?.name;
    const env =
      secret === undefined ? [] : [{ name: 'WORD', valueFrom: { secretKeyRef: { name: secret, key: 'password' } } }];
    return [nodeAgent('clerk', { containers: [{ name: 'clerk', image: 'example/clerk:1', env }] })];
  },
});
