/**
 * The rules of a Website: its pages in a ConfigMap, web servers in a Deployment, one address in a Service, and for a public
 * site a PriorityClass, so that its pods are placed before those of internal sites.
 *
 * This is the whole operator. Reading, writing, ownership, readiness, clean-up and permissions follow from what it declares.
 */
import { createHash } from 'node:crypto';
import { apply, defineOperator, reject } from '@keelson/runtime';
import { ConfigMap, Deployment, type Instance, manifest, PriorityClass, Service } from '@keelson/schema';
import { Website } from './resource.ts';

export const website = defineOperator({
  name: 'website',
  description: 'Serves the pages of a Website from as many web servers as it asks for.',
  resource: Website,
  owns: [ConfigMap, Deployment, Service, PriorityClass],

  reconcile({ self, owned }) {
    const { name, namespace } = self.metadata;
    const { html = '', pages = { 'index.html': html }, port, replicas } = self.spec;
    const misnamed = Object.keys(pages).find((file) => !/^[-._a-zA-Z0-9]+$/.test(file));
    if (misnamed !== undefined) {
      const message = `spec.pages: '${misnamed}' is no file name: use letters, digits, '-', '_' and '.'`;
      return reject({ reason: 'BadFileName', message });
    }
    const labels = { 'app.kubernetes.io/name': 'website', 'app.kubernetes.io/instance': name };
    const metadata = { name, labels };
    return apply({
      objects: [
        manifest(ConfigMap, metadata, { data: pages }),
        manifest(Deployment, metadata, {
          spec: { replicas, selector: { matchLabels: labels }, template: webServer(self, labels, pages) },
        }),
        manifest(Service, metadata, {
          spec: { selector: labels, ports: [{ name: 'http', port, targetPort: 'http' }] },
        }),
        ...(self.spec.public ? [priority(self, labels)] : []),
      ],
      status: {
        url: `http://${name}.${namespace}.svc${port === 80 ? '' : `:${port}`}`,
        readyReplicas: owned.get(Deployment, name)?.status?.readyReplicas ?? 0,
      },
    });
  },
});

type Site = Instance<typeof Website>;
type Labels = Record<string, string>;

function webServer(self: Site, labels: Labels, pages: Record<string, string>) {
  // Pods do not notice that a ConfigMap has changed. A new checksum is a new pod template: the content rolls out.
  const checksum = createHash('sha256')
    .update(JSON.stringify(Object.entries(pages).sort()))
    .digest('hex');
  const probe = { httpGet: { path: '/', port: 'http' } };
  return {
    metadata: { labels, annotations: { 'example.keelson.io/content': checksum.slice(0, 16) } },
    spec: {
      ...(self.spec.public ? { priorityClassName: priorityName(self) } : {}),
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'web',
          image: self.spec.image,
          command: ['httpd', '-f', '-p', '8080', '-h', '/site'],
          ports: [{ name: 'http', containerPort: 8080 }],
          readinessProbe: probe,
          livenessProbe: { ...probe, periodSeconds: 20 },
          resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '64Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [{ name: 'site', mountPath: '/site', readOnly: true }],
        },
      ],
      volumes: [{ name: 'site', configMap: { name: self.metadata.name } }],
    },
  };
}

/** A namespace has no dots in it, so no two Websites can come to the same name. */
const priorityName = ({ metadata }: Site) => `${metadata.namespace}.${metadata.name}.website`;

function priority(self: Site, labels: Labels) {
  const description = `Pods of the public website ${self.metadata.name}`;
  return manifest(PriorityClass, { name: priorityName(self), labels }, { value: 1000, description });
}
