/**
 * Some tools can run once on a node: they write one log file there, and hook one kernel. Two agents that ask for such a tool on
 * the same nodes are told apart here: who runs it keeps it; where nobody does, the older agent has it. The other is told, and takes over
 * by itself when the first lets go.
 */
import { DaemonSet, manifest } from '@keelson/schema';
import { agentText } from '../names.ts';
import { applyOverrides } from '../override/override.ts';
import type { Override, ToolOverride } from '../override/schema.ts';
import type { Agent } from '../resource.ts';
import { templateOf } from '../workload/template.ts';
import { identityOf } from './context.ts';

/** Something that runs on nodes: a feature, and the DaemonSet that it is. */
export interface Runner {
  readonly feature: string;
  readonly workload: string;
}

/** What the claims of agents are about. */
export interface Claim {
  readonly tool: Runner;
  /** They read what any agent's tool writes on their nodes. */
  readonly collectors: Runner;
  /** Whether `self` has the tool already. */
  readonly running: boolean;
}

/** The agent that has this tool on nodes that `self` wants it on, if there is one. */
export function claimant(self: Agent, others: readonly Agent[], claim: Claim): Agent | undefined {
  return others.find(
    (other) =>
      textOf(other) !== textOf(self) &&
      asksFor(other, claim.tool.feature) &&
      isAhead(other, self, claim) &&
      meet(self, other, claim),
  );
}

/** It wants the tool, or has it still: one that is held goes on, and so does one whose name was mistyped. */
function asksFor({ spec, status }: Agent, feature: string): boolean {
  return (
    spec.features.some(({ name, enabled }) => name === feature && enabled) ||
    status?.installed?.includes(feature) === true
  );
}

/** The tool of one and the tool or the collectors of the other may come to one node. */
function meet(self: Agent, other: Agent, { tool, collectors }: Claim): boolean {
  const [mine, theirs] = [nodesOf(self, tool), nodesOf(other, tool)];
  return !(
    isDisjoint(mine, theirs) &&
    isDisjoint(mine, nodesOf(other, collectors)) &&
    isDisjoint(theirs, nodesOf(self, collectors))
  );
}

function isAhead(other: Agent, self: Agent, { tool, running }: Claim): boolean {
  const otherRuns = other.status?.installed?.includes(tool.feature) === true;
  if (otherRuns !== running) return otherRuns;
  // It was looked at and does not run: something else is in its way, and until that is gone nobody should wait for it.
  if (!otherRuns && other.status?.features?.[tool.feature] !== undefined) return false;
  const [theirs = NEVER, mine = NEVER] = [other.metadata.creationTimestamp, self.metadata.creationTimestamp];
  // Both are stored in the same second, or neither is stored at all: any order will do that both see alike.
  return theirs === mine ? textOf(other) < textOf(self) : theirs < mine;
}

/** Of an agent that is not stored. */
const NEVER = '9999';

function textOf(agent: Agent): string {
  return agentText(identityOf(agent));
}

/** The labels of the nodes that something of this agent runs on: as the overrides leave them, and nothing else of the overrides. */
function nodesOf({ spec }: Agent, { feature, workload }: Runner): Readonly<Record<string, string>> {
  const { nodeAgent, perTool = {} } = spec.override ?? {};
  const override: Override = {
    ...(nodeAgent === undefined ? {} : { nodeAgent: nodesOnly(nodeAgent) }),
    perTool: Object.fromEntries(
      Object.entries(perTool).flatMap(([key, one]) =>
        key === feature || key === workload ? [[key, nodesOnly(one)]] : [],
      ),
    ),
  };
  const pods = { spec: { containers: [{ name: 'any', image: 'any' }] } };
  const objects = [manifest(DaemonSet, { name: workload }, { spec: { selector: {}, template: pods } })];
  const { contributions } = applyOverrides(override, [{ feature, objects }], [feature]);
  const [runner] = contributions.flatMap((one) => one.objects);
  return (runner === undefined ? undefined : templateOf(runner))?.spec?.nodeSelector ?? {};
}

/** What an override says of nodes, in its own word or in its patch. */
function nodesOnly({ nodeSelector, podTemplate }: ToolOverride): ToolOverride {
  const patch = (podTemplate as { spec?: { nodeSelector?: unknown } } | undefined)?.spec?.nodeSelector;
  return {
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
    ...(patch === undefined ? {} : { podTemplate: { spec: { nodeSelector: patch } } }),
  };
}

/** No node can carry two values of one label. */
function isDisjoint(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).some(([key, value]) => b[key] !== undefined && b[key] !== value);
}
