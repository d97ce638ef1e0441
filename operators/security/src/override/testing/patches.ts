/** Random strategic merge patches on the pods of workloads.ts: every list with a merge key, every directive, nulls. */
import fc from 'fast-check';
import type { PlainMap } from '../patch/plain.ts';

type Arbitrary<T> = fc.Arbitrary<T>;

/** Some of these fields: most patches change little. */
function some(fields: Readonly<Record<string, Arbitrary<unknown>>>): Arbitrary<PlainMap> {
  const sparse = Object.entries(fields).map(([name, field]) => {
    const present = field.map((value) => [[name, value]] as const);
    return fc.oneof({ weight: 2, arbitrary: fc.constant([] as const) }, { weight: 1, arbitrary: present });
  });
  return fc.tuple(...sparse).map((entries) => Object.fromEntries(entries.flat()));
}

/** A field's value, or null, now and then. */
const orNull = (value: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: value }, fc.constant(null));

/** A list merged by a key: items changed, added and deleted, now and then all of it replaced. */
function keyedList(
  key: string,
  [existing, added]: readonly [readonly unknown[], readonly unknown[]],
  change: Arbitrary<PlainMap>,
  addition: Arbitrary<PlainMap>,
): Arbitrary<readonly unknown[]> {
  const withKey = (keys: readonly unknown[], fields: Arbitrary<PlainMap>) =>
    fc.tuple(fc.constantFrom(...keys), fields).map(([name, rest]): PlainMap => ({ [key]: name, ...rest }));
  const distinct = { maxLength: 4, selector: (item: PlainMap) => item[key] };
  // A server takes directives within an item that is new for fields of it; we take them for directives. So none stand there.
  const list = fc.uniqueArray(
    fc.oneof(
      { weight: 3, arbitrary: withKey(existing, change) },
      { weight: 2, arbitrary: withKey(added, addition) },
      withKey([...existing, ...added], fc.constant({ $patch: 'delete' })),
    ),
    distinct,
  );
  const replaced = fc
    .uniqueArray(withKey([...existing, ...added], addition), distinct)
    .map((items) => [{ $patch: 'replace' }, ...items]);
  return fc.oneof({ weight: 8, arbitrary: list }, replaced);
}

const texts = (...values: readonly string[]): Arbitrary<string> => fc.constantFrom(...values);

const stringMap: Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: some({ pool: orNull(texts('a', 'b')), zone: orNull(texts('z')), tier: orNull(texts('x')) }) },
  fc.constant({ $patch: 'replace', only: 'this' }),
  fc.constant({ $patch: 'delete' }),
);

const env = keyedList(
  'name',
  [['LEVEL', 'NODE', 'A'], ['NEW']],
  some({ value: orNull(texts('', 'x', 'y')), valueFrom: fc.constant(null) }),
  some({ value: texts('', 'x') }),
);

const probe = some({
  httpGet: orNull(some({ path: orNull(texts('/a')), port: fc.constantFrom(1, 'http'), scheme: texts('HTTPS') })),
  exec: orNull(fc.constant({ command: ['true'] })),
  periodSeconds: orNull(fc.integer({ min: 1, max: 9 })),
});

const port = some({ protocol: texts('TCP', 'UDP'), hostIP: orNull(texts('127.0.0.1')) });

const initFields = {
  image: texts('a:1', 'b:2'),
  tty: orNull(fc.boolean()),
  args: orNull(fc.array(texts('--a', '--b'), { maxLength: 2 })),
  '$deleteFromPrimitiveList/command': fc.constant(['--a']),
  env: orNull(env),
  ports: orNull(keyedList('containerPort', [[53, 8080], [9090]], port, port)),
  volumeMounts: keyedList(
    'mountPath',
    [['/etc/falco', '/host/proc'], ['/new']],
    some({ readOnly: orNull(fc.boolean()), subPath: texts('x') }),
    fc.constant({ name: 'proc' }),
  ),
  resources: orNull(some({ limits: orNull(some({ cpu: orNull(texts('1')), memory: orNull(texts('2Gi')) })) })),
  securityContext: orNull(some({ runAsUser: orNull(fc.nat(9)), capabilities: some({ add: fc.constant(['KILL']) }) })),
};

const containerFields = { ...initFields, livenessProbe: orNull(probe) };

const containers = (fields: typeof initFields, existing: readonly string[], added: readonly string[]) =>
  keyedList(
    'name',
    [existing, added],
    some(fields),
    fc.record(
      { image: texts('new:1'), args: fc.constant(['--c']), tty: orNull(fc.boolean()) },
      { requiredKeys: ['image'] },
    ),
  );

const volumes = keyedList(
  'name',
  [['etc', 'proc'], ['new']],
  fc.oneof(
    some({
      hostPath: orNull(some({ path: texts('/x', '/y'), type: texts('Directory') })),
      configMap: fc.constant(null),
    }),
    fc.constant({ $retainKeys: ['name', 'emptyDir'], emptyDir: {} }),
  ),
  some({ emptyDir: fc.constant({}) }),
);

const aliases = some({ hostnames: fc.array(texts('a', 'c'), { maxLength: 2 }) });

const podSpec = some({
  containers: containers(containerFields, ['falco', 'reloader'], ['side', 'other']),
  initContainers: orNull(containers(initFields, ['driver', 'rules'], ['first'])),
  volumes,
  nodeSelector: orNull(stringMap),
  tolerations: orNull(fc.array(fc.constantFrom({ operator: 'Exists' }, { key: 'a', value: 'b' }), { maxLength: 2 })),
  imagePullSecrets: orNull(keyedList('name', [['mirror', 'other'], ['third']], fc.constant({}), fc.constant({}))),
  hostAliases: orNull(keyedList('ip', [['10.0.0.1'], ['10.0.0.2']], aliases, aliases)),
  topologySpreadConstraints: keyedList(
    'topologyKey',
    [['zone'], ['host']],
    some({ maxSkew: fc.integer({ min: 1, max: 3 }), whenUnsatisfiable: texts('DoNotSchedule', 'ScheduleAnyway') }),
    fc.constant({ maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }),
  ),
  dnsConfig: orNull(some({ nameservers: orNull(fc.constant(['10.0.0.11'])), searches: orNull(fc.constant(['a'])) })),
  securityContext: orNull(fc.oneof(some({ runAsUser: orNull(fc.nat(9)) }), fc.constant({ $patch: 'delete' }))),
  hostNetwork: orNull(fc.boolean()),
  '$setElementOrder/initContainers': fc.constantFrom([{ name: 'rules' }, { name: 'driver' }], [{ name: 'rules' }]),
});

/** Patches on a pod template; some of them no server takes, but for nothing that only a server can judge. */
export const podPatches: Arbitrary<PlainMap> = some({
  metadata: orNull(some({ labels: stringMap.map(withSelector), annotations: orNull(stringMap) })),
  spec: podSpec,
});

/** Most patches should leave the selecting label alone, or a server refuses all of them. */
function withSelector(map: unknown): unknown {
  return Reflect.get(map as object, '$patch') === 'replace' ? { ...(map as object), app: 'falco' } : map;
}
