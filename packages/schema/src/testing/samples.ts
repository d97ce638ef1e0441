/** Resources that the tests of this package share: together they use every feature of the schema language. */
import Type from 'typebox';
import {
  affinity,
  ageColumn,
  atomic,
  atomicList,
  conditionColumn,
  defineResource,
  defineVersion,
  dnsLabel,
  duration,
  embeddedObject,
  envVars,
  exactlyOneOf,
  freeForm,
  immutable,
  int32,
  int64,
  intOrString,
  keyRef,
  labelSelector,
  labels,
  listMap,
  localRef,
  nullable,
  port,
  quantity,
  resourceRequirements,
  setOf,
  timestamp,
  tolerations,
  url,
  withRules,
} from '../index.ts';

/** Small and typical: what the docs teach with. */
export const Website = defineResource({
  group: 'example.com',
  kind: 'Website',
  version: 'v1alpha1',
  shortNames: ['web'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A web site: pages that are served from a number of pods.',
  spec: Type.Object({
    replicas: int32({ minimum: 1, maximum: 10, default: 1, description: 'How many pods serve it.' }),
    host: Type.String({ minLength: 1, maxLength: 253, description: 'The name it answers to.' }),
    pages: Type.Record(Type.String(), Type.String(), { description: 'Page by path.' }),
    tls: Type.Optional(
      exactlyOneOf(
        { secretRef: localRef(), issuer: Type.String({ minLength: 1 }) },
        { description: 'Where the certificate comes from.' },
      ),
    ),
  }),
  status: Type.Object({
    readyReplicas: Type.Integer({ minimum: 0, description: 'Pods that are ready.' }),
    address: Type.Optional(Type.String()),
  }),
  rules: [
    {
      rule: 'self.metadata.name.size() <= 40',
      message: 'the name may have at most 40 characters',
      fieldPath: '.spec.host',
    },
  ],
  columns: [
    conditionColumn('Ready'),
    { name: 'Host', type: 'string', jsonPath: '.spec.host', description: 'The name it answers to.' },
    { name: 'Pods', type: 'integer', jsonPath: '.status.readyReplicas', priority: 1 },
    ageColumn,
  ],
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.readyReplicas' },
  selectableFields: ['.spec.host'],
});

/** Everything at once. */
export const Everything = defineResource({
  group: 'keelson.example.com',
  kind: 'Everything',
  plural: 'everythings',
  version: 'v1',
  scope: 'Cluster',
  description: 'Uses every feature of the schema language.',
  spec: Type.Object(
    {
      text: Type.Optional(Type.String({ minLength: 2, maxLength: 5 })),
      pattern: Type.Optional(Type.String({ pattern: '^[a-z]+-[0-9]{1,3}$' })),
      choice: Type.Union([Type.Literal('small'), Type.Literal('large')], { default: 'small' }),
      level: Type.Optional(Type.Enum([1, 2, 3])),
      on: Type.Optional(Type.Boolean({ default: true })),
      ratio: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
      even: Type.Optional(Type.Integer({ multipleOf: 2 })),
      small: Type.Optional(int32()),
      big: Type.Optional(int64({ minimum: -5 })),
      maybe: Type.Optional(nullable(Type.String({ maxLength: 3 }))),
      maybeChoice: Type.Optional(nullable(Type.Union([Type.Literal('a'), Type.Literal('b')]))),
      portOrName: Type.Optional(intOrString({ pattern: '^[a-z]+$' })),
      amount: Type.Optional(quantity()),
      either: Type.Optional(Type.Union([Type.String({ pattern: '^a' }), Type.String({ minLength: 4 })])),
      period: Type.Optional(duration({ default: '30s' })),
      since: Type.Optional(timestamp()),
      home: Type.Optional(url()),
      ip: Type.Optional(Type.String({ format: 'ipv4' })),
      ports: Type.Optional(setOf(port(), { maxItems: 4 })),
      words: Type.Optional(atomicList(Type.String(), { minItems: 1 })),
      config: Type.Optional(freeForm()),
      anything: Type.Optional(Type.Unknown()),
      object: Type.Optional(embeddedObject()),
      labels: Type.Optional(labels()),
      counts: Type.Optional(Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { maxProperties: 3 })),
      nested: Type.Object(
        {
          depth: Type.Integer({ default: 3 }),
          deeper: Type.Object(
            { name: Type.String({ default: 'x' }), tag: Type.Optional(Type.String()) },
            { default: {} },
          ),
        },
        { default: {} },
      ),
      shape: Type.Optional(
        Type.Union([
          Type.Object({ kind: Type.Literal('circle'), radius: Type.Number({ minimum: 0 }) }),
          Type.Object({ kind: Type.Literal('square'), side: Type.Number(), rounded: Type.Optional(Type.Boolean()) }),
        ]),
      ),
      both: Type.Optional(
        Type.Intersect([Type.Object({ left: Type.String() }), Type.Object({ right: Type.Optional(Type.String()) })]),
      ),
      auth: Type.Optional(exactlyOneOf({ secretRef: localRef(), apiKey: keyRef() })),
      route: Type.Optional(
        Type.Object(
          { host: Type.Optional(Type.String()), path: Type.Optional(Type.String()), port: Type.Optional(port()) },
          {
            oneOf: [{ required: ['host'] }, { required: ['path'] }],
            not: { required: ['path', 'port'] },
            maxProperties: 2,
          },
        ),
      ),
      fixed: Type.Optional(immutable(Type.String())),
      scalar: Type.Optional(atomic(Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }))),
      features: Type.Optional(
        listMap(
          withRules(
            Type.Object({
              name: dnsLabel(),
              protocol: Type.String({ default: 'TCP' }),
              enabled: Type.Boolean({ default: true }),
              config: Type.Optional(freeForm()),
            }),
            [{ rule: 'self.enabled || !has(self.config)', message: 'a feature that is off takes no config' }],
          ),
          ['name', 'protocol'],
          { maxItems: 8 },
        ),
      ),
      selector: Type.Optional(labelSelector()),
      resources: Type.Optional(resourceRequirements()),
      tolerations: Type.Optional(tolerations()),
      env: Type.Optional(envVars()),
      affinity: Type.Optional(affinity()),
    },
    {
      'x-kubernetes-validations': [
        {
          rule: "self.choice != 'large' || has(self.level)",
          message: 'large needs a level',
          reason: 'FieldValueRequired',
          fieldPath: '.level',
        },
      ],
    },
  ),
  status: Type.Object({
    phase: Type.String(),
    replicas: Type.Integer({ default: 0 }),
    selector: Type.Optional(Type.String()),
  }),
  rules: [{ rule: "self.metadata.name != 'forbidden'", message: 'this name is not allowed' }],
});

const v1 = defineVersion({
  name: 'v1',
  storage: true,
  spec: Type.Object({ endpoint: Type.Object({ host: Type.String(), port: port({ default: 80 }) }) }),
  status: Type.Object({ state: Type.String() }),
});

const v1alpha1 = defineVersion({
  name: 'v1alpha1',
  deprecated: true,
  spec: Type.Object({ address: Type.String({ pattern: '^[^:]+(:[0-9]+)?$' }) }),
  status: Type.Object({ state: Type.String() }),
  storedAs: v1,
  convert: {
    toStorage: ({ spec }) => {
      const [host = '', number] = spec.address.split(':');
      return { spec: { endpoint: { host, port: Number(number ?? 80) } } };
    },
    fromStorage: ({ spec }) => ({ spec: { address: `${spec.endpoint.host}:${spec.endpoint.port}` } }),
  },
});

/** Two versions of different shape. */
export const Tunnel = defineResource({
  group: 'example.com',
  kind: 'Tunnel',
  scope: 'Namespaced',
  description: 'A tunnel to an endpoint.',
  versions: [v1alpha1, v1],
});
