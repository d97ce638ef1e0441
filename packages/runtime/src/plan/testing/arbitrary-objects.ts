/**
 * For property tests: objects of many kinds as operators write them (fields left out, amounts in any notation, lists in any
 * order), all of which a real API server accepts.
 */
import { defineKind, type KubeObject } from '@keelson/schema';
import fc, { type Arbitrary } from 'fast-check';
import { isMap, isSame, type PlainMap } from '../value.ts';

const word = fc.constantFrom('web', 'api', 'log', 'db', 'cache');
const text = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'abcXYZ019 .:/-"\\é\n') });
const cpu = fc.constantFrom('100m', '0.1', '1000m', '1', '1500m', 1, 2);
const memory = fc.constantFrom('64Mi', '1024Mi', '1Gi', '1073741824', '128974848', '129e6', '0.5Gi');
const port = fc.integer({ min: 1, max: 9_000 });
const protocol = fc.constantFrom('TCP', 'UDP');
const labels = fc.dictionary(fc.constantFrom('app', 'tier', 'example.io/part', 'x'), word, { maxKeys: 3 });
const share = fc.constantFrom<string | number>('25%', '50%', 1, 2);

/** A record whose optional fields are left out now and then. */
function some<T extends object>(
  fields: { [K in keyof T]: Arbitrary<T[K]> },
  required: (keyof T)[] = [],
): Arbitrary<Partial<T>> {
  return fc.record(fields, { requiredKeys: required }) as Arbitrary<Partial<T>>;
}

const probe = fc.oneof(
  some(
    {
      httpGet: some(
        { path: fc.constant('/healthz'), port: fc.oneof(port, fc.constant('http')), scheme: fc.constant('HTTPS') },
        ['port'],
      ),
      periodSeconds: fc.integer({ min: 1, max: 30 }),
    },
    ['httpGet'],
  ),
  some({ tcpSocket: fc.record({ port }), initialDelaySeconds: fc.integer({ min: 0, max: 30 }) }, ['tcpSocket']),
  some(
    {
      exec: fc.record({ command: fc.array(text, { minLength: 1, maxLength: 3 }) }),
      failureThreshold: fc.integer({ min: 1, max: 9 }),
    },
    ['exec'],
  ),
);

const env = fc.uniqueArray(
  fc.oneof(
    some({ name: fc.constantFrom('A', 'B', 'C'), value: text }, ['name']),
    fc.record({
      name: fc.constantFrom('D', 'E'),
      valueFrom: fc.record({
        fieldRef: some({ fieldPath: fc.constantFrom('metadata.name', 'status.podIP'), apiVersion: fc.constant('v1') }, [
          'fieldPath',
        ]),
      }),
    }),
    fc.record({
      name: fc.constantFrom('F'),
      valueFrom: fc.record({ secretKeyRef: some({ name: word, key: word, optional: fc.boolean() }, ['name', 'key']) }),
    }),
    fc.record({
      name: fc.constantFrom('G'),
      valueFrom: fc.record({
        resourceFieldRef: some({ resource: fc.constant('limits.cpu'), divisor: fc.constantFrom('1', '1m') }, [
          'resource',
        ]),
      }),
    }),
  ),
  { selector: (one) => one.name ?? '', maxLength: 5 },
);

const resources = some({
  limits: some({ cpu, memory }),
  requests: some({ cpu: fc.constant('10m'), memory: fc.constant('1Mi') }),
});

const container = (names: Arbitrary<string>) =>
  some(
    {
      name: names,
      image: fc.constantFrom(
        'nginx',
        'nginx:1.27',
        'ghcr.io/a/b@sha256:0000000000000000000000000000000000000000000000000000000000000000',
      ),
      args: fc.array(text, { maxLength: 3 }),
      command: fc.array(text, { minLength: 1, maxLength: 2 }),
      env,
      ports: fc
        .uniqueArray(
          some({ containerPort: fc.integer({ min: 1, max: 5 }), protocol, name: fc.constantFrom('http', 'dns') }, [
            'containerPort',
          ]),
          {
            selector: (one) => `${one.containerPort}/${one.protocol ?? 'TCP'}`,
            maxLength: 3,
          },
        )
        .map((ports) => ports.map((one, i) => ('name' in one ? { ...one, name: `${one.name}${i}` } : one))),
      resources,
      readinessProbe: probe,
      livenessProbe: probe,
      securityContext: some({
        runAsNonRoot: fc.boolean(),
        readOnlyRootFilesystem: fc.boolean(),
        capabilities: some({ drop: fc.constant(['ALL']), add: fc.subarray(['NET_ADMIN', 'SYS_TIME']) }),
      }),
      volumeMounts: fc.constant([{ name: 'config', mountPath: '/etc/app' }]),
      imagePullPolicy: fc.constantFrom('Always', 'IfNotPresent'),
    },
    ['name', 'image'],
  );

/** The server lets no init container have probes. */
function withoutProbes<T extends { readinessProbe?: unknown; livenessProbe?: unknown }>(one: T) {
  const { readinessProbe: _, livenessProbe: __, ...rest } = one;
  return rest;
}

const volume = fc.oneof(
  some(
    {
      name: fc.constant('config'),
      configMap: some({ name: word, defaultMode: fc.constant(0o444), items: fc.constant([{ key: 'a', path: 'a' }]) }, [
        'name',
      ]),
    },
    ['name', 'configMap'],
  ),
  some(
    {
      name: fc.constant('config'),
      emptyDir: some({ medium: fc.constant('Memory'), sizeLimit: memory.filter((one) => typeof one === 'string') }),
    },
    ['name', 'emptyDir'],
  ),
  fc.record({
    name: fc.constant('config'),
    secret: some({ secretName: word, optional: fc.boolean() }, ['secretName']),
  }),
  fc.record({
    name: fc.constant('config'),
    hostPath: some({ path: fc.constant('/var/log'), type: fc.constantFrom('', 'Directory') }, ['path']),
  }),
  fc.record({
    name: fc.constant('config'),
    projected: fc.record({
      sources: fc.constant([
        { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
        { downwardAPI: { items: [{ path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } }] } },
      ]),
    }),
  }),
);

const podSpec = some(
  {
    containers: fc.uniqueArray(container(word), { selector: (one) => one.name ?? '', minLength: 1, maxLength: 3 }),
    initContainers: fc.uniqueArray(container(fc.constantFrom('first', 'second')).map(withoutProbes), {
      selector: (one) => one.name ?? '',
      maxLength: 2,
    }),
    volumes: volume.map((one) => [one]),
    serviceAccountName: word,
    nodeSelector: labels,
    tolerations: fc.array(
      some({ key: word, operator: fc.constant('Exists'), effect: fc.constant('NoSchedule') }, ['key', 'operator']),
      { maxLength: 2 },
    ),
    securityContext: some({
      fsGroup: fc.integer({ min: 1, max: 9_999 }),
      seccompProfile: fc.constant({ type: 'RuntimeDefault' }),
    }),
    terminationGracePeriodSeconds: fc.integer({ min: 0, max: 60 }),
    hostNetwork: fc.constant(false),
    topologySpreadConstraints: fc.constant([
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: 'x' } },
      },
    ]),
    affinity: fc.constant({
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'x' } } },
          },
        ],
      },
    }),
    imagePullSecrets: fc.constant([{ name: 'pull' }]),
  },
  ['containers', 'volumes'],
);

const template = fc.record({ podSpec, labels, annotations: labels }).map((one) => ({
  metadata: {
    labels: { ...one.labels, selected: 'yes' },
    ...(Object.keys(one.annotations).length > 0 ? { annotations: one.annotations } : {}),
  },
  spec: one.podSpec,
}));
const selector = { matchLabels: { selected: 'yes' } };

/** A list of these is one value to the server, so what it fills in counts as ours. */
const claimTemplate = some(
  {
    metadata: fc.constant({ name: 'storage' }),
    spec: some(
      {
        accessModes: fc.constant(['ReadWriteOnce']),
        resources: fc.constantFrom({ requests: { storage: '1Gi' } }, { requests: { storage: '1024Mi' } }),
        storageClassName: fc.constant('fast'),
        volumeMode: fc.constantFrom('Filesystem', 'Block'),
      },
      ['accessModes', 'resources'],
    ),
  },
  ['metadata', 'spec'],
);

const jobSpec = some(
  {
    template: template.map(({ spec }) => ({ spec: { ...spec, restartPolicy: 'Never' } })),
    backoffLimit: fc.integer({ min: 0, max: 6 }),
    ttlSecondsAfterFinished: fc.constant(60),
  },
  ['template'],
);

const rules = fc.array(
  some(
    {
      apiGroups: fc.subarray(['', 'apps', 'batch'], { minLength: 1 }),
      resources: fc.subarray(['pods', 'deployments', 'jobs'], { minLength: 1 }),
      verbs: fc.subarray(['get', 'list', 'watch'], { minLength: 1 }),
      resourceNames: fc.array(word, { maxLength: 2 }),
    },
    ['apiGroups', 'resources', 'verbs'],
  ),
  { maxLength: 3 },
);

const policyPeer = fc.oneof(
  fc.record({ podSelector: fc.record({ matchLabels: labels }) }),
  fc.record({ namespaceSelector: fc.constant({}) }),
  fc.record({ ipBlock: some({ cidr: fc.constant('10.0.0.0/8'), except: fc.constant(['10.1.0.0/16']) }, ['cidr']) }),
);
const policyPort = some({ port: fc.oneof(port, fc.constant('http')), protocol });
const policyRules = (peers: 'from' | 'to') =>
  fc.array(some({ [peers]: fc.array(policyPeer, { maxLength: 2 }), ports: fc.array(policyPort, { maxLength: 2 }) }), {
    maxLength: 2,
  });

type Body = Arbitrary<Record<string, unknown>>;
const spec = (fields: Arbitrary<object>): Body => fields.map((one) => ({ spec: one }));

/** By kind: apiVersion and what comes beside the metadata. */
export const bodies: Readonly<Record<string, { readonly apiVersion: string; readonly body: Body }>> = {
  ConfigMap: {
    apiVersion: 'v1',
    body: some({
      data: fc.dictionary(fc.constantFrom('a', 'nginx.conf', 'x-y'), fc.oneof(text, fc.constant('')), { maxKeys: 3 }),
      binaryData: fc.constant({ bin: 'AAEC' }),
      immutable: fc.constant(false),
    }),
  },
  Secret: {
    apiVersion: 'v1',
    body: some({
      stringData: fc.dictionary(fc.constantFrom('a', 'b'), text),
      data: fc.constant({ b: 'eA==' }),
      type: fc.constant('Opaque'),
    }),
  },
  ServiceAccount: {
    apiVersion: 'v1',
    body: some({ automountServiceAccountToken: fc.boolean(), imagePullSecrets: fc.constant([{ name: 'pull' }]) }),
  },
  Service: {
    apiVersion: 'v1',
    body: spec(
      some(
        {
          type: fc.constantFrom('ClusterIP', 'NodePort'),
          selector: labels,
          ports: fc
            .uniqueArray(
              some(
                {
                  port: fc.integer({ min: 1, max: 4 }),
                  protocol,
                  targetPort: fc.oneof(port, fc.constant('http')),
                  appProtocol: fc.constant('http'),
                },
                ['port'],
              ),
              {
                selector: (one) => `${one.port}/${one.protocol ?? 'TCP'}`,
                minLength: 1,
                maxLength: 3,
              },
            )
            .map((ports) => ports.map((one, i) => ({ ...one, name: `p${i}` }))),
          sessionAffinity: fc.constantFrom('None', 'ClientIP'),
          publishNotReadyAddresses: fc.boolean(),
        },
        ['ports'],
      ),
    ),
  },
  Deployment: {
    apiVersion: 'apps/v1',
    body: spec(
      some(
        {
          replicas: fc.integer({ min: 0, max: 3 }),
          template,
          selector: fc.constant(selector),
          strategy: fc.oneof(
            fc.constant({ type: 'Recreate' }),
            some({ rollingUpdate: some({ maxSurge: share, maxUnavailable: share }) }),
            fc.constant({}),
          ),
          minReadySeconds: fc.integer({ min: 0, max: 5 }),
          paused: fc.boolean(),
          revisionHistoryLimit: fc.constant(3),
        },
        ['template', 'selector'],
      ),
    ),
  },
  StatefulSet: {
    apiVersion: 'apps/v1',
    body: spec(
      some(
        {
          replicas: fc.integer({ min: 0, max: 3 }),
          template,
          selector: fc.constant(selector),
          serviceName: fc.constant('x'),
          podManagementPolicy: fc.constant('Parallel'),
          volumeClaimTemplates: fc.array(claimTemplate, { minLength: 1, maxLength: 1 }),
        },
        ['template', 'selector', 'serviceName'],
      ),
    ),
  },
  DaemonSet: {
    apiVersion: 'apps/v1',
    body: spec(
      some(
        {
          template,
          selector: fc.constant(selector),
          updateStrategy: fc.oneof(
            fc.constant({ type: 'OnDelete' }),
            fc.record({ rollingUpdate: fc.record({ maxUnavailable: share }) }),
          ),
        },
        ['template', 'selector'],
      ),
    ),
  },
  CronJob: {
    apiVersion: 'batch/v1',
    body: spec(
      some(
        {
          schedule: fc.constant('*/5 * * * *'),
          jobTemplate: fc.record({ spec: jobSpec }),
          suspend: fc.boolean(),
          concurrencyPolicy: fc.constant('Forbid'),
        },
        ['schedule', 'jobTemplate'],
      ),
    ),
  },
  Role: { apiVersion: 'rbac.authorization.k8s.io/v1', body: fc.record({ rules }) },
  RoleBinding: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    body: fc.record({
      roleRef: some(
        { kind: fc.constant('Role'), name: fc.constant('r'), apiGroup: fc.constant('rbac.authorization.k8s.io') },
        ['kind', 'name'],
      ),
      subjects: fc.array(
        fc.oneof(
          fc.record({ kind: fc.constant('ServiceAccount'), name: word, namespace: fc.constant('default') }),
          fc.record({ kind: fc.constant('Group'), name: word }),
        ),
        { maxLength: 2 },
      ),
    }),
  },
  NetworkPolicy: {
    apiVersion: 'networking.k8s.io/v1',
    body: spec(
      some(
        {
          podSelector: some({ matchLabels: labels }),
          ingress: policyRules('from'),
          egress: policyRules('to'),
          policyTypes: fc.subarray(['Ingress', 'Egress'], { minLength: 1 }),
        },
        ['podSelector'],
      ),
    ),
  },
  Ingress: {
    apiVersion: 'networking.k8s.io/v1',
    body: spec(
      some(
        {
          ingressClassName: fc.constant('nginx'),
          rules: fc.array(
            some(
              {
                host: fc.constantFrom('a.example', 'b.example'),
                http: fc.constant({
                  paths: [
                    { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
                  ],
                }),
              },
              ['http'],
            ),
            { minLength: 1, maxLength: 2 },
          ),
          tls: fc.constant([{ hosts: ['a.example'], secretName: 'tls' }]),
        },
        ['rules'],
      ),
    ),
  },
  PersistentVolumeClaim: {
    apiVersion: 'v1',
    body: spec(
      some(
        {
          accessModes: fc.constant(['ReadWriteOnce']),
          resources: fc.record({ requests: fc.record({ storage: memory }) }),
          storageClassName: fc.constant('fast'),
        },
        ['accessModes', 'resources'],
      ),
    ),
  },
  PodDisruptionBudget: {
    apiVersion: 'policy/v1',
    body: spec(
      fc.oneof(
        fc.record({ selector: fc.constant(selector), minAvailable: share }),
        fc.record({ selector: fc.constant(selector), maxUnavailable: share }),
      ),
    ),
  },
  HorizontalPodAutoscaler: {
    apiVersion: 'autoscaling/v2',
    body: spec(
      some(
        {
          scaleTargetRef: fc.constant({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }),
          minReplicas: fc.integer({ min: 1, max: 2 }),
          maxReplicas: fc.integer({ min: 2, max: 5 }),
          metrics: fc.subarray(
            [
              { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
              {
                type: 'Resource',
                resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1024Mi' } },
              },
            ],
            { minLength: 1 },
          ),
        },
        ['scaleTargetRef', 'maxReplicas'],
      ),
    ),
  },
  ResourceQuota: {
    apiVersion: 'v1',
    body: spec(
      fc.record({ hard: some({ 'limits.cpu': cpu, 'requests.memory': memory, pods: fc.constantFrom('10', 10) }) }),
    ),
  },
  LimitRange: {
    apiVersion: 'v1',
    body: spec(
      fc.record({
        limits: fc.constant([
          {
            type: 'Container',
            default: { cpu: '1000m', memory: '512Mi' },
            defaultRequest: { cpu: '0.1', memory: '64Mi' },
          },
        ]),
      }),
    ),
  },
};

/** An object of one of these kinds, with labels and annotations. */
export function anObject(kind: string): Arbitrary<KubeObject> {
  const entry = bodies[kind];
  if (entry === undefined) throw new TypeError(`no generator for ${kind}`);
  return fc.record({ body: entry.body, labels, annotations: labels }).map(({ body, ...metadata }) => ({
    apiVersion: entry.apiVersion,
    kind,
    metadata: { name: 'generated', ...metadata },
    ...body,
  }));
}

/** A custom resource with every way in which a server merges: by field, by key, as a set, as a whole. */
export const Shape = defineKind({
  group: 'example.io',
  version: 'v1',
  kind: 'Shape',
  plural: 'shapes',
  scope: 'Namespaced',
});

const string = { type: 'string' };
const part = { type: 'object', properties: { text: string, list: { type: 'array', items: string } } };
const shapeSpec = {
  part,
  map: { type: 'object', additionalProperties: string },
  wholeMap: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: string },
  whole: { type: 'array', items: string },
  members: { type: 'array', 'x-kubernetes-list-type': 'set', items: string },
  items: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: { type: 'object', required: ['name'], properties: { name: string, part } },
  },
  free: { type: 'object', 'x-kubernetes-map-type': 'atomic', 'x-kubernetes-preserve-unknown-fields': true },
};
export const shapeCrd: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shapes.example.io' },
  spec: {
    group: Shape.group,
    scope: Shape.scope,
    names: { kind: Shape.kind, plural: Shape.plural, singular: 'shape', listKind: 'ShapeList' },
    versions: [
      {
        name: Shape.version,
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: shapeSpec } } },
        },
      },
    ],
  },
};

const aPart = some({ text: fc.constantFrom('', 'a', 'b'), list: fc.array(word, { maxLength: 2 }) });
const aMap = fc.dictionary(fc.constantFrom('a', 'b'), word, { maxKeys: 2 });
/** Mostly small and often empty: that is where it is hard to tell what is meant. */
export const aShape: Arbitrary<KubeObject> = some({
  part: aPart,
  map: aMap,
  wholeMap: aMap,
  whole: fc.array(word, { maxLength: 2 }),
  members: fc.uniqueArray(word, { maxLength: 2 }),
  items: fc.uniqueArray(some({ name: word, part: aPart }, ['name']), { selector: (one) => one.name, maxLength: 2 }),
  free: fc.oneof(fc.constant({}), fc.constant({ a: {} }), fc.constant({ a: [], b: 0 }), fc.constant({ a: { b: {} } })),
}).map((body) => ({ apiVersion: 'example.io/v1', kind: 'Shape', metadata: { name: 'generated' }, spec: body }));

/** Two objects that differ in one place only: what is hidden by other differences shows there. */
export function neighbours(objects: Arbitrary<KubeObject>): Arbitrary<[KubeObject, KubeObject]> {
  const choices = fc.infiniteStream(fc.nat());
  return fc
    .tuple(objects, objects, choices)
    .map(([one, other, choice]) => [one, graft(one, other, choice) as KubeObject]);
}

/** The first value with one field, at any depth, as the second has it. */
function graft(one: PlainMap, other: PlainMap, choice: Iterator<number>): PlainMap {
  const all = new Set([...Object.keys(one), ...Object.keys(other)]);
  const names = [...all].filter((name) => !isSame(one[name], other[name]));
  const name = names[(choice.next().value ?? 0) % names.length];
  if (name === undefined) return other;
  const [mine, theirs] = [one[name], other[name]];
  const isDeeper = isMap(mine) && isMap(theirs) && (one.kind !== undefined || (choice.next().value ?? 0) % 4 > 0);
  const { [name]: _, ...rest } = one;
  if (isDeeper) return { ...one, [name]: graft(mine, theirs, choice) };
  return theirs === undefined ? rest : { ...rest, [name]: theirs };
}
