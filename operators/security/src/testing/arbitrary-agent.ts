/** Random SecurityAgents: valid ones, out of the schemas of the features themselves, and ones with one mistake that a person could make. */
import type { KubeObject, StructuralSchema } from '@keelson/schema';
import fc from 'fast-check';
import type { Feature } from '../feature.ts';
import { agentOf } from './agent.ts';

type Loose = Record<string, unknown>;

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });
const compact = (value: Loose): Loose =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
const record = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Loose> => fc.record(fields).map(compact);

/** A value of a schema, as far as a schema tells; whoever needs a valid one filters. */
function fitting(schema: StructuralSchema): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string'] === true) return fc.constantFrom('10%', 1);
  if (schema.pattern !== undefined)
    return schema.default === undefined ? fc.stringMatching(new RegExp(schema.pattern)) : fc.constant(schema.default);
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.integer({
        min: schema.minimum ?? 0,
        max: Math.min(schema.maximum ?? 10_000, (schema.minimum ?? 0) + 10_000),
      });
    case 'array':
      return fc.array(fitting(schema.items ?? { type: 'string' }), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      });
    case 'object':
      return objectOf(schema);
    default:
      return word;
  }
}

function objectOf(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]): [string, fc.Arbitrary<unknown>] => [
    name,
    schema.required?.includes(name) ? fitting(field) : maybe(fitting(field)),
  ]);
  const known = record(Object.fromEntries(fields));
  if (schema.additionalProperties === undefined) return known;
  return fc.dictionary(word, fitting(schema.additionalProperties), { minKeys: 1, maxKeys: 2 });
}

/** The config of a feature, valid by its own schema. */
export function configOf(feature: Feature): fc.Arbitrary<Loose> {
  const random = objectOf(feature.config.schema).filter(
    (config) => feature.config.parse(config).ok,
  ) as fc.Arbitrary<Loose>;
  return fc.oneof({ weight: 1, arbitrary: fc.constant({}) }, { weight: 4, arbitrary: random });
}

const quantities = fc.constantFrom('10m', '250m', '1', '64Mi', '1Gi');
const override = (image: boolean) =>
  record({
    tolerations: maybe(
      fc.constantFrom(
        [{ operator: 'Exists', effect: 'NoSchedule' }],
        [{ key: 'gpu', operator: 'Exists' }],
        [{ key: 'a', value: 'b', effect: 'NoExecute' }],
      ),
    ),
    nodeSelector: maybe(fc.dictionary(word, word, { minKeys: 1, maxKeys: 2 })),
    resources: maybe(fc.record({ requests: fc.record({ cpu: quantities, memory: quantities }) })),
    env: maybe(
      fc.uniqueArray(fc.record({ name: fc.constantFrom('LOG_LEVEL', 'EXTRA'), value: word }), {
        selector: ({ name }) => name,
        maxLength: 2,
      }),
    ),
    priorityClassName: maybe(fc.constant('system-node-critical')),
    labels: maybe(fc.dictionary(word, word, { minKeys: 1, maxKeys: 2 })),
    annotations: maybe(fc.dictionary(word, fc.string(), { minKeys: 1, maxKeys: 2 })),
    args: maybe(fc.array(word, { maxLength: 2 })),
    securityContext: maybe(fc.constantFrom({ readOnlyRootFilesystem: true }, { runAsGroup: 0 })),
    affinity: maybe(
      fc.constant({
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }],
          },
        },
      }),
    ),
    volumes: maybe(fc.constant([{ name: 'extra', emptyDir: {} }])),
    podTemplate: maybe(
      fc.constantFrom(
        { spec: { dnsPolicy: 'Default' } },
        { spec: { terminationGracePeriodSeconds: 5 } },
        { metadata: { annotations: { a: 'b' } } },
      ),
    ),
    ...(image ? { image: maybe(fc.constantFrom('registry.example.com/a:1', `b@sha256:${'0'.repeat(64)}`)) } : {}),
  });

const secret = fc.constantFrom('login', 'another-secret');
/** Indices that are never called alike. */
const named = (initial: string) => word.map((rest) => `${initial}-${rest}`);
const store = {
  url: fc.constantFrom('https://search.logging.svc:9200', 'http://127.0.0.1:9', 'https://es.example.com/path'),
  indices: maybe(record({ events: maybe(named('e')), inventory: maybe(named('i')), vulnerability: maybe(named('v')) })),
  manageTemplates: maybe(fc.boolean()),
  retentionDays: maybe(
    record({ events: maybe(fc.integer({ min: 1, max: 400 })), inventory: maybe(fc.integer({ min: 1, max: 400 })) }),
  ),
  tls: maybe(
    record({ insecureSkipVerify: maybe(fc.boolean()), caSecretRef: maybe(record({ name: secret, key: maybe(word) })) }),
  ),
};
const login = fc.record({ secretRef: fc.record({ name: secret }) });
const apiKey = fc.record({ apiKeySecretRef: fc.record({ name: secret, key: word }) });
const output = fc.oneof(
  fc.record({ elasticsearch: record({ ...store, auth: maybe(fc.oneof(login, apiKey)) }) }),
  fc.record({ opensearch: record({ ...store, auth: maybe(login) }) }),
);

/** A valid agent with any of these features, each with any valid config, and any of the overrides. */
export function arbitraryAgent(features: readonly Feature[]): fc.Arbitrary<KubeObject> {
  const entries = fc
    .tuple(
      ...features.map((feature) =>
        fc.record({
          name: fc.constant(feature.id),
          enabled: fc.boolean(),
          config: maybe(configOf(feature)),
          listed: fc.boolean(),
        }),
      ),
    )
    .map((all) => all.filter(({ listed }) => listed).map(({ listed: _listed, ...entry }) => compact(entry)));
  const tools = fc.constantFrom(...features.map(({ id }) => id), 'nobody', 'otel-gateway');
  return record({
    features: entries,
    output,
    global: maybe(
      record({
        labels: maybe(fc.dictionary(word, word, { minKeys: 1, maxKeys: 2 })),
        annotations: maybe(fc.dictionary(word, fc.string(), { minKeys: 1, maxKeys: 2 })),
        imageRegistry: maybe(fc.constantFrom('mirror.internal', 'registry.internal:5000/a/b')),
        imagePullSecrets: maybe(fc.constant([{ name: 'pull' }])),
        clusterName: maybe(fc.string({ minLength: 1, maxLength: 30 })),
      }),
    ),
    override: maybe(
      record({
        nodeAgent: maybe(override(false)),
        perTool: maybe(fc.dictionary(tools, override(true), { maxKeys: 3 })),
      }),
    ),
  }).map((spec) => agentOf([], spec));
}

/** One mistake: where it is made, and what the value becomes. */
export interface Mistake {
  readonly what: string;
  readonly object: KubeObject;
}

/** A valid agent with one mistake in it. */
export function arbitraryMistake(features: readonly Feature[]): fc.Arbitrary<Mistake> {
  const wrong = fc.constantFrom<unknown[]>(7, true, 'text', [], [1], { a: 1 });
  return fc.tuple(arbitraryAgent(features), fc.nat(), fc.nat(), wrong, word).map(([object, kind, at, value, name]) => {
    const copy = structuredClone(object) as KubeObject & { spec: Loose };
    const makers = mistakes(features);
    const maker = makers[kind % makers.length];
    if (maker === undefined) throw new Error('there are no mistakes');
    maker.make(copy.spec, { at, value, name });
    return { what: maker.what, object: copy };
  });
}

interface Dice {
  readonly at: number;
  readonly value: unknown;
  readonly name: string;
}

/** The settings of the store, whichever it is. */
function storeIn(spec: Loose): Loose {
  return Object.values(spec.output as Record<string, Loose>)[0] ?? {};
}

function mistakes(features: readonly Feature[]): readonly { what: string; make: (spec: Loose, dice: Dice) => void }[] {
  const some = (at: number): Feature => features[at % features.length] as Feature;
  const only = (spec: Loose, entry: Loose): void => {
    spec.features = [...(spec.features as Loose[]).filter(({ name }) => name !== entry.name), entry];
  };
  return [
    {
      what: 'an unknown feature',
      make: (spec, { name }) => only(spec, { name: `no_${name.replace(/[0-9]/g, 'x')}`, enabled: true }),
    },
    {
      what: 'a feature listed twice',
      make: (spec, { at }) => {
        spec.features = [
          { name: some(at).id, enabled: true },
          { name: some(at).id, enabled: true },
        ];
      },
    },
    {
      what: 'an unknown field in a config',
      make: (spec, { at, name }) => only(spec, { name: some(at).id, enabled: true, config: { [`no${name}`]: 1 } }),
    },
    {
      what: 'a config field of the wrong type',
      make: (spec, { at, value }) => {
        const feature = some(at);
        const fields = Object.entries(feature.config.schema.properties ?? {});
        const [field, schema] = fields[at % fields.length] ?? ['nothing', { type: 'string' as const }];
        only(spec, {
          name: feature.id,
          enabled: true,
          config: { [field]: schema.type === typeOf(value) ? null : value },
        });
        if (schema.type === typeOf(value))
          only(spec, { name: feature.id, enabled: true, config: { [field]: { not: ['this'] }, nothing: 1 } });
      },
    },
    {
      what: 'enabled without output',
      make: (spec, { at }) => {
        delete spec.output;
        only(spec, { name: some(at).id, enabled: true });
      },
    },
    {
      what: 'a URL that is none',
      make: (spec) => {
        storeIn(spec).url = 'elasticsearch:9200';
      },
    },
    {
      what: 'a URL with credentials',
      make: (spec) => {
        storeIn(spec).url = 'https://user:word@es:9200';
      },
    },
    {
      what: 'no URL',
      make: (spec) => {
        delete storeIn(spec).url;
      },
    },
    {
      what: 'two stores',
      make: (spec) => {
        spec.output = { elasticsearch: storeIn(spec), opensearch: storeIn(spec) };
      },
    },
    {
      what: 'an unknown field of the spec',
      make: (spec, { name }) => {
        spec[`no${name}`] = 1;
      },
    },
    {
      what: 'features of the wrong type',
      make: (spec) => {
        spec.features = 'all';
      },
    },
    {
      what: 'an amount that is none',
      make: (spec) => {
        spec.override = { nodeAgent: { resources: { requests: { cpu: 'a lot' } } } };
      },
    },
    {
      what: 'a toleration that is none',
      make: (spec) => {
        spec.override = { nodeAgent: { tolerations: [{ effect: 'Maybe' }] } };
      },
    },
  ];
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value === 'number' ? 'integer' : typeof value;
}
