/** The examples of the README, so that they are compiled and run: readme.test.ts compares the two letter for letter. */

// #region define
import {
  defineResource,
  duration,
  exactlyOneOf,
  freeForm,
  type Instance,
  int32,
  labels,
  listMap,
  localRef,
  Type,
  withRules,
} from '../index.ts';

export const Website = defineResource({
  group: 'example.com',
  kind: 'Website',
  version: 'v1alpha1',
  shortNames: ['web'],
  scope: 'Namespaced',
  description: 'A web site: pages that are served from a number of pods.',
  spec: Type.Object({
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'The name it answers to.',
      examples: ['shop.example.com'],
    }),
    replicas: int32({ minimum: 1, maximum: 10, default: 1, description: 'How many pods serve it.' }),
    cache: Type.Optional(duration({ description: 'How long browsers may keep a page.' })),
    nodeSelector: Type.Optional(labels()),
    certificate: Type.Optional(exactlyOneOf({ secretRef: localRef(), issuer: Type.String() })),
    plugins: Type.Optional(
      listMap(
        withRules(
          Type.Object({
            name: Type.String(),
            enabled: Type.Boolean({ default: true }),
            config: Type.Optional(freeForm()),
          }),
          [{ rule: 'self.enabled || !has(self.config)', message: 'a plugin that is off takes no config' }],
        ),
        ['name'],
        { maxItems: 16 },
      ),
    ),
  }),
  status: Type.Object({ readyReplicas: Type.Integer({ minimum: 0 }) }),
  scale: { specReplicas: '.spec.replicas', statusReplicas: '.status.readyReplicas' },
});

export type Website = Instance<typeof Website>; // spec.replicas: number, status?.conditions?: Condition[]

// #endregion

// #region use
import { formatProblems, manifest, parseInstance, Service, toCrd, toReference } from '../index.ts';

export const crd = toCrd(Website); // apply it
export const page = toReference(Website); // Markdown

export function check(object: unknown): string {
  const result = parseInstance(Website, object);
  return result.ok ? `${result.instance.spec.replicas} pods` : formatProblems(result.problems);
}

export function service(site: Website): Service {
  return manifest(
    Service,
    { name: site.metadata.name, labels: { app: site.metadata.name } },
    { spec: { selector: { app: site.metadata.name }, ports: [{ port: 80, targetPort: 8080 }] } },
  );
}

// #endregion

// #region shape
import { defineShape } from '../index.ts';

const pluginConfig = defineShape(
  Type.Object({ ttl: duration({ default: '5m' }), paths: Type.Optional(Type.Array(Type.String())) }),
  'the config of plugin cache',
);

export function checkPlugin({ spec }: Website, index: number): string {
  const result = pluginConfig.parse(spec.plugins?.[index]?.config, `spec.plugins[${index}].config`);
  return result.ok ? `pages live for ${result.value.ttl}` : formatProblems(result.problems);
}

// #endregion

// #region versions
import { convertInstance, defineVersion } from '../index.ts';

const v1 = defineVersion({
  name: 'v1',
  storage: true,
  spec: Type.Object({ endpoint: Type.Object({ host: Type.String(), port: Type.Integer() }) }),
});

const v1alpha1 = defineVersion({
  name: 'v1alpha1',
  deprecated: true,
  spec: Type.Object({ address: Type.String() }),
  storedAs: v1, // types what toStorage returns and fromStorage takes
  convert: {
    toStorage: ({ spec }) => ({
      spec: { endpoint: { host: spec.address.split(':')[0] ?? '', port: Number(spec.address.split(':')[1] ?? 80) } },
    }),
    fromStorage: ({ spec }) => ({ spec: { address: `${spec.endpoint.host}:${spec.endpoint.port}` } }),
  },
});

export const Tunnel = defineResource({
  group: 'example.com',
  kind: 'Tunnel',
  scope: 'Namespaced',
  description: 'A tunnel.',
  versions: [v1alpha1, v1],
});

export const upgrade = (object: unknown) => convertInstance(Tunnel, object, 'example.com/v1');

// #endregion

// #region rbac
import { Deployment, type Grant, Secret, toRbac, toRbacReference } from '../index.ts';

const grants: Grant[] = [
  {
    kind: Deployment,
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'owns the Deployment of a Website',
  },
  {
    kind: Secret,
    verbs: ['get'],
    names: ['website-token'],
    namespace: 'keelson-system',
    why: 'signs in to the registry',
  },
];

export const { objects } = toRbac(grants, { name: 'website-operator', namespace: 'keelson-system' });
export const permissions = toRbacReference(grants);
// #endregion
