import type { EffectOutcome } from '@keelson/runtime';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../resource.ts';
import { outputOf } from '../testing/sources.ts';
import { templateStanding } from './standing.ts';

const at = new Date('2026-05-01T10:00:00Z');
const done = (remarks: readonly string[] = []): EffectOutcome => ({
  state: 'done',
  at,
  result: { templates: ['a', 'b', 'c'], remarks },
});
const failed = (message: string): EffectOutcome => ({ state: 'failed', at, message, attempts: 3 });
const inPlace = {
  type: 'IndexTemplatesReady',
  status: 'True',
  reason: 'InPlace',
  message: '3 index templates are in place',
} as const;

function agentOf(elasticsearch = {}, status = {}): Agent {
  return { spec: { features: [], output: outputOf(elasticsearch) }, status } as unknown as Agent;
}
const known = { conditions: [inPlace], pipeline: { templates: inPlace.message } };

describe('how the index templates stand', () => {
  test('in place, with whatever is odd about it', () => {
    expect(templateStanding(agentOf(), done())).toEqual({ conditions: [inPlace], events: [], text: inPlace.message });
    expect(templateStanding(agentOf(), done(['but old'])).conditions).toEqual([
      { ...inPlace, reason: 'InPlaceWithRemarks', message: '3 index templates are in place; but old' },
    ]);
  });

  test.each(['Forbidden', 'Refused', 'LoginRefused', 'CertificateRefused'])(
    '%s is what the store said: False',
    (reason) => {
      expect(templateStanding(agentOf(), failed(`${reason}: do: this`))).toEqual({
        conditions: [{ type: 'IndexTemplatesReady', status: 'False', reason, message: 'do: this' }],
        events: [],
        text: 'not in place: do: this',
      });
    },
  );

  test.each([
    ['Unreachable: no answer', 'no answer'],
    ['SecretMissing: none', 'none'],
    ['effect took longer than 10s', 'effect took longer than 10s'],
  ])('%s is no word of the store: no condition, or the last one', (text, message) => {
    const events = [{ type: 'Warning', reason: 'IndexTemplatesDelayed', message: `index templates wait: ${message}` }];
    expect(templateStanding(agentOf(), failed(text))).toEqual({
      conditions: [],
      events,
      text: `not in place: ${message}`,
    });
    expect(templateStanding(agentOf({}, known), failed(text))).toEqual({
      conditions: [inPlace],
      events,
      text: `as they were: ${message}`,
    });
  });

  test('what was said stands while the operator has not asked again, as after a restart', () => {
    expect(templateStanding(agentOf({}, known), undefined)).toEqual({
      conditions: [inPlace],
      events: [],
      text: inPlace.message,
    });
    expect(templateStanding(agentOf(), undefined)).toEqual({ conditions: [], events: [] });
  });

  test('left to the user, nothing is claimed', () => {
    expect(templateStanding(agentOf({ manageTemplates: false }, known), undefined)).toEqual({
      conditions: [],
      events: [],
      text: 'not managed: spec.output.elasticsearch.manageTemplates is false',
    });
  });
});
