/**
 * Conditions by the Kubernetes API conventions (sig-architecture, "Typical status properties"): one per type,
 * lastTransitionTime moves only when `status` flips, observedGeneration says which spec was looked at.
 */
import type { Condition } from '@keelson/schema';
import { operatorBug } from '../bug.ts';
import type { ConditionNote } from '../decision.ts';

/** What the engine says about every instance. `Ready` is the operator's own if it states one. */
export const engineConditions = { ready: 'Ready', accepted: 'Accepted', applied: 'Applied' } as const;

/** A condition without its type. */
export type Judgement = Omit<ConditionNote, 'type'>;

const LONGEST_MESSAGE = 32_768;

/** Makes stated conditions complete, given those that are there. */
export function toConditions(
  stated: readonly ConditionNote[],
  before: readonly Condition[],
  generation: number | undefined,
  now: Date,
): Condition[] {
  return stated.map(({ type, status, reason, message }) => {
    const previous = before.find((condition) => condition.type === type);
    const since = previous?.status === status ? previous.lastTransitionTime : undefined;
    return {
      type,
      status,
      reason,
      message: message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE - 1)}…`,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastTransitionTime: since ?? toTimestamp(now),
    };
  });
}

/** Refuses conditions that the API server would refuse, or that are the engine's to state. */
export function checkConditions(operatorName: string, stated: readonly ConditionNote[]): void {
  const seen = new Set<string>();
  for (const { type, status, reason } of stated) {
    const text = `operator ${operatorName} states condition '${type}'`;
    if (type === engineConditions.accepted || type === engineConditions.applied)
      throw operatorBug(`${text}, which the engine keeps: answer with reject or wait, or pick another type`);
    if (seen.has(type)) throw operatorBug(`${text} twice: state each type once`);
    seen.add(type);
    if (!['True', 'False', 'Unknown'].includes(status))
      throw operatorBug(`${text} with status '${status}': it must be 'True', 'False' or 'Unknown'`);
    if (!/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason))
      throw operatorBug(`${text} with reason '${reason}': a reason is one word in CamelCase`);
  }
}

/** RFC 3339 in whole seconds, as the API server writes it. */
export function toTimestamp(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
