/**
 * Whether the process can be relied on, as data: a list of findings, each with what is wrong and what to do about it.
 *
 * Not ready: a store that is not complete or may be out of date, webhooks that cannot answer, a process that is stopping. Ready
 * all the same: a replica on standby (its caches are warm), and an operator whose resource is not installed: it waits, and to
 * take its neighbours and their webhooks out of service would help nobody.
 */
import { resourceNameOf } from '@keelson/schema';
import type { StoreReport } from '../cache/cache.ts';

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

/** One finding for each watch of a store. */
export function judgeStore(report: StoreReport): readonly Finding[] {
  return report.feeds.map((feed): Finding => {
    const where = feed.namespace === undefined ? '' : ` in ${feed.namespace}`;
    const selector = report.scope.labelSelector === undefined ? '' : ` (${report.scope.labelSelector})`;
    const subject = `cache ${resourceNameOf(report.kind)}${where}${selector}`;
    const { problem, lastContactMs } = feed;
    const more = problem === undefined ? {} : { remedy: problem.remedy };
    if (feed.state === 'not-served') return { subject, state: 'waiting', message: 'not installed', ...more };
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

/** Ready unless something failed. */
export function toHealth(findings: readonly Finding[]): Health {
  return { ok: findings.every(({ state }) => state !== 'failed'), findings };
}
