/**
 * Some tools can run once on a node: they write one log file there, and hook one kernel. Two agents that ask for such a tool on
 * the same nodes are told apart here: who runs it keeps it; where nobody does, the older agent has it. The other is told, and takes over
 * by itself when the first lets go.
 */
import { agentText } from '../names.ts';
import type { Agent } from '../resource.ts';

/** The agent that has this tool on nodes that `self` wants it on, if there is one. `running` tells whether `self` has it already. */
export function claimant(self: Agent, others: readonly Agent[], id: string, running: boolean): Agent | undefined {
  return others.find(
    (other) =>
      other.metadata.uid !== self.metadata.uid &&
      other.spec.features.some(({ name, enabled }) => name === id && enabled) &&
      !isDisjoint(nodesOf(self, id), nodesOf(other, id)) &&
      isAhead(other, self, id, running),
  );
}

function isAhead(other: Agent, self: Agent, id: string, running: boolean): boolean {
  const otherRuns = other.status?.tools?.[id] !== undefined;
  if (otherRuns !== running) return otherRuns;
  return ageKey(other) < ageKey(self);
}

function ageKey({ metadata }: Agent): string {
  return `${metadata.creationTimestamp ?? '9999'} ${metadata.uid ?? agentText({ namespace: '', ...metadata })}`;
}

/** The labels of the nodes that a tool of this agent is meant for. */
function nodesOf({ spec }: Agent, id: string): Readonly<Record<string, string>> {
  return { ...spec.override?.nodeAgent?.nodeSelector, ...spec.override?.perTool?.[id]?.nodeSelector };
}

/** No node can carry two values of one label. */
function isDisjoint(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).some(([key, value]) => b[key] !== undefined && b[key] !== value);
}
