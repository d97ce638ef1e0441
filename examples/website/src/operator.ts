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

const containerPort = 8080;

export const website = defineOperator({
  name: 'website',
  description: 'Serves the pages of a Website from as many web servers as it asks for.',
  resource: Website,
  owns: [ConfigMap, Deployment, Service, PriorityClass],

  reconcile({ self, owned }) {
    const pages = self.spec.pages ?? { 'index.html': self.spec.html ?? '' };
    const misnamed = Object.keys(pages).find((file) => !/^[-._a-zA-Z0-9]+$/.test(file));
    if (misnamed !== undefined) {
      return reject({
        reason: 'BadFileName',
        message: `spec.pages: '${misnamed}' is no file name: use letters, digits, '-', '_' and '.'`,
      });
    }
    const { name, namespace } = self.metadata;
    const port = self.spec.port === 80 ? '' : `:${self.spec.port}`;
    return apply({
      objects: [
        content(self, pages),
        servers(self, pages),
        address(self),
        ...(self.spec.public ? [priority(self)] : []),
      ],
      status: {
        url: `http://${name}.${namespace}.svc${port}`,
        readyReplicas: owned.get(Deployment, name)?.status?.readyReplicas ?? 0,
      },
    });
  },
});

type Site = Instance<typeof Website>;
type Pages = Record<string, string>;

const labels = (self: Site) => ({
  'app.kubernetes.io/name': 'website',
  'app.kubernetes.io/instance': self.metadata.name,
});
const priorityName = (self: Site) => `${self.metadata.namespace}.${self.metadata.name}.website`;

function content(self: Site, pages: Pages) {
  return manifest(ConfigMap, { name: self.metadata.name, labels: labels(self) }, { data: pages });
}

function servers(self: Site, pages: Pages) {
  // Pods do not notice that a ConfigMap has changed. A new checksum is a new pod template: the content rolls out.
  const checksum = createHash('sha256')
    .update(JSON.stringify(Object.entries(pages).sort()))
    .digest('hex')
    .slice(0, 16);
  const probe = { httpGet: { path: '/', port: 'http' } };
  return manifest(
    Deployment,
    { name: self.metadata.name, labels: labels(self) },
    {
      spec: {
        replicas: self.spec.replicas,
        selector: { matchLabels: labels(self) },
        template: {
          metadata: { labels: labels(self), annotations: { 'example.keelson.io/content': checksum } },
          spec: {
            ...(self.spec.public ? { priorityClassName: priorityName(self) } : {}),
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                name: 'web',
                image: self.spec.image,
                command: ['httpd', '-f', '-p', String(containerPort), '-h', '/site'],
                ports: [{ name: 'http', containerPort }],
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
        },
      },
    },
  );
}

function address(self: Site) {
  return manifest(
    Service,
    { name: self.metadata.name, labels: labels(self) },
    {
      spec: { selector: labels(self), ports: [{ name: 'http', port: self.spec.port, targetPort: 'http' }] },
    },
  );
}

function priority(self: Site) {
  return manifest(
    PriorityClass,
    { name: priorityName(self), labels: labels(self) },
    { value: 1000, description: `Pods of the public website ${self.metadata.name}` },
  );
}
