/**
 * How events flow, out of what collectors told now and what they told before. Pure: check.ts asks and remembers, standing.ts makes words
 * of it.
 *
 * Invariant: findings change only when there is something to say. A link that breaks, a queue that fills up and a tool that falls silent
 * are found at once. Figures that move all the time are coarse, and there only in trouble; the time of the last event of a tool that
 * goes on telling is moved on every ten minutes. So the status of an agent whose events flow is written once in ten minutes at most.
 */
import type { Answer } from './ask.ts';
import type { Collector, Role } from './collectors.ts';
import { type Followed, follow, type Known } from './follow.ts';
import { type Fill, fillOf, type Link, linkOf, waitingIn } from './link.ts';
import { followRefusals, type RefusalMemory, type Refused, type RelayReading, refusalsIn } from './refusals.ts';
import { followTools, QUIET_MS, type ReadTool, type ToolFlow, type ToolMemory, toolFlows } from './tools.ts';

export interface Findings {
  readonly asked: Readonly<Record<Role, number>>;
  /** Within a minute. */
  readonly answered: Readonly<Record<Role, number>>;
  /** By who sends: collectors on nodes to gateways, gateways to the store. */
  readonly links: Readonly<Record<Role, Link>>;
  readonly tools: Readonly<Record<string, ToolFlow>>;
  /** A gateway answered just now. */
  readonly isGatewayUp: boolean;
  /** The store refused documents within ten minutes. */
  readonly refuses: boolean;
  /** What relays say of it, within ten minutes; of what waits, within a minute and a half. */
  readonly refusals: readonly Refused[];
  /** Gateways have a relay beside them. */
  readonly isRelayed: boolean;
}

/** What is remembered from round to round. */
export interface Memory {
  readonly at: number;
  readonly collectors: ReadonlyMap<string, Known>;
  readonly tools: ReadonlyMap<string, ToolMemory>;
  readonly fill: Readonly<Record<Role, Fill>>;
  readonly refusedAt?: number;
  readonly relays: ReadonlyMap<string, RelayReading>;
  readonly refusals: RefusalMemory;
}

export interface Round {
  readonly at: number;
  readonly asked: readonly Collector[];
  readonly answers: readonly Answer[];
  /** How many collectors there are on nodes, asked or not. */
  readonly nodes: number;
  readonly tools: readonly ReadTool[];
}

/** As long what a collector said last stands when it does not answer: one that is busy should not make the status flicker. */
const PATIENCE_MS = 60_000;

/** Judges a round by the one before. */
export function judge(before: Memory | undefined, round: Round): { memory: Memory; findings: Findings } {
  const { at, answers, tools } = round;
  const lastRound = before === undefined ? {} : { lastRound: before.at };
  const answered = answers.map(({ collector, reading }) =>
    follow(collector, reading, { before: before?.collectors.get(idOf(collector)), ...lastRound, at }),
  );
  const followed = [...answered, ...missed(round, before)];
  const of = (role: Role) => followed.filter(({ collector }) => collector.role === role);
  const [nodes, gateways] = [of('node'), of('gateway')];
  const fill = { node: fillOf(nodes, before?.fill.node), gateway: fillOf(gateways, before?.fill.gateway) };
  const scale = nodes.length === 0 ? 1 : Math.max(1, round.nodes / nodes.length);
  const links = { node: linkOf(nodes, fill.node, scale), gateway: linkOf(gateways, fill.gateway, 1) };
  const isCalm = !hasTrouble(links.node) && !hasTrouble(links.gateway);
  const refused = followed.some(({ growth }) => (growth?.refused ?? 0) > 0);
  const refusedAt = refused ? at : before?.refusedAt;
  const relays = answers.flatMap(({ collector, relay }) =>
    relay === undefined ? [] : [{ id: idOf(collector), before: before?.relays.get(idOf(collector)), now: relay }],
  );
  const memory: Memory = {
    at,
    collectors: new Map(followed.map(({ collector, known }) => [idOf(collector), known])),
    tools: followTools(tools, nodes, before?.tools, { at, isCalm: isCalm && !isSuspect(links) }),
    fill,
    ...(refusedAt === undefined ? {} : { refusedAt }),
    relays: new Map([...stillAsked(before?.relays, round), ...relays.map(({ id, now }) => [id, now] as const)]),
    refusals: followRefusals(relays, before?.refusals, at),
  };
  const waits = {
    nodes: hasTrouble(links.node) ? waitingIn(nodes) * scale : 0,
    index: (index: string) => (hasTrouble(links.gateway) ? waitingFor(index, gateways) : 0),
  };
  return {
    memory,
    findings: {
      asked: countByRole(round.asked),
      answered: countByRole(followed.map(({ collector }) => collector)),
      links,
      tools: toolFlows(tools, nodes, memory.tools, { at, waits }),
      isGatewayUp: answers.some(({ collector }) => collector.role === 'gateway'),
      refuses: refusedAt !== undefined && at - refusedAt < QUIET_MS,
      refusals: refusalsIn(memory.refusals),
      isRelayed: round.asked.some(({ hasRelay }) => hasRelay === true),
    },
  };
}

function missed({ asked, answers, at }: Round, before: Memory | undefined): readonly Followed[] {
  const answered = new Set(answers.map(({ collector }) => idOf(collector)));
  return asked.flatMap((collector) => {
    const known = answered.has(idOf(collector)) ? undefined : before?.collectors.get(idOf(collector));
    return known === undefined || at - known.at > PATIENCE_MS ? [] : [{ collector, known, growth: undefined }];
  });
}

/** One that does not answer now will count on from where it was. */
function stillAsked(
  relays: ReadonlyMap<string, RelayReading> = new Map(),
  { asked }: Round,
): readonly (readonly [string, RelayReading])[] {
  const ids = new Set(asked.map(idOf));
  return [...relays].filter(([id]) => ids.has(id));
}

/** Whether somebody seems to be held up: worth a closer look. */
export function isSuspect(links: Findings['links']): boolean {
  return Object.values(links).some((link) => link.isSuspect);
}

/** Whether something is held up, or about to be. */
export function hasTrouble({ state, fill }: Link): boolean {
  return state === 'stuck' || fill !== 'low';
}

/** Exporters are named after their index: `elasticsearch/events`. */
function waitingFor(index: string, gateways: readonly Followed[]): number {
  const exporters = new Set(gateways.flatMap(({ known }) => Object.keys(known.reading.queues)));
  return [...exporters]
    .filter((exporter) => exporter.endsWith(`/${index}`))
    .reduce((sum, exporter) => sum + waitingIn(gateways, exporter), 0);
}

function countByRole(collectors: readonly Collector[]): Readonly<Record<Role, number>> {
  const count = (role: Role) => collectors.filter((one) => one.role === role).length;
  return { node: count('node'), gateway: count('gateway') };
}

/** A pod that is made anew has another address, and nothing to do with the one before. */
function idOf({ role, name, ip }: Collector): string {
  return `${role} ${name} ${ip}`;
}
