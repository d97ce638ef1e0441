/**
 * Whether the process can be relied on, as data: a list of findings, each with what is wrong and what to do about it.
 *
 * The readiness of a process decides whether the API server's webhook calls reach it, and whether a rollout goes on. Not ready is
 * therefore what another replica may do better: a store that is not complete or may be out of date (this process has lost its
 * connection), webhooks that cannot answer, a process that is stopping. Ready all the same: a replica on standby (its caches are
 * warm), and an operator whose resource is not installed or that may not watch something: every replica lacks the same, it waits,
 * and to take its neighbours and all webhooks out of service would help nobody. But when each of the operators is refused
 * something, nothing works: that is a broken rollout, and it is not ready.
 *
 * How one operator fares is a question of its own, for people and alerts: its health fails whenever it cannot do its work.
 */
import { resourceNameOf } from '@keelson/schema';
import type { StoreReport } from '../cache/cache.ts';
import type { FeedReport } from '../cache/feed.ts';

export interface Finding {
  /** What this is about: `cache deployments.apps`. */
  readonly subject: string;
  readonly state: 'ok' | 'waiting' | 'failed';
  readonly message: string;
  readonly remedy?: string;
}

export interface Health {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** True when the server does not let us watch what a store is to hold. */
export function isRefused(report: StoreReport): boolean {
  return report.feeds.some(isFeedRefused);
}

/** One finding for each watch of a store. Whether one that the server refuses fails or waits is up to what else works. */
export function judgeStore(report: StoreReport, refusal: 'failed' | 'waiting' = 'failed'): readonly Finding[] {
  return report.feeds.map((feed): Finding => {
    const where = feed.namespace === undefined ? '' : ` in ${feed.namespace}`;
    const selector = report.scope.labelSelector === undefined ? '' : ` (${report.scope.labelSelector})`;
    const subject = `cache ${resourceNameOf(report.kind)}${where}${selector}`;
    const { problem, lastContactMs } = feed;
    const more = problem === undefined ? {} : { remedy: problem.remedy };
    if (feed.state === 'not-served') return { subject, state: 'waiting', message: 'not installed', ...more };
    if (isFeedRefused(feed)) {
      const { message = '' } = problem ?? {};
      return { subject, state: refusal, message: feed.stale ? `out of date: ${message}` : message, ...more };
    }
    if (feed.stale) {
      const silence = `out of date: no sign of life for ${Math.round((lastContactMs ?? 0) / 1_000)} s`;
      return {
        subject,
        state: 'failed',
        message: problem === undefined ? silence : `${silence}: ${problem.message}`,
        ...more,
      };
    }
    if (lastContactMs === undefined)
      return { subject, state: 'failed', message: problem?.message ?? 'the first list is not there yet', ...more };
    return {
      subject,
      state: 'ok',
      message: `${report.objects} objects, last contact ${Math.round(lastContactMs / 1_000)} s ago`,
    };
  });
}

function isFeedRefused({ problem, stale, lastContactMs }: FeedReport): boolean {
  return problem?.code === 'Forbidden' && (stale || lastContactMs === undefined);
}

/** Ready unless something failed. */
export function toHealth(findings: readonly Finding[]): Health {
  return { ok: findings.every(({ state }) => state !== 'failed'), findings };
}
