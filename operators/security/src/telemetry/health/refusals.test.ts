import { describe, expect, test } from 'vitest';
import { followRefusals, type RefusalMemory, refusalsIn, toRelayReading } from './refusals.ts';

const start = Date.parse('2026-05-01T10:00:00Z');
const kept = (count: number, index = 'security-events') =>
  `keelson_relay_dead_letters_total{index="${index}",error_type="mapper_parsing_exception"} ${count}\n`;
const held = (count: number) =>
  `keelson_relay_held_documents_total{index="security-events",error_type="validation_exception"} ${count}\n`;

/** One relay, asked again and again: each so many seconds after the first. */
function rounds(...list: readonly (readonly [seconds: number, text: string])[]) {
  let memory: RefusalMemory = new Map();
  let before: ReturnType<typeof toRelayReading> | undefined;
  return list.map(([seconds, text]) => {
    const now = toRelayReading(text);
    memory = followRefusals([{ before, now }], memory, start + seconds * 1000);
    before = now;
    return refusalsIn(memory).map(({ outcome, index, type }) => `${outcome} ${index} ${type}`);
  });
}

describe('what relays tell', () => {
  const told = 'kept security-events mapper_parsing_exception';

  test('is told when it grows, and for ten minutes', () => {
    expect(rounds([0, kept(7)], [20, kept(7)], [40, kept(8)], [600, kept(8)], [641, kept(8)])).toEqual([
      [],
      [],
      [told],
      [told],
      [],
    ]);
  });

  test('of what waits, is told for as long as it is tried again', () => {
    const found = rounds([0, ''], [20, held(5)], [60, held(5)], [120, held(5)]);
    const waits = 'held security-events validation_exception';
    expect(found).toEqual([[], [waits], [waits], []]);
  });

  test('counts from nothing where the relay began anew', () => {
    expect(rounds([0, kept(7)], [20, kept(2)])).toEqual([[], [told]]);
  });

  test('has one order, whatever comes first', () => {
    const [, one] = rounds([0, ''], [20, kept(1) + kept(1, 'security-a') + held(1)]);
    const [, other] = rounds([0, ''], [20, held(1) + kept(1, 'security-a') + kept(1)]);
    expect(one).toHaveLength(3);
    expect(other).toEqual(one);
  });

  test('is nothing that is no name of an index or an error', () => {
    const bad = 'keelson_relay_dead_letters_total{index="Call 555 now",error_type="mapper_parsing_exception"} 9\n';
    expect([...toRelayReading(`<html>\n${bad}`)]).toEqual([]);
  });
});
