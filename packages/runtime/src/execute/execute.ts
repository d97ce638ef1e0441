/**
 * Carries out a plan, step by step and in its order. The only code that writes children.
 *
 * Invariants: the fence is asked before every write; what is not ours is not written to (what the cache does not show is read
 * first, because the cache holds only what carries our label); a write can only reach the very object it was planned for (by
 * uid); every answer is put into the cache, so that the next turn sees what this one did. A step that fails stops nothing but
 * what stands on it, so that one bad object costs no other, and what is no longer wanted goes in any case; only a fault that is
 * not about the object (no server, no credentials, no lease) ends the turn.
 */
import { Fault, isFault } from '@keelson/kube';
import { type Kind, type KubeObject, resourceNameOf } from '@keelson/schema';
import { holdsUid } from '../cache/object-index.ts';
import { isMarked } from '../marks.ts';
import { differences } from '../plan/compare.ts';
import { toLive } from '../plan/fields.ts';
import { ownershipOf } from '../plan/ownership.ts';
import {
  type ChangeStep,
  type CreateStep,
  type DeleteStep,
  type Leaving,
  type Plan,
  type Refusal,
  type Step,
  toRefusal,
  toStep,
} from '../plan/plan.ts';
import { objectKey, objectText } from '../plan/wanted.ts';
import type { Turn } from '../reconciler/turn.ts';
import { checkMarks, isShared, withdraw } from './answer.ts';
import { explainFault, isImmutable, isOfTheServer } from './fault.ts';
import { removeChild } from './remove.ts';
import { foundationOf } from './standing.ts';
import { adopted, changed, created, createdAgain, deleted, replaced, summarise, type Told } from './tale.ts';

/** A step that was tried in vain. */
export interface Failure {
  readonly step: Step;
  /** Its message names the object and what to do. */
  readonly fault: Fault;
}

/** A step that was not tried. */
export interface Held {
  readonly kind: Kind;
  readonly object: KubeObject;
  readonly because: string;
  /** The end of a sentence about several that wait for the same: `wait for …`. */
  readonly together: string;
}

export interface Executed {
  /** Writes that were made. */
  readonly steps: number;
  readonly refusals: readonly Refusal[];
  readonly leaving: readonly Leaving[];
  readonly failures: readonly Failure[];
  readonly held: readonly Held[];
}

interface Result {
  readonly wrote: boolean;
  /** What users are to be told of it. */
  readonly told?: readonly Told[];
  readonly fault?: Fault;
  readonly refused?: Refusal;
  readonly leaving?: Leaving;
}

/** Carries out every step that can be; throws only what would fail every other step too. */
export async function execute(turn: Turn, plan: Plan): Promise<Executed> {
  const told: Told[] = [];
  try {
    return await carryOutAll(turn, plan, told);
  } finally {
    // However it ends: what was done is told.
    for (const one of summarise(told)) record(turn, one);
  }
}

async function carryOutAll(turn: Turn, plan: Plan, told: Told[]): Promise<Executed> {
  const refusals = [...plan.refusals];
  const leaving = [...plan.leaving];
  const failures: Failure[] = [];
  const held: Held[] = [];
  const undone: (CreateStep | ChangeStep)[] = [];
  let steps = 0;
  for (const step of plan.steps) {
    turn.signal.throwIfAborted();
    if (step.action === 'delete') {
      // What went with its kind is gone, whatever the cache still shows.
      if (!turn.engine.stores.served(step.kind)) continue;
    } else {
      const missing = obstacleTo(turn, step, undone);
      if (missing !== undefined) {
        const because = `${objectText(step.kind, step.object)} waits for ${missing}`;
        held.push({ kind: step.kind, object: step.object, because, together: `wait for ${missing}` });
        undone.push(step);
        continue;
      }
    }
    const result = await carryOut(turn, step);
    told.push(...(result.told ?? []));
    if (result.fault !== undefined) {
      failures.push({ step, fault: result.fault });
      if (step.action !== 'delete') undone.push(step);
    }
    if (result.refused !== undefined) refusals.push(result.refused);
    if (result.leaving !== undefined) leaving.push(result.leaving);
    if (result.wrote) {
      steps += 1;
      turn.engine.hooks.step?.(step);
    }
  }
  return { steps, refusals, leaving, failures, held };
}

/** What has to be there before there is a point in trying. */
function obstacleTo(
  turn: Turn,
  step: CreateStep | ChangeStep,
  undone: readonly (CreateStep | ChangeStep)[],
): string | undefined {
  const foundation = foundationOf(step, undone);
  if (foundation !== undefined) return objectText(foundation.kind, foundation.object);
  if (turn.engine.stores.served(step.kind)) return undefined;
  return `its kind: ${resourceNameOf(step.kind)} is not installed in the cluster; once it is, the operator goes on by itself`;
}

async function carryOut(turn: Turn, step: Step): Promise<Result> {
  try {
    if (step.action === 'create') return await create(turn, step);
    if (step.action === 'change') return await change(turn, step);
    return await remove(turn, step);
  } catch (error) {
    const object = step.action === 'delete' ? step.live : step.object;
    const fault = explainFault(error, `${step.action} ${objectText(step.kind, object)}`);
    if (!isFault(fault) || isOfTheServer(fault) || turn.signal.aborted) throw fault;
    return { wrote: false, fault };
  }
}

async function create(turn: Turn, step: CreateStep): Promise<Result> {
  const find = () => turn.engine.client.find(step.kind, step.object.metadata, { signal: turn.signal });
  const there = await find();
  if (there !== undefined) return meet(turn, step, there);
  const made = await tryCreate(turn, step);
  if (!(made instanceof Fault)) return { wrote: true, told: [made] };
  const meanwhile = await find();
  if (meanwhile === undefined) throw made;
  return meet(turn, step, meanwhile);
}

/** Makes the object; gives back what stands in the way when somebody else may have made it since we looked. */
async function tryCreate(turn: Turn, step: CreateStep): Promise<Told | Fault> {
  const { owner } = turn;
  try {
    // Without force, what somebody has made since is a conflict instead of a takeover; and once only, because others may have
    // written to it before a second attempt, which would then look as if they had made it.
    const answer = await send(turn, step.kind, step.object, { force: false, once: true });
    if (!isShared(answer, owner)) {
      take(turn, step, answer);
      const text = objectText(step.kind, answer);
      return step.again ? createdAgain(text, step.because) : created(text);
    }
    await withdraw(turn, step.kind, answer);
    return new Fault('Conflict', 'somebody else made it at the same time, and deleted it again');
  } catch (error) {
    if (isFault(error, 'ApplyConflict') || (isFault(error) && error.details.maybeDone === true)) return error;
    throw error;
  }
}

/** It was to be created, but it is there: ours after all (its label lost, the cache behind), to be adopted, or not ours. */
async function meet(turn: Turn, step: CreateStep, there: KubeObject): Promise<Result> {
  const { owner, engine } = turn;
  const ownership = ownershipOf(step.kind, there, owner, step.adopt, (uid) => holdsUid(engine.primary, uid));
  if (ownership.whose === 'foreign') return { wrote: false, refused: toRefusal(step.kind, step.object, ownership) };
  if (there.metadata.deletionTimestamp !== undefined)
    return { wrote: false, leaving: { kind: step.kind, live: there, wanted: true } };
  const needed = toStep(step, toLive(there, owner.fieldManager), owner, engine.settled);
  if (needed === undefined) {
    // What is not marked is not in the watch: the store would take it for gone.
    if (isMarked(there, owner)) engine.stores.owned(step.kind).absorb(there);
    return { wrote: false };
  }
  const result = await change(turn, needed);
  if (ownership.whose !== 'adopted') return result;
  return { ...result, told: [...(result.told ?? []), adopted(objectText(step.kind, there), ownership.from)] };
}

async function change(turn: Turn, step: ChangeStep): Promise<Result> {
  const { uid } = step.live.metadata;
  // The uid makes the server refuse when the object was deleted or made anew since: it is neither revived nor mistaken.
  const aimed = { ...step.object, metadata: { ...step.object.metadata, ...(uid === undefined ? {} : { uid }) } };
  try {
    const answer = await send(turn, step.kind, aimed, { force: true });
    take(turn, step, answer);
    // The server has another form for what we sent, as we know from now on: nothing was written, and there is nothing to tell.
    if (answer.metadata.resourceVersion === step.live.metadata.resourceVersion) return { wrote: false };
  } catch (error) {
    if (isImmutable(error) && isReplaceable(turn, step)) return replace(turn, step);
    throw error;
  }
  return { wrote: true, told: [changed(objectText(step.kind, step.object), step.because)] };
}

/** Declared so by the operator, and ours to delete. */
function isReplaceable({ engine, owner }: Turn, { kind, live }: ChangeStep): boolean {
  return isMarked(live, owner) && engine.operator.owns.some((owned) => owned.kind === kind && owned.replace === true);
}

/** Makes the object anew: at once, or in a later turn when something still holds the old one. */
async function replace(turn: Turn, { kind, object, live, because }: ChangeStep): Promise<Result> {
  const { asked, left } = await removeChild(turn, kind, live);
  if (asked) turn.engine.claims.removed(turn.owner, objectKey(kind, live.metadata));
  const told = asked ? [replaced(objectText(kind, live), because)] : [];
  if (left !== undefined) return { wrote: asked, told, leaving: { kind, live: left, wanted: true } };
  const result = await create(turn, { action: 'create', kind, object, because, again: false, adopt: false });
  return { ...result, told: [...told, ...(result.told ?? [])] };
}

async function remove(turn: Turn, step: DeleteStep): Promise<Result> {
  const { asked, left } = await removeChild(turn, step.kind, step.live);
  const told = asked ? [deleted(objectText(step.kind, step.live), step.because)] : [];
  return {
    wrote: asked,
    told,
    ...(left === undefined ? {} : { leaving: { kind: step.kind, live: left, wanted: false } }),
  };
}

function send(turn: Turn, kind: Kind, object: KubeObject, options: { force: boolean; once?: boolean }) {
  const { engine, owner, signal } = turn;
  engine.fence.check();
  return engine.client.apply(kind, object, { ...options, fieldManager: owner.fieldManager, signal });
}

/** Takes the answer for the new state of a child. */
function take(turn: Turn, step: CreateStep | ChangeStep, answer: KubeObject): void {
  const { engine, owner } = turn;
  checkMarks(answer, owner);
  engine.stores.owned(step.kind).absorb(answer);
  engine.claims.saw(owner, objectKey(step.kind, answer.metadata));
  const left = differences(step.object, toLive(answer, owner.fieldManager), owner.fieldManager);
  engine.settled.remember(owner.uid, answer, step.object, left);
}

function record(turn: Turn, { reason, action, message }: Told): void {
  const text = turn.redactor.text(message);
  turn.engine.recorder.record(turn.self.object, { type: 'Normal', reason, message: text, action });
}
