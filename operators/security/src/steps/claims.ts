/**
 * Some tools can run once on a node: they write one log file there, and hook one kernel. Two agents that ask for such a tool on
 * the same nodes are told apart here: who runs it keeps it; where nobody does, the older agent has it. The other is told, and takes over
 * by itself when the first lets go.
 */
import { agentText } from '../names.ts';
import type { Agent } from '../resource.ts';

/** What the claims of agents are about. */
export interface Claim {
  /** The tool. */
  readonly id: string;
  /** The names that the collectors go by in overrides: they read what any agent's tool writes on their nodes. */
  readonly collectors: readonly string[];
  /** Whether `self` has the tool already. */
  readonly running: boolean;
}

/** The agent that has this tool on nodes that `self` wants it on, if there is one. */
export function claimant(self: Agent, others: readonly Agent[], claim: Claim): Agent | undefined {
  return others.find(
    (other) =>
      other.metadata.uid !== self.metadata.uid &&
      other.spec.features.some(({ name, enabled }) => name === claim.id && enabled) &&
      meet(self, other, claim) &&
      isAhead(other, self, claim),
  );
}

/** The tool of one and the tool or the collectors of the other may come to one node. */
function meet(self: Agent, other: Agent, { id, collectors }: Claim): boolean {
  const [mine, theirs] = [nodesOf(self, [id]), nodesOf(other, [id])];
  return !(
    isDisjoint(mine, theirs) &&
    isDisjoint(mine, nodesOf(other, collectors)) &&
    isDisjoint(theirs, nodesOf(self, collectors))
  );
}

function isAhead(other: Agent, self: Agent, { id, running }: Claim): boolean {
  const otherRuns = other.status?.installed?.includes(id) === true;
  if (otherRuns !== running) return otherRuns;
  return ageKey(other) < ageKey(self);
}

function ageKey({ metadata }: Agent): string {
  return `${metadata.creationTimestamp ?? '9999'} ${metadata.uid ?? agentText({ namespace: '', ...metadata })}`;
}

/** The labels of the nodes that something of this agent is meant for, by the names that it goes by in overrides. */
function nodesOf({ spec }: Agent, names: readonly string[]): Readonly<Record<string, string>> {
  const { nodeAgent, perTool } = spec.override ?? {};
  return Object.assign({}, nodeAgent?.nodeSelector, ...names.map((name) => perTool?.[name]?.nodeSelector));
}

/** No node can carry two values of one label. */
function isDisjoint(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).some(([key, value]) => b[key] !== undefined && b[key] !== value);
}
