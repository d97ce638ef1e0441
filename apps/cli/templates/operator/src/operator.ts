/** The rules: what should exist for a Widget. A pure function; reading, writing and cleaning up are the runtime's work. */
import { apply, defineOperator } from '@keelson/runtime';
import { Deployment, manifest } from '@keelson/schema';
import { Widget } from './resource.ts';

export const widgetOperator = defineOperator({
  name: 'widget',
  description: 'Runs the pods of a Widget.',
  resource: Widget,
  owns: [Deployment],

  reconcile({ self, owned }) {
    const { name } = self.metadata;
    const labels = { 'app.kubernetes.io/name': 'widget', 'app.kubernetes.io/instance': name };
    return apply({
      objects: [
        manifest(
          Deployment,
          { name, labels },
          {
            spec: {
              replicas: self.spec.replicas,
              selector: { matchLabels: labels },
              template: {
                metadata: { labels },
                spec: { containers: [{ name: 'main', image: self.spec.image }] },
              },
            },
          },
        ),
      ],
      status: { readyReplicas: owned.get(Deployment, name)?.status?.readyReplicas ?? 0 },
    });
  },
});
