import { ConfigMap, Deployment, defineResource, int32, manifest, Type } from '@keelson/schema';
import { apply, defineOperator } from '../../index.ts';

export const Greeter = defineResource({
  group: 'example.com',
  version: 'v1alpha1',
  kind: 'Greeter',
  scope: 'Namespaced',
  description: 'Pods that greet.',
  spec: Type.Object({
    text: Type.String({ minLength: 1, description: 'What they say.' }),
    replicas: int32({ default: 1, minimum: 0, maximum: 10, description: 'How many.' }),
  }),
  status: Type.Object({ ready: int32({ description: 'How many are ready.' }) }),
});

export const greeter = defineOperator({
  name: 'greeter',
  resource: Greeter,
  owns: [ConfigMap, Deployment],
  reconcile({ self, owned }) {
    const { name } = self.metadata;
    const labels = { app: name };
    const env = [{ name: 'TEXT', valueFrom: { configMapKeyRef: { name, key: 'text' } } }];
    const pod = { metadata: { labels }, spec: { containers: [{ name: 'greeter', image: 'example/greeter:1', env }] } };
    return apply({
      objects: [
        manifest(ConfigMap, { name }, { data: { text: self.spec.text } }),
        manifest(
          Deployment,
          { name },
          { spec: { replicas: self.spec.replicas, selector: { matchLabels: labels }, template: pod } },
        ),
      ],
      status: { ready: owned.get(Deployment, name)?.status?.readyReplicas ?? 0 },
    });
  },
});
