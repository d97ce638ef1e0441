/** The engine's own judgements on an instance: was it accepted, is it applied, is it ready. Pure. */
import type { Kind, KubeObject } from '@keelson/schema';
import type { Executed } from '../execute/execute.ts';
import { gravestOf } from '../execute/fault.ts';
import { objectText, type Wanted } from '../plan/wanted.ts';
import type { Judgement } from './condition.ts';
import { obstaclesOf, tellObstacles } from './obstacle.ts';
import { readinessOf } from './readiness.ts';

const SHOWN = 3;

/** A child that is being deleted counts as stuck after this long. */
export const stuckAfterMs = 30_000;

export const accepted: Judgement = { status: 'True', reason: 'Valid', message: 'the spec is valid' };
export const applied: Judgement = { status: 'True', reason: 'Applied', message: 'everything is as decided' };

/** Not tried yet, because the operator waits or the spec is bad. */
export const notTried: Judgement = { status: 'Unknown', reason: 'NotTried', message: 'nothing has been applied yet' };

/** Judges what became of a plan, by the gravest of what went wrong; the message names all of it. */
export function judgeApplied(executed: Omit<Executed, 'steps'>, now: Date): Judgement {
  const { refusals, leaving, failures } = executed;
  const obstacles = obstaclesOf(executed);
  if (obstacles.length > 0) {
    const standing = refusals.length > 0 ? 'OwnedByAnother' : 'KindNotServed';
    const reason = gravestOf(failures.map(({ fault }) => fault))?.code ?? standing;
    return { status: 'False', reason, message: tellObstacles(obstacles) };
  }
  const stuck = leaving.filter((child) => child.wanted || isStuck(child.live, now));
  if (stuck.length === 0) return applied;
  return { status: 'False', reason: 'ChildTerminating', message: listed(stuck.map(describeLeaving)) };
}

/** True when a child has been on its way out for so long that a person should look. */
export function isStuck(live: KubeObject, now: Date): boolean {
  return now.getTime() - Date.parse(live.metadata.deletionTimestamp ?? '') >= stuckAfterMs;
}

/** `ConfigMap shop/web is being deleted and held by the finalizers a/b: …` */
export function describeLeaving({ kind, live, wanted }: { kind: Kind; live: KubeObject; wanted?: boolean }): string {
  const held = live.metadata.finalizers ?? [];
  const remedy =
    held.length === 0
      ? 'waiting for it to be gone'
      : `held by the finalizer${held.length === 1 ? '' : 's'} ${held.join(', ')}: whoever put ${held.length === 1 ? 'it' : 'them'} there has to remove ${held.length === 1 ? 'it' : 'them'}`;
  return `${objectText(kind, live)} is being deleted, ${remedy}${wanted === true ? '; it is made anew afterwards' : ''}`;
}

/** Judges the children together: ready when each one is. */
export function judgeReady(
  wanted: readonly Wanted[],
  find: (kind: Kind, object: KubeObject) => KubeObject | undefined,
): Judgement {
  const failed: string[] = [];
  const waiting: string[] = [];
  for (const { kind, object } of wanted) {
    const live = find(kind, object);
    if (live === undefined) {
      waiting.push(`${kind.kind} ${object.metadata.name}: does not exist yet`);
      continue;
    }
    const { state, message } = readinessOf(kind, live);
    if (state === 'failed') failed.push(message);
    else if (state === 'progressing') waiting.push(message);
  }
  if (failed.length > 0) return { status: 'False', reason: 'ChildFailed', message: listed([...failed, ...waiting]) };
  if (waiting.length > 0) return { status: 'False', reason: 'Progressing', message: listed(waiting) };
  return { status: 'True', reason: 'Ready', message: 'everything is ready' };
}

/** Several things in one message: the first few in full. */
export function listed(texts: readonly string[]): string {
  const more = texts.length - SHOWN;
  return [...texts.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
