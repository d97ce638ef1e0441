import { defineResource, type Instance, type KubeObject, Type } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import type { Admission } from './admission.ts';
import { answerAdmission } from './admission-review.ts';
import type { Reviewed } from './review.ts';
import { reviewInstance } from './review-instance.ts';

const Shop = defineResource({
  group: 'example.io',
  version: 'v1',
  kind: 'Shop',
  scope: 'Namespaced',
  description: 'A shop',
  spec: Type.Object({ replicas: Type.Integer({ default: 1 }), image: Type.Optional(Type.String()) }),
});
type Shop = Instance<typeof Shop>;

const admission: Admission<typeof Shop> = {
  validate: ({ object, operation, user }) => ({
    problems: [
      ...(object.spec.replicas > 10
        ? [{ path: 'spec.replicas', message: `must be at most 10, is ${object.spec.replicas}` }]
        : []),
      ...(object.spec.image === 'bad' ? [{ path: 'spec.image', message: "must not be 'bad'" }] : []),
      ...(operation === 'DELETE' && user.username !== 'owner'
        ? [{ path: '', message: 'only its owner may delete it' }]
        : []),
    ],
    warnings: object.spec.image?.endsWith(':latest') ? ['spec.image: :latest moves\nunder your feet'] : [],
  }),
  mutate: ({ object }) => ({ image: 'nginx', ...object.spec }),
};
const operator: Reviewed = { name: 'shop', resource: Shop, admission };

const shop = (spec: Partial<Shop['spec']>, metadata: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'example.io/v1',
  kind: 'Shop',
  metadata: { name: 'front', namespace: 'web', ...metadata },
  spec: { replicas: 1, ...spec },
});

function call(task: 'validate' | 'mutate', request: Record<string, unknown>, target: Reviewed = operator) {
  const body = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'u1',
      kind: { group: 'example.io', version: 'v1', kind: 'Shop' },
      operation: 'CREATE',
      userInfo: { username: 'jane' },
      ...request,
    },
  };
  const answer = answerAdmission(target, task, body);
  const { response } = answer.body as {
    response: {
      uid: string;
      allowed: boolean;
      status?: { message: string; code: number };
      warnings?: string[];
      patch?: string;
    };
  };
  const patch =
    response?.patch === undefined ? undefined : JSON.parse(Buffer.from(response.patch, 'base64').toString());
  return { answer, response, patch };
}

describe('validate', () => {
  it('lets a good instance in, and echoes the uid', () => {
    expect(call('validate', { object: shop({}) }).response).toEqual({ uid: 'u1', allowed: true });
  });

  it('refuses a bad one with every problem and its path', () => {
    const { response } = call('validate', { object: shop({ replicas: 11, image: 'bad' }) });
    expect(response).toEqual({
      uid: 'u1',
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        code: 422,
        reason: 'Invalid',
        message: "spec.replicas: must be at most 10, is 11; spec.image: must not be 'bad'",
        details: {
          group: 'example.io',
          kind: 'Shop',
          name: 'front',
          causes: [
            { reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'must be at most 10, is 11' },
            { reason: 'FieldValueInvalid', field: 'spec.image', message: "must not be 'bad'" },
          ],
        },
      },
    });
  });

  it('passes warnings on, on one line', () => {
    expect(call('validate', { object: shop({ image: 'nginx:latest' }) }).response.warnings).toEqual([
      'spec.image: :latest moves under your feet',
    ]);
  });

  it('gives the object that is about to go on DELETE', () => {
    const request = { operation: 'DELETE', object: null, oldObject: shop({}) };
    expect(call('validate', request).response).toMatchObject({
      allowed: false,
      status: { message: 'only its owner may delete it' },
    });
    expect(call('validate', { ...request, userInfo: { username: 'owner' } }).response.allowed).toBe(true);
  });

  const old = shop({ replicas: 11 }, { finalizers: ['keelson.io/finalizer'], labels: { a: '1' } });
  const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  it.each([
    ['a finalizer comes', shop({ replicas: 11 }, { finalizers: ['a', 'b'], labels: { a: '1' } }), true],
    ['the status moves', { ...old, status: { ready: true } }, true],
    [
      'a finalizer goes while it is being deleted',
      shop({ replicas: 11 }, { ...deleting, finalizers: [], labels: { a: '1' } }),
      true,
    ],
    ['its labels change while it is being deleted', shop({ replicas: 11 }, { ...deleting, labels: {} }), true],
    ['its labels change', shop({ replicas: 11 }, { labels: { a: '2' } }), true],
    ['its spec changes', shop({ replicas: 12 }, { labels: { a: '1' } }), false],
    ['its spec changes while it is being deleted', shop({ replicas: 12 }, { ...deleting }), true],
  ])('judges an instance that breaks a newer rule when %s', (_, object, allowed) => {
    expect(call('validate', { operation: 'UPDATE', object, oldObject: old }).response.allowed).toBe(allowed);
  });

  it('warns of an old spec that breaks a newer rule when something else changes, and fills in nothing', () => {
    const object = shop({ replicas: 11 }, { labels: { a: '2' } });
    expect(call('validate', { operation: 'UPDATE', object, oldObject: old }).response).toMatchObject({
      allowed: true,
      warnings: [
        'spec.replicas: must be at most 10, is 11 (let through because the spec was so before; its next change must correct it)',
      ],
    });
    expect(call('mutate', { operation: 'UPDATE', object, oldObject: old }).patch).toBeUndefined();
  });

  it('refuses metadata that is bad, whatever the spec is', () => {
    const strict: Reviewed = {
      name: 'shop',
      resource: Shop,
      admission: { validate: () => ({ problems: [{ path: 'metadata.labels.a', message: 'must not be 2' }] }) },
    };
    const request = { operation: 'UPDATE', object: shop({ replicas: 11 }, { labels: { a: '2' } }), oldObject: old };
    expect(call('validate', request, strict).response).toMatchObject({ allowed: false });
  });

  it('does not judge writes to subresources', () => {
    expect(
      call('validate', {
        operation: 'UPDATE',
        subResource: 'scale',
        object: shop({ replicas: 11 }),
        oldObject: shop({}),
      }).response.allowed,
    ).toBe(true);
  });
});

describe('mutate', () => {
  it('answers with the least patch', () => {
    expect(call('mutate', { object: shop({ replicas: 3 }) }).patch).toEqual([
      { op: 'add', path: '/spec/image', value: 'nginx' },
    ]);
  });

  it('answers without a patch when there is nothing to change', () => {
    expect(call('mutate', { object: shop({ image: 'nginx' }) }).response).toEqual({ uid: 'u1', allowed: true });
  });

  it('leaves an instance that breaks the schema to the API server, which says best what is wrong', () => {
    expect(call('mutate', { object: { ...shop({}), spec: { replicas: 'many' } } }).response).toEqual({
      uid: 'u1',
      allowed: true,
    });
    const { spec: _, ...bare } = shop({});
    expect(call('mutate', { object: bare }).response).toEqual({ uid: 'u1', allowed: true });
  });

  it('leaves an instance alone of which only the status changed', () => {
    const old = shop({});
    expect(
      call('mutate', { operation: 'UPDATE', object: { ...old, status: { ready: true } }, oldObject: old }).patch,
    ).toBeUndefined();
  });
});

describe('a function that does what it must not', () => {
  const broken = (admission: NonNullable<Reviewed['admission']>): Reviewed => ({ ...operator, admission });

  it.each<[string, 'validate' | 'mutate', NonNullable<Reviewed['admission']>, string]>([
    [
      'throws',
      'validate',
      {
        validate: () => {
          throw new Error('no such driver');
        },
      },
      'no such driver',
    ],
    [
      'throws',
      'mutate',
      {
        mutate: () => {
          throw new Error('no such driver');
        },
      },
      'no such driver',
    ],
    [
      'returns nothing',
      'validate',
      { validate: (() => undefined) as unknown as () => object },
      'it returned undefined instead of a verdict',
    ],
    ['is asynchronous', 'mutate', { mutate: async () => ({}) }, 'admission functions are synchronous'],
    [
      'changes its input',
      'mutate',
      {
        mutate: (({ object }: { object: Shop }) => {
          object.spec.replicas = 9;
          return object.spec;
        }) as unknown as () => object,
      },
      'read only',
    ],
  ])('%s (%s): the request is refused, says so and is counted', (_, task, admission, text) => {
    const { answer, response } = call(task, { object: shop({}) }, broken(admission));
    expect(response).toMatchObject({ allowed: false, status: { code: 500, message: expect.stringContaining(text) } });
    expect(response.status?.message).toContain(`the ${task} function of operator 'shop' failed on Shop web/front`);
    expect(answer.threw).toBeInstanceOf(Error);
  });
});

describe('what is no review of this resource is a bad request', () => {
  const review = (request: unknown, more = {}) => ({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request,
    ...more,
  });
  const kind = { group: 'example.io', version: 'v1', kind: 'Shop' };
  it.each([
    ['a string', 'hello', /must be an AdmissionReview/],
    ['null', null, /must be an AdmissionReview/],
    ['a list', [], /must be an AdmissionReview/],
    ['an old version', review({}, { apiVersion: 'admission.k8s.io/v1beta1' }), /admission.k8s.io\/v1/],
    ['no request', review(undefined), /has no request/],
    ['no uid', review({ kind, operation: 'CREATE' }), /request.uid is missing/],
    ['no operation', review({ uid: 'u', kind }), /request.operation is missing/],
    [
      'another kind',
      review({ uid: 'u', operation: 'CREATE', kind: { group: '', version: 'v1', kind: 'Pod' } }),
      /is for Shop of example.io\/v1, but the request is about Pod/,
    ],
    ['no object', review({ uid: 'u', operation: 'CREATE', kind }), /request.object is missing/],
    [
      'an object without metadata',
      review({ uid: 'u', operation: 'UPDATE', kind, object: { spec: {} } }),
      /request.object is missing or is no/,
    ],
    [
      'a DELETE without the old object',
      review({ uid: 'u', operation: 'DELETE', kind, object: shop({}) }),
      /request.oldObject is missing/,
    ],
  ])('%s', (_, body, text) => {
    const answer = answerAdmission(operator, 'validate', body);
    expect(answer.code).toBe(400);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', message: expect.stringMatching(text) });
  });
});

describe('reviewInstance', () => {
  it('mutates and then validates, and leaves what it was given as it was', () => {
    const given = shop({ replicas: 11 });
    const reviewed = reviewInstance(operator, given);
    expect(reviewed.object.spec).toEqual({ image: 'nginx', replicas: 11 });
    expect(reviewed.problems).toEqual([{ path: 'spec.replicas', message: 'must be at most 10, is 11' }]);
    expect(given).toEqual(shop({ replicas: 11 }));
    expect(Object.isFrozen(given)).toBe(false);
  });

  it('lets an instance in when its operator has no admission', () => {
    expect(reviewInstance({ name: 'shop', resource: Shop }, shop({ replicas: 11 }))).toEqual({
      object: shop({ replicas: 11 }),
      problems: [],
      warnings: [],
    });
  });

  it('says what breaks the schema, before and after mutation', () => {
    expect(reviewInstance(operator, { ...shop({}), spec: { replicas: 'many' } }).problems).toEqual([
      { path: 'spec.replicas', message: expect.stringContaining('whole number') },
    ]);
    const breaking: Reviewed = { ...operator, admission: { mutate: () => ({ replicas: 'many' }) } };
    expect(reviewInstance(breaking, shop({})).problems).toEqual([
      { path: 'spec.replicas', message: expect.stringContaining('whole number') },
    ]);
  });

  it('fills in defaults, and takes an update for what it is', () => {
    const given = { ...shop({}), spec: {} };
    expect(reviewInstance(operator, given).object.spec).toEqual({ replicas: 1, image: 'nginx' });
    expect(
      reviewInstance(operator, shop({ replicas: 11 }), { old: shop({ replicas: 11 }, { finalizers: ['x'] }) }).problems,
    ).toEqual([]);
  });

  it('makes a problem of a function that throws', () => {
    const failing: Reviewed = {
      ...operator,
      admission: {
        mutate: () => {
          throw new Error('no such driver');
        },
      },
    };
    expect(reviewInstance(failing, shop({})).problems).toEqual([
      { path: '', message: "the mutate function of operator 'shop' failed: no such driver" },
    ]);
  });
});
