import type { EffectOutcome } from '@keelson/runtime';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../resource.ts';
import { outputOf } from '../testing/sources.ts';
import type { Findings } from './judge.ts';
import type { Link } from './link.ts';
import { healthStanding } from './standing.ts';

const now = new Date('2026-05-01T10:00:00Z');
const sources = [
  { tool: 'falco', path: '/var/log/security/falco/events.log', index: 'events' },
  { tool: 'osquery', path: '/var/log/security/osquery/results.log', index: 'inventory' },
] as const;
const free: Link = { state: 'free', fill: 'low', queues: [], places: [], isSuspect: false };
const stuckNode: Link = { ...free, state: 'stuck', queues: ['otlp'], answer: 'UNAVAILABLE', waiting: 10_000 };
const stuckGateway: Link = { ...free, state: 'stuck', queues: ['elasticsearch/events'], answer: '401', waiting: 1 };
const flowing = { state: 'flowing', lastEvent: '2026-05-01T09:55:00Z' } as const;
const calm: Findings = {
  asked: { node: 3, gateway: 2 },
  answered: { node: 3, gateway: 2 },
  links: { node: free, gateway: free },
  tools: { falco: flowing, osquery: { state: 'silent' } },
  isGatewayUp: true,
  refuses: false,
  refusals: [],
  isRelayed: false,
};
const origin = 'https://elasticsearch.logging.svc:9200';
const chain = `nodes → otel-gateway → ${origin}`;

type Conditions = NonNullable<NonNullable<Agent['status']>['conditions']>;
interface Case {
  readonly findings?: Findings | 'failed';
  readonly ready?: { readonly node: boolean; readonly gateway: boolean };
  readonly output?: Parameters<typeof outputOf>[0];
  readonly said?: Conditions;
  readonly tools?: Record<string, { lastEventTime?: string }>;
}

function stand({ findings, ready = { node: true, gateway: true }, output, said = [], tools }: Case) {
  const outcome: EffectOutcome | undefined =
    findings === undefined
      ? undefined
      : findings === 'failed'
        ? { state: 'failed', at: now, message: 'late', attempts: 1 }
        : { state: 'done', at: now, result: { findings, isPending: false } };
  const self = {
    spec: { features: [], output: outputOf(output) },
    status: { conditions: said, pipeline: { tools } },
  } as unknown as Agent;
  const standing = healthStanding({ self, sources, collectors: { asked: [], nodes: 3, ready }, outcome, now });
  const of = (type: string) => standing.conditions.find((condition) => condition.type === type);
  const text = (type: string) => {
    const { status, reason, message } = of(type) ?? {};
    return of(type) === undefined ? undefined : `${status} ${reason}: ${message}`;
  };
  return { ...standing, pipeline: text('PipelineReady'), flow: text('EventsFlowing') };
}

const links = (node: Partial<Link>, gateway: Partial<Link> = {}) => ({
  ...calm,
  links: { node: { ...free, ...node }, gateway: { ...free, ...gateway } },
});

describe('the chain', () => {
  test.each<[string, Case, string]>([
    ['stands', { findings: calm }, `True Ready: ${chain}: nothing is held up`],
    [
      'is behind',
      { findings: links({}, { fill: 'half' }) },
      `True Behind: ${chain}: more comes than is taken; a queue is half full`,
    ],
    [
      'stands, and the store refuses some',
      { findings: { ...calm, refuses: true } },
      `True SomeRefused: ${chain}: the store refuses some documents; the log of the gateways names them`,
    ],
    [
      'stands, and what is refused is kept',
      {
        findings: {
          ...calm,
          refusals: [
            { outcome: 'kept', index: 'security-events', type: 'mapper_parsing_exception' },
            { outcome: 'kept', index: 'security-inventory', type: 'mapper_parsing_exception' },
            { outcome: 'held', index: 'security-events', type: 'es_rejected_execution_exception' },
          ],
        },
      },
      `True SomeRefused: ${chain}: documents for security-events and security-inventory are refused (mapper_parsing_exception) and kept in ` +
        'security-dead-letters, where error.message says why',
    ],
    [
      'stands, and what is refused is lost',
      {
        findings: {
          ...calm,
          refusals: [
            { outcome: 'kept', index: 'security-inventory', type: 'mapper_parsing_exception' },
            { outcome: 'lost', index: 'security-events', type: 'mapper_parsing_exception' },
          ],
        },
      },
      `True SomeRefused: ${chain}: documents for security-events are refused (mapper_parsing_exception) and lost, because security-dead-letters ` +
        'refuses them too: delete it, and its template makes it anew',
    ],
    [
      'is broken because dead letters are not taken',
      {
        findings: {
          ...links({}, { ...stuckGateway, answer: '403' }),
          refusals: [
            { outcome: 'held', index: 'security-dead-letters', type: 'security_exception' },
            { outcome: 'held', index: 'security-events', type: 'es_rejected_execution_exception' },
          ],
          isRelayed: true,
        },
      },
      `False DeadLettersRefused: gateways cannot write security-events to ${origin}: it refuses documents, and security-dead-letters does not take them as ` +
        'dead letters (security_exception): its account may not write there, see "the account in the store" in the guide; 1 event waits',
    ],
    [
      'is broken before a store that can make no index',
      {
        findings: {
          ...links({}, { ...stuckGateway, answer: '200' }),
          refusals: [{ outcome: 'held', index: 'security-events', type: 'validation_exception' }],
          isRelayed: true,
        },
      },
      `False StoreRefuses: gateways cannot write security-events to ${origin}: it takes nothing for security-events now (validation_exception): ` +
        'is the cluster at its limit of shards?; 1 event waits',
    ],
    [
      'is broken before a store that went away after that',
      {
        findings: {
          ...links({}, { ...stuckGateway, answer: '502' }),
          refusals: [{ outcome: 'held', index: 'security-events', type: 'validation_exception' }],
          isRelayed: true,
        },
      },
      `False StoreNotReached: gateways cannot write security-events to ${origin}: no answer: check its address, network policies, and its certificate ` +
        '(spec.output.elasticsearch.tls); 1 event waits',
    ],
    [
      'is broken before a relay that is away',
      {
        findings: {
          ...calm,
          links: { node: free, gateway: { ...free, state: 'stuck', queues: ['elasticsearch/events'] } },
          isRelayed: true,
        },
      },
      `False RelayNotReached: gateways cannot write security-events to ${origin}: the relay beside them does not answer, its log says why`,
    ],
    [
      'has no gateway',
      { findings: calm, ready: { node: true, gateway: false } },
      'False NoGatewayReady: no gateway is ready: events wait on the nodes; OtelPipelineReady says why',
    ],
    [
      'has no collector on a node',
      { ready: { node: false, gateway: true } },
      'False NoCollectorReady: no collector on a node is ready: OtelPipelineReady says why',
    ],
    [
      'is broken before a gateway that is gone',
      { findings: { ...links(stuckNode), isGatewayUp: false } },
      'False GatewayNotReached: the collectors on nodes cannot hand events over to otel-gateway: no gateway answers; about 10,000 events wait',
    ],
    [
      'is broken before gateways that run',
      { findings: links({ ...stuckNode, places: ['node-1', 'node-2', 'node-3', 'node-4'] }) },
      'False GatewayNotReached: the collectors on node-1, node-2, node-3 and 1 more cannot hand events over to otel-gateway: no connection, although gateways run: ' +
        'check network policies, DNS, and the log of a collector for certificates; about 10,000 events wait',
    ],
    [
      'is broken before a store that wants other credentials',
      { findings: links({}, stuckGateway), output: { auth: { secretRef: { name: 'login' } } } },
      `False StoreRefuses: gateways cannot write security-events to ${origin}: 401: check the credentials of spec.output.elasticsearch.auth; 1 event waits`,
    ],
    [
      'is broken before a store that wants credentials',
      { findings: links({}, stuckGateway) },
      `False StoreRefuses: gateways cannot write security-events to ${origin}: 401, it wants credentials: set spec.output.elasticsearch.auth; 1 event waits`,
    ],
    [
      'is broken before a store that is busy: that is the cause of what waits on nodes',
      { findings: links(stuckNode, { ...stuckGateway, answer: '503' }) },
      `False StoreNotReached: gateways cannot write security-events to ${origin}: it answers 503; 1 event waits, and more on nodes`,
    ],
    [
      'has a queue that is nearly full',
      { findings: links({}, { fill: 'full' }) },
      'False QueueFull: the queue of a gateway is nearly full: more comes than is taken; when it is full, files wait',
    ],
    [
      'cannot be looked at',
      { findings: { ...calm, answered: { node: 0, gateway: 0 } } },
      'Unknown CollectorsNotReached: the operator reaches none of the collectors (port 8888 of their pods): it runs outside of the cluster, or a network ' +
        'policy is in the way. Whether events flow is not known',
    ],
    [
      'cannot be looked at from its end',
      { findings: { ...calm, answered: { node: 3, gateway: 0 } } },
      'Unknown GatewaysNotReached: the operator reaches no gateway: whether the store takes events is not known',
    ],
  ])('%s', (_, input, expected) => {
    expect(stand(input).pipeline).toBe(expected);
  });

  test('nothing answers: the address, the network and the certificate are named', () => {
    const { answer: _, ...silent } = stuckGateway;
    expect(stand({ findings: links({}, silent) }).pipeline).toMatch(
      /^False StoreNotReached: .*: no answer: check its address, network policies, and its certificate \(spec\.output\.elasticsearch\.tls\)/,
    );
  });
});

describe('what tools tell', () => {
  const tools = (falco: Findings['tools'][string], osquery: Findings['tools'][string]) => ({
    ...calm,
    tools: { falco, osquery },
  });
  test.each<[string, Case, string]>([
    [
      'arrives, and who has nothing to tell is no error',
      { findings: calm },
      'True Flowing: events of falco arrive; osquery has told nothing yet',
    ],
    [
      'has been nothing for a while',
      { findings: tools({ state: 'quiet', lastEvent: '2026-05-01T08:00:00Z' }, { state: 'quiet' }) },
      'True Quiet: falco has told nothing new since 2026-05-01T08:00:00Z; osquery has told nothing new',
    ],
    [
      'has been nothing ever: nobody knows whether it would arrive',
      { findings: tools({ state: 'silent' }, { state: 'silent' }) },
      'Unknown NothingToRead: falco has told nothing yet; osquery has told nothing yet: nothing has happened, or it is written elsewhere than to /var/log/security',
    ],
    [
      'does not arrive where its index is held up',
      { findings: links({}, stuckGateway) },
      `False NothingArrives: nothing of falco arrives: gateways cannot write security-events to ${origin}: 401, it wants credentials: set spec.output.elasticsearch.auth; 1 event waits`,
    ],
    [
      'does not arrive from some nodes',
      { findings: links({ ...stuckNode, answer: 'RESOURCE_EXHAUSTED', places: ['node-7'] }) },
      'False NotAllArrive: not all of falco arrives: the collectors on node-7 cannot hand events over to otel-gateway: gateways have no room for more; about 10,000 events wait',
    ],
    [
      'is not known',
      { findings: { ...calm, answered: { node: 0, gateway: 2 } } },
      'Unknown CollectorsNotReached: the operator reaches no collector on a node',
    ],
  ])('%s', (_, input, expected) => {
    expect(stand(input).flow).toBe(expected);
  });

  test('is told by tool, with what waits', () => {
    const findings = tools({ ...flowing, waiting: 500 }, { state: 'silent' });
    expect(stand({ findings }).tools).toEqual({
      falco: { lastEventTime: '2026-05-01T09:55:00Z', waiting: 500 },
      osquery: {},
    });
  });

  test('and what was told of them before a restart stands until something newer is seen', () => {
    const known = {
      falco: { lastEventTime: '2026-05-01T09:45:00Z' },
      osquery: { lastEventTime: '2026-05-01T08:00:00Z' },
    };
    const after = stand({ findings: tools({ state: 'quiet' }, { state: 'silent' }), tools: known });
    expect(after.tools).toEqual(known);
    expect(after.flow).toBe(
      'True Flowing: events of falco arrive; osquery has told nothing new since 2026-05-01T08:00:00Z',
    );
    expect(stand({ tools: known }).tools).toEqual(known);
  });
});

describe('what was said before', () => {
  const broken = (at: string): Conditions => [
    { type: 'PipelineReady', status: 'False', reason: 'StoreRefuses', message: 'so', lastTransitionTime: at },
    { type: 'EventsFlowing', status: 'False', reason: 'NothingArrives', message: 'so', lastTransitionTime: at },
  ];

  test.each<[string, Case]>([
    ['nobody has looked since a restart', {}],
    ['looking failed', { findings: 'failed' }],
  ])('stands while %s', (_, input) => {
    const { pipeline, flow } = stand({ ...input, said: broken('2026-05-01T09:59:50Z') });
    expect([pipeline, flow]).toEqual(['False StoreRefuses: so', 'False NothingArrives: so']);
    expect(stand(input).conditions).toEqual([]);
  });

  test('stands while somebody tries in vain, and not yet long enough to be sure', () => {
    const findings = links({}, { isSuspect: true });
    expect(stand({ findings, said: broken('2026-05-01T09:59:50Z') }).pipeline).toBe('False StoreRefuses: so');
    expect(stand({ findings }).pipeline).toBeUndefined();
  });

  test('a link that is broken for over a minute keeps its agent from being ready, and is an event that repeats no figures', () => {
    const findings = links(stuckNode);
    expect(stand({ findings, said: broken('2026-05-01T09:59:01Z') }).broken).toBeUndefined();
    const { broken: lasting, events } = stand({ findings, said: broken('2026-05-01T09:59:00Z') });
    expect(lasting).toMatchObject({ reason: 'GatewayNotReached' });
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'EventsHeldUp',
        message: expect.stringMatching(/^events wait: the collectors on nodes cannot .*certificates$/),
      },
    ]);
    expect(stand({ findings: calm, said: broken('2026-05-01T09:00:00Z') }).broken).toBeUndefined();
    expect(stand({ findings: calm }).events).toEqual([]);
  });
});
