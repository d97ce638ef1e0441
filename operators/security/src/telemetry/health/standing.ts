/**
 * How the pipeline stands, in words: `PipelineReady` (does the chain stand, and if not, which link is broken), `EventsFlowing` (does what
 * tools tell arrive) and `status.pipeline.tools`.
 *
 * - What cannot be known is Unknown, and keeps no agent from being ready: the operator may run where it reaches no collector.
 * - A tool that has nothing to tell is not an error. What was read and does not arrive is.
 * - A link that is broken for over a minute is one of the pipeline: `OtelPipelineReady` and `Ready` say so too, because that is where people look.
 * - Outcomes are forgotten when the operator restarts: until the collectors were compared anew, what was said stands.
 */
import type { ConditionNote, EffectOutcome, EventNote } from '@keelson/runtime';
import { enumerate, LONGEST_MESSAGE, shorten } from '../../assess/text.ts';
import { GATEWAY } from '../../names.ts';
import type { Agent } from '../../resource.ts';
import { type Store, storeOf } from '../../store.ts';
import type { LogSource } from '../source.ts';
import { findingsOf } from './check.ts';
import type { Collectors } from './collectors.ts';
import { type Findings, isSuspect } from './judge.ts';
import { QUIET_MS, type ToolFlow } from './tools.ts';
import { refusalText, troubleOf, waitingText } from './words.ts';

const PIPELINE_READY = 'PipelineReady';
const EVENTS_FLOWING = 'EventsFlowing';

/** As long a link must be broken before its agent is not ready. */
const GRACE_MS = 60_000;

type Verdict = Omit<ConditionNote, 'type'>;
type ToolStatus = NonNullable<NonNullable<NonNullable<Agent['status']>['pipeline']>['tools']>;

export interface HealthStanding {
  readonly conditions: readonly ConditionNote[];
  /** For `status.pipeline.tools`; undefined where nothing is known. */
  readonly tools?: ToolStatus;
  readonly events: readonly EventNote[];
  /** Why the pipeline does not do what it is there for although its pods run, once that is sure. */
  readonly broken?: { readonly reason: string; readonly message: string };
}

/** Where there is no pipeline, there is nothing to say. */
export const noHealth: HealthStanding = { conditions: [], events: [] };

export interface HealthInput {
  readonly self: Agent;
  readonly sources: readonly LogSource[];
  readonly collectors: Collectors;
  /** Of the effect that asks them, if it has run. */
  readonly outcome: EffectOutcome | undefined;
  readonly now: Date;
}

/** Out of what was found, and what was said before. */
export function healthStanding({ self, sources, collectors, outcome, now }: HealthInput): HealthStanding {
  const store = storeOf(self.spec.output);
  if (store === undefined) return noHealth;
  const { status } = self;
  const findings = findingsOf(outcome);
  const tools = toolStatus(sources, findings, status?.pipeline?.tools);
  const ready = pipelineVerdict(findings, collectors, store) ?? said(status, PIPELINE_READY);
  const flowing =
    findings === undefined ? said(status, EVENTS_FLOWING) : flowVerdict(findings, ready, { sources, tools, now });
  const isBroken = ready?.status === 'False' && isLasting(status, now);
  const isKnown = Object.values(tools).some((tool) => Object.keys(tool).length > 0);
  return {
    conditions: [...toCondition(PIPELINE_READY, ready), ...toCondition(EVENTS_FLOWING, flowing)],
    ...(isKnown ? { tools } : {}),
    events: ready?.status === 'False' ? brokenEvents(findings, store) : [],
    ...(isBroken ? { broken: { reason: ready.reason, message: ready.message } } : {}),
  };
}

/** Whether it has been said for a minute that the chain is broken. */
function isLasting(status: Agent['status'], now: Date): boolean {
  const said = status?.conditions?.find(({ type }) => type === PIPELINE_READY);
  if (said?.status !== 'False' || said.lastTransitionTime === undefined) return false;
  return now.getTime() - new Date(said.lastTransitionTime).getTime() >= GRACE_MS;
}

/** Undefined as long as there is nothing new to say. */
function pipelineVerdict(findings: Findings | undefined, { ready }: Collectors, store: Store): Verdict | undefined {
  const no = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });
  if (!ready.gateway)
    return no('NoGatewayReady', 'no gateway is ready: events wait on the nodes; OtelPipelineReady says why');
  if (!ready.node) return no('NoCollectorReady', 'no collector on a node is ready: OtelPipelineReady says why');
  if (findings === undefined) return undefined;
  const { links, asked, answered } = findings;
  const unknown = (reason: string, message: string): Verdict => ({ status: 'Unknown', reason, message });
  if (answered.node + answered.gateway === 0) return unknown('CollectorsNotReached', NOBODY);
  // What comes later in the chain is the cause of what comes before it.
  for (const role of ['gateway', 'node'] as const) {
    if (links[role].state !== 'stuck') continue;
    const { reason, text } = troubleOf(role, findings, store);
    const behind = role === 'gateway' && links.node.state === 'stuck' ? `, and more on nodes` : '';
    return no(reason, `${text}${waitingText(links[role])}${behind}`);
  }
  // Held up, and not long enough to be sure.
  if (isSuspect(links)) return undefined;
  for (const [role, who] of [
    ['gateway', 'a gateway'],
    ['node', 'a collector on a node'],
  ] as const) {
    if (links[role].fill === 'full')
      return no(
        'QueueFull',
        `the queue of ${who} is nearly full: more comes than is taken; when it is full, files wait`,
      );
  }
  if (answered.gateway === 0 && asked.gateway > 0)
    return unknown(
      'GatewaysNotReached',
      'the operator reaches no gateway: whether the store takes events is not known',
    );
  if (answered.node === 0 && asked.node > 0)
    return unknown(
      'NodesNotReached',
      'the operator reaches no collector on a node: whether events are read is not known',
    );
  const { origin } = new URL(store.url);
  const chain = `nodes → ${GATEWAY} → ${origin}`;
  if (links.gateway.fill === 'half' || links.node.fill === 'half')
    return { status: 'True', reason: 'Behind', message: `${chain}: more comes than is taken; a queue is half full` };
  const refused = refusalText(findings, store);
  if (refused !== undefined) return { status: 'True', reason: 'SomeRefused', message: `${chain}: ${refused}` };
  if (findings.refuses)
    return {
      status: 'True',
      reason: 'SomeRefused',
      message: `${chain}: the store refuses some documents; the log of the gateways names them`,
    };
  return { status: 'True', reason: 'Ready', message: `${chain}: nothing is held up` };
}

const NOBODY =
  'the operator reaches none of the collectors (port 8888 of their pods): it runs outside of the cluster, or a network policy is in ' +
  'the way. Whether events flow is not known';

function flowVerdict(
  findings: Findings,
  ready: Verdict | undefined,
  { sources, tools, now }: { sources: readonly LogSource[]; tools: ToolStatus; now: Date },
): Verdict {
  const { links, answered } = findings;
  if (ready?.status === 'False' && ready.reason !== 'QueueFull') {
    const isPart = links.gateway.places.length + links.node.places.length > 0;
    const reason = isPart ? 'NotAllArrive' : 'NothingArrives';
    const concerned = enumerate(heldUp(sources, findings));
    return {
      status: 'False',
      reason,
      message: `${isPart ? 'not all' : 'nothing'} of ${concerned} arrives: ${ready.message}`,
    };
  }
  if (answered.node === 0) {
    const message = answered.gateway === 0 ? NOBODY : 'the operator reaches no collector on a node';
    return { status: 'Unknown', reason: 'CollectorsNotReached', message };
  }
  const flows = sources.map(({ tool }) => ({ tool, ...flowOf(findings.tools[tool], tools[tool]?.lastEventTime, now) }));
  const of = (state: ToolFlow['state']) => flows.filter((flow) => flow.state === state);
  const texts = [
    ...(of('flowing').length === 0 ? [] : [`events of ${enumerate(of('flowing').map(({ tool }) => tool))} arrive`]),
    ...of('quiet').map(({ tool, last }) => `${tool} has told nothing new${last === undefined ? '' : ` since ${last}`}`),
    ...of('silent').map(({ tool }) => `${tool} has told nothing yet`),
  ];
  const message = texts.join('; ');
  if (of('silent').length === flows.length)
    return {
      status: 'Unknown',
      reason: 'NothingToRead',
      message: `${message}: nothing has happened, or it is written elsewhere than to /var/log/security`,
    };
  return { status: 'True', reason: of('flowing').length > 0 ? 'Flowing' : 'Quiet', message };
}

/** The tools whose events wait; all where that cannot be told. */
function heldUp(sources: readonly LogSource[], { links, tools }: Findings): readonly string[] {
  const stuck = (index: string) => links.gateway.queues.some((queue) => queue.endsWith(`/${index}`));
  const isStore = links.gateway.state === 'stuck' && links.node.state !== 'stuck';
  const concerned = sources.filter(({ index }) => !isStore || stuck(index));
  const telling = concerned.filter(({ tool }) => tools[tool]?.state !== 'silent');
  return (telling.length > 0 ? telling : concerned.length > 0 ? concerned : sources).map(({ tool }) => tool);
}

/** What was seen by this process; before it saw anything, what was told earlier counts. */
function flowOf(flow: ToolFlow | undefined, last: string | undefined, now: Date) {
  const known = last === undefined ? {} : { last };
  if (flow?.lastEvent !== undefined || last === undefined) return { state: flow?.state ?? 'silent', ...known };
  // The time of a tool that flows is told up to ten minutes late.
  const isFresh = now.getTime() - new Date(last).getTime() < 2 * QUIET_MS;
  return { state: isFresh ? ('flowing' as const) : ('quiet' as const), ...known };
}

function toolStatus(
  sources: readonly LogSource[],
  findings: Findings | undefined,
  before: ToolStatus = {},
): ToolStatus {
  const entries = sources.map(({ tool }): [string, ToolStatus[string]] => {
    if (findings === undefined) return [tool, before[tool] ?? {}];
    const { lastEvent = before[tool]?.lastEventTime, waiting } = findings.tools[tool] ?? {};
    return [
      tool,
      {
        ...(lastEvent === undefined ? {} : { lastEventTime: lastEvent }),
        ...(waiting === undefined ? {} : { waiting }),
      },
    ];
  });
  return Object.fromEntries(entries);
}

function brokenEvents(findings: Findings | undefined, store: Store): readonly EventNote[] {
  const role = (['gateway', 'node'] as const).find((one) => findings?.links[one].state === 'stuck');
  if (findings === undefined || role === undefined) return [];
  const message = shorten(`events wait: ${troubleOf(role, findings, store).text}`, LONGEST_MESSAGE);
  return [{ type: 'Warning', reason: 'EventsHeldUp', message }];
}

function toCondition(type: string, verdict: Verdict | undefined): readonly ConditionNote[] {
  return verdict === undefined ? [] : [{ type, ...verdict, message: shorten(verdict.message, LONGEST_MESSAGE) }];
}

function said(status: Agent['status'], type: string): Verdict | undefined {
  const found = status?.conditions?.find((condition) => condition.type === type);
  return found === undefined ? undefined : { status: found.status, reason: found.reason, message: found.message };
}
