/** The plan against a real API server: what the server makes of objects is nothing that a test could make up. */
import { createClient, isFault, type KubeClient, loadConfig } from '@keelson/kube';
import { builtInKinds, defineKind, type Kind, type KubeObject } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Owner } from '../marks.ts';
import { differences } from './compare.ts';
import { toLive } from './fields.ts';
import { toStep } from './plan.ts';
import { isQuantityField, toBillionths } from './quantity.ts';
import { createSettled } from './settled.ts';
import { anObject, aShape, bodies, neighbours, Shape, shapeCrd } from './testing/arbitrary-objects.ts';
import { isEmpty, isMap, isSame } from './value.ts';
import { toWanted } from './wanted.ts';

const Website = defineKind({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
});
const kinds = Object.keys(bodies);
const kindOf = (name: string): Kind => {
  const kind = name === Shape.kind ? Shape : builtInKinds.find((one) => one.kind === name);
  if (kind === undefined) throw new TypeError(`${name} is not built in`);
  return kind;
};

let env: TestEnv;
let client: KubeClient;
let owner: Owner;
let place = 0;
const operator = { name: 'website', owns: [...kinds, Shape.kind].map((kind) => ({ kind: kindOf(kind) })) };

beforeAll(async () => {
  env = await startTestEnv({ crds: [shapeCrd] });
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  const namespace = await env.createNamespace();
  owner = {
    kind: Website,
    name: 'front',
    namespace,
    uid: '11111111-2222-3333-4444-555555555555',
    fieldManager: 'website-operator',
  };
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});

function wantedOf(object: KubeObject) {
  const [wanted] = toWanted(operator, owner, [
    { ...object, metadata: { ...object.metadata, name: `generated-${place}` } },
  ]);
  if (wanted === undefined) throw new Error('one in, one out');
  return wanted;
}

const send = ({ kind, object }: ReturnType<typeof wantedOf>, dryRun = false) =>
  client.apply(kind, object, { fieldManager: owner.fieldManager, force: true, dryRun });

/** What an apply can change: not what the server counts and stamps, and not how an amount is written. */
function essence({ metadata, ...rest }: KubeObject): unknown {
  const { managedFields: _, resourceVersion: __, generation: ___, ...kept } = metadata;
  return worth({ ...rest, metadata: kept }, '', '');
}

function worth(value: unknown, name: string, parent: string): unknown {
  if (Array.isArray(value)) return value.map((item) => worth(item, '', name));
  if (isMap(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, worth(item, key, name)]));
  return isQuantityField(name, parent) ? (toBillionths(value) ?? value) : value;
}

/**
 * Goes from one state to another and checks: a step is planned whenever the server's dry run would change something, and none is
 * once the other state is applied. Where only an empty value is left over, the server told us its form of it, and that settles it.
 */
async function go(one: KubeObject, other: KubeObject): Promise<void> {
  place += 1;
  const settled = createSettled();
  const land = async (wanted: ReturnType<typeof wantedOf>) => {
    const live = await send(wanted);
    const held = toLive(live, owner.fieldManager);
    const left = differences(wanted.object, held, owner.fieldManager);
    expect(left.filter((change) => !isAboutNothing(wanted.object, change.path))).toEqual([]);
    settled.remember(owner.uid, live, wanted.object, left);
    expect(toStep(wanted, held, owner, settled)).toBeUndefined();
    return held;
  };
  const [before, after] = [wantedOf(one), wantedOf(other)];
  const held = await land(before);
  const step = toStep(after, held, owner, settled);
  try {
    if (!isSame(essence(await send(after, true)), essence(held.object))) expect(step).toBeDefined();
    await land(after);
  } catch (error) {
    // A field that cannot be changed: this step is impossible, but it must have been planned.
    if (!isFault(error, 'Invalid')) throw error;
    expect(step).toBeDefined();
  }
}

/** Empty, or a map of nothing but such values: the server may store none of it. */
function isHollow(value: unknown): boolean {
  return isEmpty(value) || (isMap(value) && Object.values(value).every(isHollow));
}

/** True when what is wanted at the path, or in a place above it, is hollow: `spec.strategy.type` where `strategy: {}` is wanted. */
function isAboutNothing(wanted: KubeObject, path: string): boolean {
  let value: unknown = wanted;
  for (const name of path.split(/[.[\]]+/).filter(Boolean)) {
    const [key, is] = name.split('=');
    if (Array.isArray(value) && is !== undefined) value = value.find((item) => String(item[key ?? '']) === is);
    else value = (value as Record<string, unknown>)[key ?? ''];
    if (isHollow(value)) return true;
    if (typeof value !== 'object' || value === null) return false;
  }
  return false;
}

const policy = (spec: object) => manifest('networking.k8s.io/v1', 'NetworkPolicy', { spec });
const role = (rules: unknown[]) => manifest('rbac.authorization.k8s.io/v1', 'Role', { rules });
const budget = (spec: object) => manifest('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: 1, ...spec } });
const shape = (spec: object) => manifest('example.io/v1', 'Shape', { spec });
const pods = (spec: object) =>
  manifest('apps/v1', 'Deployment', {
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'web', image: 'nginx' }], ...spec } },
    },
  });
function manifest(apiVersion: string, kind: string, body: object): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x' }, ...body };
}

const allRights = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
const anywhere = { namespaceSelector: {}, podSelector: { matchLabels: { a: 'b' } } };
const here = { podSelector: { matchLabels: { a: 'b' } } };
/** Where an empty value means something, one way or the other. */
const emptied: readonly (readonly [string, KubeObject, KubeObject])[] = [
  ['all rights and none', role([allRights]), role([])],
  [
    'traffic from everywhere and from nowhere',
    policy({ podSelector: {}, ingress: [{}] }),
    policy({ podSelector: {}, ingress: [] }),
  ],
  ['some pods and all pods', policy({ podSelector: { matchLabels: { a: 'b' } } }), policy({ podSelector: {} })],
  [
    'pods of all namespaces and of this one',
    policy({ podSelector: {}, ingress: [{ from: [anywhere] }] }),
    policy({ podSelector: {}, ingress: [{ from: [here] }] }),
  ],
  ['a budget for all pods and for none', budget({ selector: {} }), budget({})],
  ['some nodes and all nodes', pods({ nodeSelector: { a: 'b' } }), pods({ nodeSelector: {} })],
  ['a toleration and none', pods({ tolerations: [{ operator: 'Exists' }] }), pods({ tolerations: [] })],
  ['a part that is there and not', shape({ part: {} }), shape({})],
  ['a part that says something and nothing', shape({ part: { text: 'a' } }), shape({ part: {} })],
  ['a whole list and an empty one', shape({ whole: ['a'] }), shape({ whole: [] })],
  ['an empty list and none', shape({ whole: [] }), shape({})],
  ['a whole map and an empty one', shape({ wholeMap: { a: 'b' } }), shape({ wholeMap: {} })],
  ['two empty lists and one', shape({ whole: [], items: [] }), shape({ items: [] })],
  ['an empty part of a whole and none', shape({ free: { a: {}, b: [] } }), shape({ free: {} })],
];

describe('the plan from one state to another', () => {
  it.each(emptied)('sees the difference between %s', async (_, one, other) => {
    await go(one, other);
    await go(other, one);
  });

  it.each([Shape.kind, ...kinds])(
    'has a step for any %s whenever an apply would change it, and none afterwards',
    { timeout: 120_000 },
    async (kind) => {
      const objects = kind === Shape.kind ? aShape : anObject(kind);
      const pairs = fc.oneof(neighbours(objects), fc.tuple(objects, objects));
      await fc.assert(
        fc.asyncProperty(pairs, ([one, other]) => go(one, other)),
        { numRuns: kind === Shape.kind ? 60 : 25 },
      );
    },
  );
});
