/** How the events of each tool come in: by what the collectors on nodes count of its file. Pure. */
import { receiverId } from '../receiver.ts';
import type { EventIndex } from '../source.ts';
import type { Followed } from './follow.ts';
import { coarse } from './link.ts';

/** A tool whose events are read on nodes. */
export interface ReadTool {
  readonly tool: string;
  readonly index: EventIndex;
}

export interface ToolFlow {
  /** Something came within ten minutes; something came before that; nothing came since the collectors started. */
  readonly state: 'flowing' | 'quiet' | 'silent';
  /** When something was last seen to come; while it flows, up to ten minutes older than that. */
  readonly lastEvent?: string;
  /** About how many wait on their way; only told in trouble. */
  readonly waiting?: number;
}

/** What is remembered of a tool. */
export interface ToolMemory {
  readonly lastSeen?: number;
  /** What was told of it. */
  readonly told?: number;
  /** Events seen to come in; and how many of them had come when nothing was held up. */
  readonly total: number;
  readonly calm: number;
}

/** As long without an event, and a tool is quiet; as much later, and the time of the last one is told anew. */
export const QUIET_MS = 10 * 60_000;

/** What is known of each tool after this round. */
export function followTools(
  tools: readonly ReadTool[],
  nodes: readonly Followed[],
  before: ReadonlyMap<string, ToolMemory> | undefined,
  { at, isCalm }: { readonly at: number; readonly isCalm: boolean },
): ReadonlyMap<string, ToolMemory> {
  const counted = tools.map(({ tool }): [string, ToolMemory] => {
    const old: ToolMemory = before?.get(tool) ?? { total: 0, calm: 0 };
    const grown = nodes.reduce((sum, { growth }) => sum + (growth?.received[receiverId({ tool })] ?? 0), 0);
    const total = old.total + grown;
    const seen = grown > 0 ? { lastSeen: at } : {};
    return [tool, { ...old, ...seen, total, calm: isCalm ? total : old.calm }];
  });
  // All are told together: one write for four tools.
  const isDue = counted.some(([, { lastSeen, told }]) => lastSeen !== undefined && isStale(lastSeen, told, at));
  return new Map(counted.map(([tool, one]) => [tool, isDue ? tell(one) : one]));
}

/** What was told is too old, or the tool has fallen silent and the very last time counts. */
function isStale(lastSeen: number, told: number | undefined, at: number): boolean {
  if (told === undefined || lastSeen - told >= QUIET_MS) return true;
  return at - lastSeen >= QUIET_MS && told < lastSeen;
}

function tell(memory: ToolMemory): ToolMemory {
  return memory.lastSeen === undefined ? memory : { ...memory, told: memory.lastSeen };
}

/** How each tool does. `waits` gives how many events wait on nodes, and in gateways for an index. */
export function toolFlows(
  tools: readonly ReadTool[],
  nodes: readonly Followed[],
  memory: ReadonlyMap<string, ToolMemory>,
  { at, waits }: { readonly at: number; readonly waits: { nodes: number; index(index: EventIndex): number } },
): Readonly<Record<string, ToolFlow>> {
  const flows = tools.map((one): [string, ToolFlow] => {
    const known = memory.get(one.tool);
    const isRead = nodes.some(({ known: { reading } }) => (reading.received[receiverId(one)] ?? 0) > 0);
    const alike = tools.filter(({ index }) => index === one.index);
    const waiting = coarse(
      waits.nodes * shareOf(one, tools, memory) + waits.index(one.index) * shareOf(one, alike, memory),
    );
    const flow: ToolFlow = {
      state: stateOf(known?.lastSeen, isRead, at),
      ...(known?.told === undefined ? {} : { lastEvent: toTime(known.told) }),
      ...(waiting === 0 ? {} : { waiting }),
    };
    return [one.tool, flow];
  });
  return Object.fromEntries(flows);
}

function stateOf(lastSeen: number | undefined, isRead: boolean, at: number): ToolFlow['state'] {
  if (lastSeen !== undefined && at - lastSeen < QUIET_MS) return 'flowing';
  return lastSeen !== undefined || isRead ? 'quiet' : 'silent';
}

/** Tools share queues. What lies there is theirs in the proportion of what came in since it began to pile up. */
function shareOf({ tool }: ReadTool, among: readonly ReadTool[], memory: ReadonlyMap<string, ToolMemory>): number {
  const of = (name: string) => {
    const { total = 0, calm = 0 } = memory.get(name) ?? {};
    return total - calm;
  };
  const all = among.reduce((sum, other) => sum + of(other.tool), 0);
  return all === 0 ? 1 / among.length : of(tool) / all;
}

/** As Kubernetes writes times. */
function toTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
}
