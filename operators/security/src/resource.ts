/** The SecurityAgent resource: the security stack of a cluster as one object. CRD, types, validation and docs come out of this. */
import {
  ageColumn,
  annotations,
  conditionColumn,
  defineResource,
  dnsLabel,
  exactlyOneOf,
  freeForm,
  type Instance,
  int32,
  int64,
  keyRef,
  labels,
  listMap,
  localRef,
  nullable,
  objectName,
  type Static,
  Type,
  timestamp,
  url,
  withRules,
} from '@keelson/schema';
import { featureIdPattern } from './feature-id.ts';
import { override } from './override/schema.ts';

const global = Type.Object({
  namespace: Type.Optional(
    dnsLabel({ description: 'Where everything is installed. Default: the namespace of the agent.' }),
  ),
  labels: Type.Optional(labels({ description: 'Put on every object and pod.' })),
  annotations: Type.Optional(annotations({ description: 'Put on every object and pod.' })),
  imagePullSecrets: Type.Optional(
    listMap(localRef(), ['name'], { maxItems: 10, description: 'For the pods; in the namespace that they run in.' }),
  ),
  imageRegistry: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$',
      maxLength: 255,
      description:
        'A mirror: default images are pulled from it instead of their own registry. Host, port and path, no scheme.',
      examples: ['registry.example.com:5000/mirror'],
    }),
  ),
  clusterName: Type.Optional(
    Type.String({ minLength: 1, maxLength: 253, description: 'How this cluster is called in events.' }),
  ),
});

const feature = Type.Object({
  name: Type.String({ pattern: featureIdPattern, maxLength: 40, description: 'Which feature: falco, tetragon, …' }),
  enabled: Type.Boolean({ description: 'Off takes away everything that the feature installed.' }),
  config: Type.Optional(
    nullable(freeForm(), { description: 'Settings of the feature: keelson explain feature <name> lists them.' }),
  ),
});

const indexName = (name: string, holds: string) =>
  Type.String({
    default: name,
    pattern: '^[a-z0-9][a-z0-9._-]*$',
    maxLength: 200,
    description: `Index for ${holds}.`,
  });

/** What is said of two indices with one name, by the API server and offline. */
export const ONE_NAME = 'two of them have one name: each index has a mapping of its own, so give each its own name';

/** A rule that no two of these fields are the same. The API server also asks it of `default: {}`, before there is anything in it. */
const differ = (...names: readonly string[]) =>
  names
    .flatMap((one, at) => names.slice(at + 1).map((other) => [one, other]))
    .map(([one, other]) => `(!has(self.${one}) || !has(self.${other}) || self.${one} != self.${other})`)
    .join(' && ');

const days = (what: string) =>
  int32({ minimum: 1, maximum: 36_500, description: `How long ${what} are kept; for ever when left out.` });

/** What may be said of a store, whichever it is. Index templates and retention are put into words that it knows. */
const settings = {
  url: withRules(url({ description: 'Where it is reached.', examples: ['https://search.logging.svc:9200'] }), [
    {
      rule: "!self.contains('@')",
      message: 'must not hold credentials: put them into a Secret and name it in auth.secretRef',
    },
  ]),
  indices: withRules(
    Type.Object(
      {
        events: indexName('security-events', 'what Falco and Tetragon see'),
        inventory: indexName('security-inventory', 'what osquery finds'),
        vulnerability: indexName('security-vuln', 'vulnerabilities'),
        deadLetters: indexName('security-dead-letters', 'what the store refuses, each with the reason'),
      },
      { default: {} },
    ),
    [
      {
        rule: differ('events', 'inventory', 'vulnerability', 'deadLetters'),
        message: ONE_NAME,
      },
    ],
  ),
  manageTemplates: Type.Optional(
    Type.Boolean({
      description:
        'Whether the operator puts index templates into the store; it does by default. Off: install those under deploy/ yourself.',
    }),
  ),
  retentionDays: Type.Optional(
    Type.Object(
      { events: Type.Optional(days('events')), inventory: Type.Optional(days('inventory')) },
      {
        description:
          'After how many days events go. Needs lifecycle management in the store (ILM of Elasticsearch, ISM of OpenSearch); without it all is kept.',
      },
    ),
  ),
  tls: Type.Optional(
    Type.Object({
      insecureSkipVerify: Type.Optional(Type.Boolean({ description: 'Trust any certificate. For trials only.' })),
      caSecretRef: Type.Optional(
        Type.Object(
          {
            name: objectName({ description: 'Name of the Secret.' }),
            key: Type.String({ default: 'ca.crt', minLength: 1, maxLength: 253, description: 'Key within it.' }),
          },
          { description: 'Certificates that the one of the store is checked against.' },
        ),
      ),
    }),
  ),
};

const auth = {
  secretRef: localRef({ description: 'Secret with the keys `username` and `password`.' }),
  apiKeySecretRef: keyRef({ description: 'Secret and key of an API key (id:key in base64).' }),
};
const byReference = 'Only ever by reference, in the namespace that everything is installed in.';

const elasticsearch = Type.Object(
  { ...settings, auth: Type.Optional(exactlyOneOf(auth, { description: byReference })) },
  { description: 'An Elasticsearch, 7.17 or newer; tested with 7.17.' },
);

/** What is said to somebody who gives it one; offline too, where nobody evaluates rules. */
export const NO_API_KEYS =
  'OpenSearch has no API keys: make a user for it, and name a Secret with username and password in secretRef';

const opensearch = Type.Object(
  {
    ...settings,
    auth: Type.Optional(
      withRules(exactlyOneOf(auth, { description: `${byReference} OpenSearch knows no API keys.` }), [
        {
          rule: '!has(self.apiKeySecretRef)',
          message: NO_API_KEYS,
        },
      ]),
    ),
  },
  { description: 'An OpenSearch, 2.7 or newer; tested with 2.19.' },
);

const output = exactlyOneOf(
  { elasticsearch, opensearch },
  { description: 'Where events, inventory and vulnerabilities go: one store.' },
);

const spec = Type.Object({
  global: Type.Optional(global),
  features: listMap(feature, ['name'], { maxItems: 50, description: 'What is installed.' }),
  output: Type.Optional(output),
  override: Type.Optional(override),
});

const status = Type.Object({
  features: Type.Record(Type.String(), Type.String(), { description: 'Each enabled feature: True, False or Unknown.' }),
  featuresReady: Type.String({ description: 'How many of the enabled features are ready: 3/3.' }),
  tools: Type.Record(
    Type.String(),
    Type.Object({
      version: Type.Optional(Type.String()),
      image: Type.Optional(Type.String({ description: 'What its first container runs.' })),
      ready: Type.Optional(int32()),
      desired: Type.Optional(int32()),
    }),
    { description: 'Numbers behind the conditions.' },
  ),
  installed: Type.Array(Type.String(), {
    description: 'Features that have something in the cluster, held ones included.',
  }),
  pipeline: Type.Object({
    receivers: Type.Optional(Type.Array(Type.String(), { description: 'What the collectors on the nodes read.' })),
    indices: Type.Optional(Type.Array(Type.String(), { description: 'Where it goes.' })),
    templates: Type.Optional(Type.String({ description: 'Whether the index templates of the store are in place.' })),
    tools: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({
          lastEventTime: Type.Optional(
            timestamp({
              description: 'When an event of it was last read on a node. Up to ten minutes late while events flow.',
            }),
          ),
          waiting: Type.Optional(
            int64({ description: 'About how many of its events wait on their way, when something holds them up.' }),
          ),
        }),
        { description: 'How the events of each tool flow: keys are the names of tools.' },
      ),
    ),
  }),
  inventory: Type.Array(Type.String(), { description: 'Every object that is kept: kind, namespace and name.' }),
  version: Type.String({ description: 'Version of the operator that wrote this.' }),
});

export const SecurityAgent = defineResource({
  group: 'security.ctem.io',
  version: 'v1alpha1',
  kind: 'SecurityAgent',
  shortNames: ['secagent'],
  categories: ['security'],
  scope: 'Namespaced',
  description: 'The security stack of a cluster: tools on every node, the pipeline of their events, and where they go.',
  spec: withRules(spec, [
    {
      rule: 'has(self.output) || !self.features.exists(feature, feature.enabled)',
      message:
        'output is required as soon as a feature is enabled: name where events go, e.g. output.elasticsearch.url',
    },
  ]),
  status,
  columns: [
    conditionColumn('Ready'),
    { name: 'Features', type: 'string', jsonPath: '.status.featuresReady' },
    { name: 'Output', type: 'string', jsonPath: '.spec.output.*.url' },
    {
      name: 'Status',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      priority: 1,
    },
    ageColumn,
  ],
});

export type Agent = Instance<typeof SecurityAgent>;
export type Output = Static<typeof output>;
export type StoreSettings = Static<typeof elasticsearch>;
