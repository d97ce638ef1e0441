import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import type { Live } from '../cache/store.ts';
import { takenBy } from './holders.ts';
import { field, index, keyed, member, order, type Path } from './path.ts';

const object = { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' } } satisfies KubeObject;
const at = (...names: string[]): Path =>
  names.reduce<Path | undefined>((up, name) => field(up, name), undefined) ?? field(undefined, '');
const live = (more: Omit<Live, 'object'>): Live => ({ object, ...more });
const ports = (fields: object) => ({ 'f:spec': { 'f:ports': fields } });

describe('takenBy', () => {
  it('names nobody for what we hold, also where somebody else holds it too', () => {
    const fields = { 'f:spec': { 'f:replicas': {} } };
    expect(takenBy(live({ fields, others: [{ manager: 'hpa', fields }] }), at('spec', 'replicas'))).toBeUndefined();
  });

  it('names all who hold what we do not, each once, and nobody who holds something beside it', () => {
    const fields = { 'f:spec': { 'f:replicas': {} } };
    const others = [
      { manager: 'b', fields },
      { manager: 'a', fields },
      { manager: 'a', fields },
      { manager: 'c', fields: { 'f:spec': { 'f:paused': {} } } },
    ];
    expect(takenBy(live({ others }), at('spec', 'replicas'))).toBe('a, b');
    expect(takenBy(live({ others }), at('spec'))).toBeUndefined();
  });

  it('finds who holds a whole that the field is a part of', () => {
    const others = [{ manager: 'a', fields: { 'f:rules': {} } }];
    expect(takenBy(live({ others }), field(index(at('rules'), 0), 'verbs'))).toBe('a');
    expect(takenBy(live({ others }), at('roleRef'))).toBeUndefined();
  });

  it('finds items by their key, also where the server filled in a part of it, but never guesses which', () => {
    const tcp = 'k:{"port":80,"protocol":"TCP"}';
    const udp = 'k:{"port":80,"protocol":"UDP"}';
    const path = field(keyed(at('spec', 'ports'), { port: 80 }), 'targetPort');
    const one = [{ manager: 'a', fields: ports({ [tcp]: { 'f:targetPort': {} } }) }];
    const two = [{ manager: 'a', fields: ports({ [tcp]: { 'f:targetPort': {} }, [udp]: { 'f:targetPort': {} } }) }];
    expect(takenBy(live({ others: one }), path)).toBe('a');
    expect(takenBy(live({ others: two }), path)).toBeUndefined();
  });

  it('finds the members of a set, and nobody for an order', () => {
    const others = [{ manager: 'a', fields: { 'f:finalizers': { '.': {}, 'v:"x"': {} } } }];
    expect(takenBy(live({ others }), member(at('finalizers'), 'x'))).toBe('a');
    expect(takenBy(live({ others }), member(at('finalizers'), 'y'))).toBeUndefined();
    expect(takenBy(live({ others }), order(at('finalizers')))).toBeUndefined();
    expect(takenBy(live({ others }), at('finalizers'))).toBe('a');
  });

  it('says somebody else of what was ours and is held by nobody', () => {
    const former = { 'f:spec': { 'f:hostPID': {} } };
    expect(takenBy(live({ former }), at('spec', 'hostPID'))).toBe('somebody else');
    expect(takenBy(live({ former }), at('spec', 'hostIPC'))).toBeUndefined();
  });
});
