import { type Condition, ConfigMap, defineResource, type KubeObject, Type } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { isOperatorBug } from '../bug.ts';
import type { Live } from '../cache/store.ts';
import type { ConditionNote } from '../decision.ts';
import type { Executed } from '../execute/execute.ts';
import { accepted, applied, describeLeaving, judgeApplied, judgeReady } from './judge.ts';
import { conditionsOf, nextStatus, type StatusInput } from './next.ts';

const Website = defineResource({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  description: 'A website.',
  spec: Type.Object({}),
  status: Type.Object({ url: Type.Optional(Type.String()), phase: Type.Optional(Type.String()) }),
});
const operator = { name: 'website', resource: Website };
const now = new Date('2026-03-01T12:00:00.123Z');
const ready = { status: 'True', reason: 'Ready', message: 'everything is ready' } as const;

const instance = (status?: unknown, fields?: Live['fields']): Live => {
  const object: KubeObject = {
    apiVersion: 'example.io/v1',
    kind: 'Website',
    metadata: { name: 'front', namespace: 'shop', uid: 'u', generation: 4, resourceVersion: '9' },
    status,
  };
  return fields === undefined ? { object } : { object, fields };
};
const next = (input: Partial<StatusInput>): KubeObject =>
  nextStatus({ operator, self: instance(), note: undefined, accepted, applied, ready, generation: 4, now, ...input });
const brief = (object: KubeObject) =>
  conditionsOf(object.status).map(({ type, status, reason }) => `${type}=${status} ${reason}`);
const at = (type: string, status: Condition['status'], lastTransitionTime: string): Condition => ({
  type,
  status,
  reason: 'R',
  message: 'm',
  lastTransitionTime,
});

describe('nextStatus', () => {
  it('states all of the engine’s conditions on the first visit, with generation and time', () => {
    expect(next({})).toEqual({
      apiVersion: 'example.io/v1',
      kind: 'Website',
      metadata: { name: 'front', namespace: 'shop', uid: 'u' },
      status: {
        observedGeneration: 4,
        conditions: [
          { type: 'Ready', ...ready, observedGeneration: 4, lastTransitionTime: '2026-03-01T12:00:00Z' },
          { type: 'Accepted', ...accepted, observedGeneration: 4, lastTransitionTime: '2026-03-01T12:00:00Z' },
          { type: 'Applied', ...applied, observedGeneration: 4, lastTransitionTime: '2026-03-01T12:00:00Z' },
        ],
      },
    });
  });

  it('says Unknown for what was never tried', () => {
    const { applied: _, ...waiting }: Partial<StatusInput> = {
      applied,
      ready: { status: 'False', reason: 'NoDatabase', message: '' },
    };
    const object = nextStatus({
      operator,
      self: instance(),
      note: undefined,
      accepted,
      ready,
      generation: 4,
      now,
      ...waiting,
    });
    expect(brief(object)).toEqual(['Ready=False NoDatabase', 'Accepted=True Valid', 'Applied=Unknown NotTried']);
  });

  it('moves lastTransitionTime only for a condition that flips', () => {
    const before = {
      conditions: [at('Ready', 'True', '2026-01-01T00:00:00Z'), at('Accepted', 'False', '2026-01-01T00:00:00Z')],
    };
    const times = conditionsOf(next({ self: instance(before) }).status).map(({ type, lastTransitionTime }) => [
      type,
      lastTransitionTime,
    ]);
    expect(times).toEqual([
      ['Ready', '2026-01-01T00:00:00Z'],
      ['Accepted', '2026-03-01T12:00:00Z'],
      ['Applied', '2026-03-01T12:00:00Z'],
    ]);
  });

  it('lets the operator’s own Ready stand, unless it is not accepted or not applied', () => {
    const note = {
      conditions: [{ type: 'Ready', status: 'False', reason: 'NoBackend', message: '' } as ConditionNote],
    };
    expect(brief(next({ note }))[0]).toBe('Ready=False NoBackend');
    const refused = { status: 'False', reason: 'OwnedByAnother', message: '' } as const;
    expect(brief(next({ note, applied: refused }))[0]).toBe('Ready=False OwnedByAnother');
    expect(brief(next({ note, accepted: { ...refused, reason: 'BadSpec' } }))[0]).toBe('Ready=False BadSpec');
  });

  it('replaces its own words and repeats nobody else’s', () => {
    const before = { url: 'old', phase: 'Up', conditions: [at('Mine', 'True', 't'), at('Theirs', 'True', 't')] };
    const fields = {
      'f:status': {
        'f:url': {},
        'f:conditions': {
          'k:{"type":"Mine"}': { '.': {}, 'f:type': {}, 'f:status': {}, 'f:reason': {}, 'f:message': {} },
        },
      },
    };
    const stated = next({ self: instance(before, fields), note: { phase: 'New' } });
    expect(stated.status).toMatchObject({ phase: 'New' });
    expect(stated.status).not.toHaveProperty('url');
    expect(brief(stated).join()).not.toMatch(/Mine|Theirs/);
  });

  it('keeps its own words, and only those, when there is nothing new to say', () => {
    const before = { url: 'ours', phase: 'theirs', conditions: [at('Mine', 'True', 't'), at('Theirs', 'True', 't')] };
    const fields = {
      'f:status': {
        'f:url': {},
        'f:conditions': {
          'k:{"type":"Mine"}': {
            '.': {},
            'f:type': {},
            'f:status': {},
            'f:reason': {},
            'f:message': {},
            'f:lastTransitionTime': {},
          },
        },
      },
    };
    const kept = next({ self: instance(before, fields) });
    expect(kept.status).toMatchObject({ url: 'ours' });
    expect(kept.status).not.toHaveProperty('phase');
    expect(brief(kept)).toEqual(['Ready=True Ready', 'Accepted=True Valid', 'Applied=True Applied', 'Mine=True R']);
  });

  it.each<[string, ConditionNote[], RegExp]>([
    [
      'a condition of the engine',
      [{ type: 'Applied', status: 'True', reason: 'R', message: '' }],
      /'Applied', which the engine keeps/,
    ],
    [
      'a condition twice',
      [
        { type: 'A', status: 'True', reason: 'R', message: '' },
        { type: 'A', status: 'False', reason: 'R', message: '' },
      ],
      /'A' twice/,
    ],
    ['an unknown status', [{ type: 'A', status: 'Yes' as 'True', reason: 'R', message: '' }], /status 'Yes'/],
    [
      'a sentence for a reason',
      [{ type: 'A', status: 'True', reason: 'not good', message: '' }],
      /reason 'not good': a reason is one word/,
    ],
  ])('calls %s a bug of the operator', (_, conditions, message) => {
    let thrown: unknown;
    try {
      next({ note: { conditions } });
    } catch (error) {
      thrown = error;
    }
    expect(isOperatorBug(thrown) && thrown.message).toMatch(message);
  });
});

describe('judgeApplied', () => {
  const child = (name: string, deletionTimestamp?: string, finalizers?: string[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'shop',
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
  });
  const leaving = (name: string, since: string, wanted: boolean, finalizers?: string[]) => ({
    kind: ConfigMap,
    live: child(name, since, finalizers),
    wanted,
  });
  const met = (some: Partial<Executed>) =>
    judgeApplied({ refusals: [], leaving: [], failures: [], held: [], ...some }, now);
  const refusal = (because: string, name = 'x', together = because) => ({
    kind: ConfigMap,
    object: child(name),
    because,
    together,
  });

  it('is content when nothing stands in the way', () => {
    expect(met({})).toEqual(applied);
  });

  it('names what somebody else owns, the first three in full', () => {
    expect(met({ refusals: ['a', 'b', 'c', 'd'].map((because) => refusal(because)) })).toEqual({
      status: 'False',
      reason: 'OwnedByAnother',
      message: 'a; b; c; likewise ConfigMap shop/x',
    });
  });

  it('says once what is true of many, and names a few of them', () => {
    const many = Array.from({ length: 17 }, (_, index) => refusal('', `c${index}`, 'exist already'));
    const { message } = met({ refusals: [...many, refusal('Service shop/s exists already', 's')] });
    expect(message).toBe(
      '17 objects exist already (ConfigMap shop/c0, ConfigMap shop/c1, ConfigMap shop/c2 and 14 more); Service shop/s exists already',
    );
  });

  it('waits for a wanted child that is being deleted, and for an unwanted one only when it takes too long', () => {
    expect(met({ leaving: [leaving('web', '2026-03-01T11:59:59Z', true)] }).reason).toBe('ChildTerminating');
    expect(met({ leaving: [leaving('web', '2026-03-01T11:59:59Z', false)] })).toEqual(applied);
    expect(met({ leaving: [leaving('web', '2026-03-01T11:59:00Z', false)] }).reason).toBe('ChildTerminating');
  });

  it('says what holds a child and who has to act', () => {
    expect(describeLeaving(leaving('web', '2026-03-01T11:59:59Z', true, ['a.io/x', 'b.io/y']))).toBe(
      'ConfigMap shop/web is being deleted, held by the finalizers a.io/x, b.io/y: whoever put them there has to remove them; it is made anew afterwards',
    );
  });
});

describe('judgeReady', () => {
  const wanted = (name: string) => ({
    kind: ConfigMap,
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
    reachable: true,
  });

  it('is ready when every child is, also when there is none', () => {
    expect(judgeReady([], () => undefined)).toEqual(ready);
    expect(judgeReady([wanted('a')], (_, object) => object)).toEqual(ready);
  });

  it('names a child that is not there', () => {
    expect(judgeReady([wanted('a')], () => undefined)).toEqual({
      status: 'False',
      reason: 'Progressing',
      message: 'ConfigMap a: does not exist yet',
    });
  });
});
