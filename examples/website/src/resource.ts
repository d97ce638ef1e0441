/** The Website resource: what a user may ask for, and what they are told in return. CRD, types, validation and docs come out of this. */
import {
  ageColumn,
  conditionColumn,
  defineResource,
  exactlyOneRule,
  int32,
  port,
  Type,
  url,
  withRules,
} from '@keelson/schema';

const spec = Type.Object({
  html: Type.Optional(Type.String({ maxLength: 100_000, description: 'The one page of a small site.' })),
  pages: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      maxProperties: 50,
      description: 'The pages of a larger site, by file name. One of them is index.html.',
    }),
  ),
  image: Type.String({
    default: 'busybox:1.37',
    minLength: 1,
    description: 'Image of the web servers; it must have busybox httpd.',
  }),
  replicas: int32({ default: 1, minimum: 1, maximum: 20, description: 'How many web servers share the load.' }),
  port: port({ default: 80, description: 'Port that the site is reached on within the cluster.' }),
  public: Type.Boolean({
    default: false,
    description: 'The site faces customers: its pods are placed before those of other sites.',
  }),
});

const status = Type.Object({
  url: url({ description: 'Where the site is reached within the cluster.' }),
  readyReplicas: int32({ description: 'How many web servers answer.' }),
});

export const Website = defineResource({
  group: 'example.keelson.io',
  version: 'v1alpha1',
  kind: 'Website',
  shortNames: ['site'],
  categories: ['keelson'],
  scope: 'Namespaced',
  description: 'A static website, served inside the cluster.',
  spec: withRules(spec, [
    exactlyOneRule(['html', 'pages']),
    { rule: "!has(self.pages) || 'index.html' in self.pages", message: 'pages must have an index.html' },
  ]),
  status,
  rules: [
    // The Service has the same name, and Services are pickier about names than custom resources.
    {
      rule: "size(self.metadata.name) <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
      message:
        'metadata.name must be a DNS label: at most 63 lower-case letters, digits and hyphens, beginning with a letter',
    },
  ],
  columns: [
    conditionColumn('Ready'),
    { name: 'Replicas', type: 'integer', jsonPath: '.status.readyReplicas' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    ageColumn,
  ],
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.readyReplicas' },
});
