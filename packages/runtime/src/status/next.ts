/**
 * The next status of an instance: what the operator states, with the engine's conditions. Pure.
 *
 * Invariant: it is made of our own words only. What other writers keep in the status (their conditions, their fields) is
 * neither repeated nor removed, because only fields of our field manager are looked at.
 */
import { apiVersionOf, type Condition, type KubeObject, type Resource } from '@keelson/schema';
import type { Live } from '../cache/store.ts';
import type { ConditionNote } from '../decision.ts';
import { childFields } from '../plan/fields.ts';
import { project } from '../plan/project.ts';
import { isMap } from '../plan/value.ts';
import { checkConditions, engineConditions, type Judgement, toConditions } from './condition.ts';
import { notTried } from './judge.ts';

export interface StatusInput {
  readonly operator: { readonly name: string; readonly resource: Resource };
  readonly self: Live;
  /** What the operator states; without it, what it said last stays. */
  readonly note: (Readonly<Record<string, unknown>> & { readonly conditions?: readonly ConditionNote[] }) | undefined;
  readonly accepted: Judgement;
  /** Without it, what was last said stays. */
  readonly applied?: Judgement;
  /** Used where the operator states no `Ready` of its own. */
  readonly ready: Judgement;
  /** Of the spec that was looked at. */
  readonly generation: number | undefined;
  readonly now: Date;
}

/** The object to apply to the status subresource. */
export function nextStatus(input: StatusInput): KubeObject {
  const { operator, generation, now } = input;
  const { name, namespace, uid } = input.self.object.metadata;
  const before = conditionsOf(input.self.object.status);
  const ours = ownStatus(input.self);
  if (input.note?.conditions !== undefined) checkConditions(operator.name, input.note.conditions);
  const { conditions: stated = [], ...fields } = input.note ?? ours;
  const conditions = [...engineNotes(input, before), ...stated.filter(({ type }) => !isEngineType(type))];
  return {
    apiVersion: apiVersionOf(operator.resource),
    kind: operator.resource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      // So that it can never land on another instance that took the name meanwhile.
      ...(uid === undefined ? {} : { uid }),
    },
    status: {
      ...withoutEmpty(fields),
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      conditions: toConditions(conditions, before, generation, now),
    },
  };
}

/**
 * The fields that say something. A map or list that was full and is now empty cannot be applied: the server would take all its
 * entries away, find nothing left of it and store null, which the schema refuses. Left out, it goes.
 */
function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields).map(
    ([name, value]) => [name, isMap(value) ? withoutEmpty(value) : value] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;
}

function engineNotes({ note, accepted, applied, ready }: StatusInput, before: readonly Condition[]): ConditionNote[] {
  const kept = before.find(({ type }) => type === engineConditions.applied);
  const appliedNow: Judgement = applied ?? kept ?? notTried;
  // An instance that was not accepted or not applied is not ready, whatever its children say.
  const blocked = [accepted, ...(applied === undefined ? [] : [applied])].find(({ status }) => status === 'False');
  const own = note?.conditions?.find(({ type }) => type === engineConditions.ready);
  return [
    { type: engineConditions.ready, ...pick(blocked ?? own ?? ready) },
    { type: engineConditions.accepted, ...pick(accepted) },
    { type: engineConditions.applied, ...pick(appliedNow) },
  ];
}

function pick({ status, reason, message }: Judgement): Judgement {
  return { status, reason, message };
}

function isEngineType(type: string): boolean {
  return Object.values<string>(engineConditions).includes(type);
}

/** What we last wrote into the status. */
function ownStatus(self: Live): Readonly<Record<string, unknown>> & { readonly conditions?: readonly ConditionNote[] } {
  const own = project(self.object.status, childFields(self.fields, 'f:status'));
  return isMap(own) ? own : {};
}

/** The conditions that are there, whoever wrote them. */
export function conditionsOf(status: unknown): readonly Condition[] {
  return isMap(status) && Array.isArray(status.conditions) ? (status.conditions as Condition[]) : [];
}
