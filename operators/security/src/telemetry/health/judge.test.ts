import { describe, expect, test } from 'vitest';
import type { Collector } from './collectors.ts';
import { type Findings, judge, type Memory } from './judge.ts';
import { coarse } from './link.ts';
import type { Reading } from './reading.ts';
import { gateway, nodeCollector, queueOf, readingOf } from './testing/figures.ts';

const tools = [
  { tool: 'falco', index: 'events' },
  { tool: 'tetragon', index: 'events' },
  { tool: 'osquery', index: 'inventory' },
] as const;
const start = Date.parse('2026-05-01T10:00:00Z');

type Seen = readonly (readonly [Collector, Reading | 'no answer'])[];

/** Rounds one after the other: each so many seconds after the first. */
function rounds(...list: readonly (readonly [seconds: number, seen: Seen])[]): Findings[] {
  let memory: Memory | undefined;
  return list.map(([seconds, seen]) => {
    const judged = judge(memory, {
      at: start + seconds * 1000,
      asked: seen.map(([collector]) => collector),
      answers: seen.flatMap(([collector, reading]) => (reading === 'no answer' ? [] : [{ collector, reading }])),
      nodes: seen.filter(([{ role }]) => role === 'node').length,
      tools,
    });
    memory = judged.memory;
    return judged.findings;
  });
}
const last = (found: readonly Findings[]): Findings => found.at(-1) as Findings;

/** A collector on a node that read so much of Falco, sent so much, and has the rest. */
const node = (read: number, sent: number, more: Partial<Reading> = {}): [Collector, Reading] => [
  nodeCollector(),
  readingOf({ received: { 'filelog/falco': read }, queues: { otlp: queueOf(sent, read - sent) }, ...more }),
];
const idleGateway: [Collector, Reading] = [gateway(), readingOf({ queues: { 'elasticsearch/events': queueOf(10) } })];
const heldGateway = (waiting: number, answers: Record<string, number> = {}): [Collector, Reading] => [
  gateway(),
  readingOf({ queues: { 'elasticsearch/events': queueOf(10, waiting) }, answers }),
];

describe('a link', () => {
  test('is free where all that is read is handed on', () => {
    const { links } = last(rounds([0, [node(10, 10), idleGateway]], [20, [node(90, 90), idleGateway]]));
    expect(links).toEqual({
      node: { state: 'free', fill: 'low', queues: [], places: [], isSuspect: false },
      gateway: { state: 'free', fill: 'low', queues: [], places: [], isSuspect: false },
    });
  });

  test('is suspect as soon as somebody tries in vain, and stuck when that lasts: within a minute, told closely', () => {
    const found = rounds(
      [0, [node(10, 10)]],
      [20, [node(15, 10, { answers: { UNAVAILABLE: 3 } })]],
      [30, [node(20, 10, { answers: { UNAVAILABLE: 4 } })]],
      // No attempt since: what was answered before still counts.
      [40, [node(22, 10, { answers: { UNAVAILABLE: 4 } })]],
    );
    expect(found.map(({ links }) => [links.node.isSuspect, links.node.state])).toEqual([
      [false, 'free'],
      [true, 'free'],
      [true, 'free'],
      [false, 'stuck'],
    ]);
    expect(last(found).links.node).toMatchObject({ queues: ['otlp'], places: [], answer: 'UNAVAILABLE', waiting: 10 });
  });

  test('is stuck at once when it tried in vain from one round to the next', () => {
    const found = rounds([0, [node(10, 10)]], [20, [node(60, 30)]], [40, [node(90, 30)]]);
    expect(found.map(({ links }) => links.node.state)).toEqual(['free', 'free', 'stuck']);
  });

  test('an event that waits for others to make a batch with holds nothing up', () => {
    const waiting: [Collector, Reading] = [
      nodeCollector(),
      readingOf({ queues: { otlp: queueOf(10, 1, { isSending: false }) } }),
    ];
    expect(last(rounds([0, [waiting]], [20, [waiting]], [60, [waiting]])).links.node).toMatchObject({
      state: 'free',
      isSuspect: false,
    });
  });

  test('a long queue that gets shorter is not stuck', () => {
    const found = rounds([0, [node(500, 10)]], [20, [node(600, 60)]], [40, [node(700, 110)]]);
    expect(found.map(({ links }) => links.node.state)).toEqual(['free', 'free', 'free']);
  });

  test('is free again when something got through', () => {
    const found = rounds([0, [node(15, 10)]], [20, [node(15, 10)]], [30, [node(15, 12)]]);
    expect(found.map(({ links }) => links.node.state)).toEqual(['free', 'stuck', 'free']);
  });

  test('stays stuck over the death of the program, and over a round in which it does not answer', () => {
    const reborn = heldGateway(30);
    const found = rounds(
      [0, [heldGateway(20)]],
      [20, [heldGateway(20, { '401': 2 })]],
      [30, [[gateway(), 'no answer']]],
      [40, [[gateway(), { ...reborn[1], uptime: 3, queues: { 'elasticsearch/events': queueOf(0, 30) } }]]],
    );
    expect(found.map(({ links }) => links.gateway.state)).toEqual(['free', 'stuck', 'stuck', 'stuck']);
    expect(last(found).links.gateway.answer).toBe('401');
  });

  test('nothing is claimed of who has not answered for over a minute', () => {
    const found = rounds([0, [heldGateway(20)]], [20, [heldGateway(20)]], [90, [[gateway(), 'no answer']]]);
    expect(last(found)).toMatchObject({ answered: { gateway: 0 }, links: { gateway: { state: 'free' } } });
  });

  test('names who is stuck when others are not, and goes on doing so', () => {
    const other = (sent: number): [Collector, Reading] => [
      nodeCollector('node-20'),
      readingOf({ queues: { otlp: queueOf(sent) } }),
    ];
    const found = rounds([0, [node(15, 10), other(1)]], [20, [node(15, 10), other(2)]], [30, [node(15, 10), other(2)]]);
    expect(found.slice(1).map(({ links }) => links.node.places)).toEqual([['node-1'], ['node-1']]);
  });

  test('is called half full and full, and must clearly fall before it is called less', () => {
    const filled = (share: number): [Collector, Reading] => [
      gateway(),
      readingOf({ queues: { 'elasticsearch/events': { sent: share, bytes: share, capacity: 100, isSending: true } } }),
    ];
    const shares = [10, 55, 45, 91, 80, 60, 30, 20];
    const found = rounds(...shares.map((share, i) => [i * 20, [filled(share)]] as const));
    expect(found.map(({ links }) => links.gateway.fill)).toEqual([
      'low',
      'half',
      'half',
      'full',
      'full',
      'half',
      'half',
      'low',
    ]);
  });
});

describe('a tool', () => {
  const read = (falco: number, osquery = 0, more: Partial<Reading> = {}): Seen => [
    [nodeCollector(), readingOf({ received: { 'filelog/falco': falco, 'filelog/osquery': osquery }, ...more })],
  ];

  test('that tells nothing is silent, one that told something before we looked is quiet, one that goes on flows', () => {
    const found = rounds([0, read(5, 0)], [20, read(5, 0)], [40, read(6, 0)]);
    expect(found.map(({ tools: { falco } }) => falco?.state)).toEqual(['quiet', 'quiet', 'flowing']);
    expect(last(found).tools).toEqual({
      falco: { state: 'flowing', lastEvent: '2026-05-01T10:00:40Z' },
      tetragon: { state: 'silent' },
      osquery: { state: 'silent' },
    });
  });

  test('while it goes on, its last event is moved on every ten minutes and not more often', () => {
    const found = rounds(...Array.from({ length: 62 }, (_, i) => [i * 20, read(i)] as const));
    expect([...new Set(found.map(({ tools: { falco } }) => falco?.lastEvent))]).toEqual([
      undefined,
      '2026-05-01T10:00:20Z',
      '2026-05-01T10:10:20Z',
      '2026-05-01T10:20:20Z',
    ]);
    // Nothing else moves either: the same findings are no reason to look at the agent again.
    expect(new Set(found.slice(1).map((one) => JSON.stringify(one))).size).toBe(3);
  });

  test('that falls silent has the time of its very last event, ten minutes later', () => {
    const found = rounds([0, read(1)], [20, read(2)], [300, read(3)], [880, read(3)], [900, read(3)]);
    expect(found.map(({ tools: { falco } }) => [falco?.state, falco?.lastEvent?.slice(14, 19)])).toEqual([
      ['quiet', undefined],
      ['flowing', '00:20'],
      ['flowing', '00:20'],
      ['flowing', '00:20'],
      ['quiet', '05:00'],
    ]);
  });

  test('is not forgotten when its collectors are made anew, and what those count from their start is new', () => {
    const [[, reading]] = read(1) as [[Collector, Reading]];
    const anew: Seen = [[nodeCollector('node-other'), { ...reading, uptime: 4 }]];
    const found = rounds([0, read(5)], [20, read(6)], [400, read(0, 0, { uptime: 3 })], [420, anew]);
    expect(found.map(({ tools: { falco } }) => falco?.state)).toEqual(['quiet', 'flowing', 'flowing', 'flowing']);
    expect(last(rounds([0, read(5)], [20, anew])).tools.falco?.state).toBe('flowing');
  });

  test('has its part of what waits, by what came in since it was held up', () => {
    const held = (falco: number, tetragon: number, osquery: number): Seen => [
      [
        nodeCollector(),
        readingOf({
          received: { 'filelog/falco': falco, 'filelog/tetragon': tetragon, 'filelog/osquery': osquery },
          queues: { otlp: queueOf(falco + tetragon + osquery) },
        }),
      ],
      [
        gateway(),
        readingOf({
          queues: {
            'elasticsearch/events': queueOf(10, falco + tetragon - 200),
            'elasticsearch/inventory': queueOf(osquery),
          },
        }),
      ],
    ];
    const found = rounds(
      [0, held(100, 100, 100)],
      [20, held(100, 101, 100)],
      [30, held(200, 400, 150)],
      [45, held(300, 500, 200)],
    );
    expect(last(found).links.gateway).toMatchObject({ state: 'stuck', queues: ['elasticsearch/events'], waiting: 500 });
    expect(last(found).tools).toMatchObject({ falco: { waiting: 200 }, tetragon: { waiting: 200 } });
    expect(last(found).tools.osquery).not.toHaveProperty('waiting');
  });
});

test('documents that the store refused are told of for ten minutes', () => {
  const refusing = (refused: number): Seen => [[gateway(), readingOf({ refused })]];
  const found = rounds([0, refusing(7)], [20, refusing(7)], [40, refusing(8)], [600, refusing(8)], [640, refusing(8)]);
  expect(found.map(({ refuses }) => refuses)).toEqual([false, false, true, true, false]);
});

test.each([
  [0, 0],
  [0.4, 0],
  [1, 1],
  [4, 2],
  [9, 5],
  [12_345, 10_000],
  [60_000, 50_000],
  [1e9, 1e9],
])('about %d is told as %d', (count, told) => {
  expect(coarse(count)).toBe(told);
});
