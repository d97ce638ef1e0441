import { describe, expect, test } from 'vitest';
import { featureCards } from './feature-card.ts';
import { features } from './features/index.ts';

describe('featureCards', () => {
  test('every feature of the list has a card, and says what it installs with its defaults', () => {
    const cards = featureCards();
    expect(cards.map(({ id }) => id)).toEqual(features.map(({ id }) => id));
    for (const { id, installs } of cards) expect(installs, id).not.toEqual([]);
  });

  test('what writes a file for the pipeline says where its events go', () => {
    const osquery = featureCards().find(({ id }) => id === 'osquery');
    expect(osquery?.events).toEqual({
      from: '/var/log/security/osquery/osqueryd.results.log on every node',
      to: 'the index in spec.output.<store>.indices.inventory',
    });
  });
});
