import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  defineKind,
  type Kind,
  type KubeObject,
  Namespace,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '@keelson/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { marks, type Owner } from '../marks.ts';
import { type Child, type PlanInput, planInstance, type Step } from './plan.ts';
import { createSettled } from './settled.ts';
import { objectKey, toWanted } from './wanted.ts';

const Website = defineKind({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
});
const owner: Owner = {
  kind: Website,
  name: 'front',
  namespace: 'shop',
  uid: 'uid-front',
  fieldManager: 'website-operator',
};
const stranger: Owner = { ...owner, name: 'other', uid: 'uid-other' };
const operator = {
  name: 'website',
  owns: [
    ConfigMap,
    Secret,
    Deployment,
    DaemonSet,
    Service,
    ServiceAccount,
    Role,
    RoleBinding,
    ClusterRole,
    Namespace,
    CustomResourceDefinition,
    Website,
  ].map((kind: Kind) => ({ kind })),
};

const some = (kind: Kind, name: string, body: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
  kind: kind.kind,
  metadata: { name },
  ...body,
});
const wantedOf = (...objects: KubeObject[]) => toWanted(operator, owner, objects);

/** The object as it is after this owner has applied it: fieldsV1 written out for the plain maps that these tests use. */
function applied(by: Owner, kind: Kind, object: KubeObject): Child {
  const [wanted] = toWanted(operator, by, [object]);
  if (wanted === undefined) throw new Error('unreachable');
  const { apiVersion: _, kind: __, metadata, ...body } = wanted.object;
  const fields = toFields({
    ...body,
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
  }) as Record<string, Record<string, unknown>>;
  if (metadata.ownerReferences) {
    fields['f:metadata'] = { ...fields['f:metadata'], 'f:ownerReferences': { [`k:{"uid":"${by.uid}"}`]: {} } };
  }
  const live = { ...wanted.object, metadata: { ...metadata, uid: `uid-of-${metadata.name}`, resourceVersion: '7' } };
  return { kind, live: { object: live, fields } };
}
function toFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [`f:${key}`, toFields(item)]));
}

const plan = (wanted: readonly KubeObject[], there: readonly Child[], more: Partial<PlanInput> = {}) =>
  planInstance({
    owner,
    wanted: wantedOf(...wanted),
    owned: there,
    find: (kind, ref) =>
      there.find((child) => objectKey(child.kind, child.live.object.metadata) === objectKey(kind, ref))?.live,
    ...more,
  });
const brief = (steps: readonly Step[]) =>
  steps.map(
    (step) => `${step.action} ${step.kind.kind} ${(step.action === 'delete' ? step.live : step.object).metadata.name}`,
  );

const child = (kind: Kind, name: string, body: Record<string, unknown> = {}) =>
  applied(owner, kind, some(kind, name, body));
const leavingChild = (kind: Kind, name: string): Child => {
  const one = child(kind, name);
  const metadata = { ...one.live.object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] };
  return { kind, live: { ...one.live, object: { ...one.live.object, metadata } } };
};

describe('planInstance', () => {
  it('creates what is missing, in apply order', () => {
    const { steps } = plan(
      [
        some(Website, 'sub'),
        some(Deployment, 'web'),
        some(Service, 'web'),
        some(ConfigMap, 'web'),
        some(RoleBinding, 'web'),
        some(ServiceAccount, 'web'),
        some(CustomResourceDefinition, 'things.example.io'),
        some(Namespace, 'shop-2'),
      ],
      [],
    );
    expect(brief(steps)).toEqual([
      'create Namespace shop-2',
      'create CustomResourceDefinition things.example.io',
      'create ServiceAccount web',
      'create RoleBinding web',
      'create ConfigMap web',
      'create Service web',
      'create Deployment web',
      'create Website sub',
    ]);
    expect(steps[0]?.because).toBe('missing');
  });

  it('says so when something that was there before is missing', () => {
    const { steps } = plan([some(ConfigMap, 'web')], [], { wasThere: (key) => key === 'configmaps/shop/web' });
    expect(steps).toMatchObject([{ action: 'create', because: 'deleted by somebody else' }]);
  });

  it('changes what differs and says which field', () => {
    const there = child(Deployment, 'web', { spec: { replicas: 2 } });
    const { steps } = plan([some(Deployment, 'web', { spec: { replicas: 3 } })], [there]);
    expect(steps).toMatchObject([
      {
        action: 'change',
        because: 'spec.replicas: 2 → 3',
        changes: [{ path: 'spec.replicas', from: 2, to: 3 }],
        restarts: false,
      },
    ]);
  });

  it('says when pods will be replaced', () => {
    const spec = (image: string) => ({ spec: { template: { spec: { image } } } });
    const { steps } = plan([some(Deployment, 'web', spec('b'))], [child(Deployment, 'web', spec('a'))]);
    expect(steps).toMatchObject([{ action: 'change', restarts: true }]);
  });

  it('does not say that pods will be replaced where they wait for a person to delete them', () => {
    const spec = (image: string) => ({ spec: { updateStrategy: { type: 'OnDelete' }, template: { spec: { image } } } });
    const { steps } = plan([some(DaemonSet, 'web', spec('b'))], [child(DaemonSet, 'web', spec('a'))]);
    expect(steps).toMatchObject([{ action: 'change', restarts: false }]);
  });

  it('plans nothing when everything is as wanted', () => {
    const objects = [some(ConfigMap, 'web', { data: { a: '1' } }), some(ClusterRole, 'web', { rules: [] })];
    const there = [child(ConfigMap, 'web', { data: { a: '1' } }), child(ClusterRole, 'web', { rules: [] })];
    expect(plan(objects, there)).toEqual({ steps: [], refusals: [], leaving: [] });
  });

  it('leaves what is to be kept as it is: neither deleted nor changed nor made, also when it is on its way out', () => {
    const there = [
      child(ClusterRole, 'held'),
      child(ConfigMap, 'held'),
      child(ConfigMap, 'old'),
      leavingChild(Secret, 's'),
    ];
    const keep = [
      { kind: ClusterRole, name: 'held' },
      { kind: ConfigMap, name: 'held' },
      { kind: Secret, name: 's', namespace: 'shop' },
      { kind: Deployment, name: 'gone' },
    ];
    const { steps, refusals, leaving } = plan([some(ConfigMap, 'new')], there, { keep });
    expect(brief(steps)).toEqual(['create ConfigMap new', 'delete ConfigMap old']);
    expect({ refusals, leaving }).toEqual({ refusals: [], leaving: [] });
  });

  it('wants what is both wanted and to be kept, and keeps nothing of the same name elsewhere', () => {
    const there = [child(ConfigMap, 'web', { data: { a: '1' } }), child(ConfigMap, 'old')];
    const keep = [
      { kind: ConfigMap, name: 'web' },
      { kind: Secret, name: 'old' },
      { kind: ConfigMap, name: 'old', namespace: 'elsewhere' },
    ];
    const { steps } = plan([some(ConfigMap, 'web', { data: { a: '2' } })], there, { keep });
    expect(brief(steps)).toEqual(['change ConfigMap web', 'delete ConfigMap old']);
  });

  it('deletes what is no longer wanted, after everything else and in reverse order', () => {
    const there = [child(ConfigMap, 'old'), child(Deployment, 'old'), child(Namespace, 'old')];
    const { steps } = plan([some(Secret, 'new')], there);
    expect(brief(steps)).toEqual([
      'create Secret new',
      'delete Deployment old',
      'delete ConfigMap old',
      'delete Namespace old',
    ]);
    expect(steps[1]?.because).toBe('no longer wanted');
  });

  it('never shows what a Secret holds', () => {
    const there = child(Secret, 'web', { data: { password: 'b2xk', user: 'cm9vdA==' } });
    const { steps } = plan([some(Secret, 'web', { stringData: { password: 'hunter2' } })], [there]);
    expect(steps).toMatchObject([
      {
        because: 'data.password: changed; data.user: [redacted] → none',
        changes: [
          { from: '[redacted]', to: '[redacted]' },
          { from: '[redacted]', to: undefined },
        ],
      },
    ]);
  });

  it('leaves alone what is being deleted, wanted or not', () => {
    const there = [leavingChild(ConfigMap, 'wanted'), leavingChild(ConfigMap, 'unwanted')];
    const { steps, leaving } = plan([some(ConfigMap, 'wanted')], there);
    expect(steps).toEqual([]);
    expect(leaving.map(({ live, wanted }) => [live.metadata.name, wanted])).toEqual([
      ['wanted', true],
      ['unwanted', false],
    ]);
  });

  it('stops planning what the server keeps writing differently, until somebody changes it', () => {
    const settled = createSettled();
    const wanted = some(ConfigMap, 'web', { data: { at: '10:00' } });
    const rewritten = child(ConfigMap, 'web', { data: { at: '10:00:00' } });
    const before = plan([wanted], [rewritten], { settled });
    const [step] = before.steps;
    if (step?.action !== 'change') throw new Error('expected a change');
    settled.remember(owner.uid, rewritten.live.object, step.object, step.changes);

    expect(plan([wanted], [rewritten], { settled }).steps).toEqual([]);
    expect(plan([wanted], [child(ConfigMap, 'web', { data: { at: '11:00:00' } })], { settled }).steps).toHaveLength(1);
    expect(plan([some(ConfigMap, 'web', { data: { at: '12:00' } })], [rewritten], { settled }).steps).toHaveLength(1);
  });
});

describe('whose object it is', () => {
  it('refuses what another instance owns, and names it', () => {
    const { steps, refusals } = plan([some(ConfigMap, 'web')], [applied(stranger, ConfigMap, some(ConfigMap, 'web'))]);
    expect(steps).toEqual([]);
    expect(refusals).toMatchObject([
      {
        because: expect.stringContaining(
          'ConfigMap shop/web exists already and belongs to Website shop/other, so it is left alone: ' +
            'delete or change Website shop/other, or give this Website another name or namespace; ' +
            'then this goes on by itself within a minute',
        ),
      },
    ]);
  });

  it.each([
    [
      'a chart',
      { labels: { [marks.managedBy]: 'Helm' }, annotations: { 'meta.helm.sh/release-name': 'shop' } },
      'is managed by Helm (release shop), so it is left alone: remove it there, or give this Website',
    ],
    [
      'a controller',
      { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: 'r', controller: true }] },
      'is controlled by ReplicaSet web-1, so it is left alone: delete ReplicaSet web-1, or give this Website',
    ],
    [
      'people',
      { managedFields: [{ manager: 'kubectl-create' }, { manager: 'vim' }] },
      'was written by kubectl-create, vim, so it is left alone: delete it if nobody needs it, or give this Website',
    ],
    [
      'an instance that let it go',
      { managedFields: [{ manager: owner.fieldManager }], labels: { 'app.kubernetes.io/name': 'web' } },
      'was left behind by an instance that was deleted with the orphan policy, or somebody removed its marks, so it is left alone: ' +
        'delete it if nobody needs it, or give it the label keelson.io/operator=website-operator and the annotation ' +
        'keelson.io/owner=Website/shop/front to have it taken over; then',
    ],
    ['nobody knows whom', {}, 'was made by somebody else, so it is left alone: delete it if nobody needs it'],
  ])('tells a user of the cluster whose it is and what to do about an object of %s', (_, metadata, because) => {
    const object = { ...some(ConfigMap, 'web'), metadata: { name: 'web', namespace: 'shop', uid: 'u', ...metadata } };
    const { refusals } = plan([some(ConfigMap, 'web')], [{ kind: ConfigMap, live: { object } }]);
    expect(refusals).toMatchObject([{ because: expect.stringContaining(because) }]);
  });

  it('refuses what another instance claimed first', () => {
    const { steps, refusals } = plan([some(ConfigMap, 'web')], [], {
      claimedBy: () => 'Website/shop/other',
    });
    expect(steps).toEqual([]);
    expect(refusals).toMatchObject([
      {
        because: expect.stringContaining(
          'ConfigMap shop/web is wanted by Website shop/other too, which was first: change one of the two, or delete Website shop/other',
        ),
      },
    ]);
  });

  const unmarked = (): Child => ({ kind: ClusterRole, live: { object: some(ClusterRole, 'web') } });
  const byHand = (labels: Record<string, string>): Child => {
    const object = some(ClusterRole, 'web');
    return { kind: ClusterRole, live: { object: { ...object, metadata: { ...object.metadata, labels } } } };
  };
  const elsewhere = { ...stranger, namespace: 'elsewhere' };
  it.each([
    { given: 'nobody’s', child: unmarked(), lives: true, taken: true },
    {
      given: 'of a living instance',
      child: applied(stranger, ClusterRole, some(ClusterRole, 'web')),
      lives: true,
      taken: false,
    },
    {
      given: 'of an instance that is gone',
      child: applied(stranger, ClusterRole, some(ClusterRole, 'web')),
      lives: false,
      taken: true,
    },
    {
      given: 'of an instance out of our sight',
      child: applied(elsewhere, ClusterRole, some(ClusterRole, 'web')),
      lives: false,
      taken: false,
    },
    {
      given: 'of an instance of another operator',
      child: applied({ ...stranger, fieldManager: 'shop-operator' }, ClusterRole, some(ClusterRole, 'web')),
      lives: false,
      taken: false,
    },
    { given: 'of nobody knows whom', child: byHand({ [marks.ownerUid]: 'uid-x' }), lives: false, taken: false },
  ])('adopts what is $given: $taken', ({ child, lives, taken }) => {
    const { steps, refusals } = plan([some(ClusterRole, 'web')], [child], {
      adopt: [{ kind: ClusterRole, name: 'web' }],
      lives: () => lives,
    });
    expect(brief(steps)).toEqual(taken ? ['change ClusterRole web'] : []);
    expect(refusals).toHaveLength(taken ? 0 : 1);
    if (!taken) expect(refusals[0]?.because).toMatch(/cannot be taken over because it .*keelson\.io\/owner-uid/);
  });

  it('does not adopt what somebody else controls', () => {
    const { refusals } = plan([some(ConfigMap, 'web')], [applied(stranger, ConfigMap, some(ConfigMap, 'web'))], {
      adopt: [{ kind: ConfigMap, name: 'web' }],
    });
    expect(refusals).toMatchObject([{ because: expect.stringContaining('cannot be taken over') }]);
  });

  it('takes back what a former incarnation of the same instance left', () => {
    const former = applied({ ...owner, uid: 'uid-before' }, ConfigMap, some(ConfigMap, 'web'));
    const { steps, refusals } = plan([some(ConfigMap, 'web')], [former]);
    expect(refusals).toEqual([]);
    expect(brief(steps)).toEqual(['change ConfigMap web']);
  });
});

describe('properties', () => {
  const kinds = [ConfigMap, Secret, Service, Deployment, ClusterRole] as const;
  const anObject = fc
    .record({
      kind: fc.constantFrom(...kinds),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      value: fc.constantFrom('1', '2'),
    })
    .map(({ kind, name, value }) => some(kind, name, { data: { key: value } }));
  const objects = fc.uniqueArray(anObject, { selector: (one) => `${one.kind}/${one.metadata.name}`, maxLength: 8 });
  const kindOf = (object: KubeObject): Kind => kinds.find((kind) => kind.kind === object.kind) ?? ConfigMap;
  const childOf = (object: KubeObject) => applied(owner, kindOf(object), object);

  it('gives no step for what is applied', () => {
    fc.assert(
      fc.property(objects, (wanted) => {
        expect(plan(wanted, wanted.map(childOf)).steps).toEqual([]);
      }),
    );
  });

  it('does not depend on the order of what is wanted or of what is there', () => {
    fc.assert(
      fc.property(objects, objects, fc.infiniteStream(fc.nat()), (wanted, there, chance) => {
        const shuffled = <T>(items: readonly T[]): T[] =>
          items
            .map((item) => ({ item, at: chance.next().value }))
            .sort((a, b) => a.at - b.at)
            .map(({ item }) => item);
        const children = there.map(childOf);
        expect(plan(shuffled(wanted), shuffled(children))).toEqual(plan(wanted, children));
      }),
    );
  });

  it('never deletes what lacks our label or our uid', () => {
    const label = fc.record(
      {
        [marks.operator]: fc.constantFrom(owner.fieldManager, 'helm'),
        [marks.ownerUid]: fc.constantFrom(owner.uid, stranger.uid),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(objects, fc.array(fc.tuple(anObject, label), { maxLength: 8 }), (wanted, found) => {
        const there = found.map(([object, labels], i): Child => {
          const metadata = { name: `${object.metadata.name}-${i}`, namespace: 'shop', uid: `u${i}`, labels };
          return { kind: kindOf(object), live: { object: { ...object, metadata } } };
        });
        for (const step of plan(wanted, there).steps) {
          if (step.action !== 'delete') continue;
          expect(step.live.metadata.labels).toMatchObject({
            [marks.operator]: owner.fieldManager,
            [marks.ownerUid]: owner.uid,
          });
        }
      }),
    );
  });

  it('refuses the second of two owners, whatever they want', () => {
    fc.assert(
      fc.property(objects, objects, (mine, theirs) => {
        const there = theirs.map((object) => applied(stranger, kindOf(object), object));
        const { steps, refusals } = plan(mine, there);
        const taken = new Set(there.map(({ kind, live }) => objectKey(kind, live.object.metadata)));
        expect(
          refusals.map(({ kind, object }) => objectKey(kind, object.metadata)).every((key) => taken.has(key)),
        ).toBe(true);
        for (const step of steps) {
          if (step.action === 'delete') throw new Error('deleted what is not ours');
          expect(taken.has(objectKey(step.kind, step.object.metadata))).toBe(false);
        }
        expect(refusals.length + steps.length).toBe(mine.length);
      }),
    );
  });
});
