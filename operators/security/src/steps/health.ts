/** Whether events flow: what the collectors are to be asked, and what came of it. */
import type { Effect, Observed } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { NODE_COLLECTOR } from '../names.ts';
import type { SecurityAgent } from '../resource.ts';
import { healthEffect, PIPELINE_HEALTH } from '../telemetry/health/check.ts';
import { collectorsOf } from '../telemetry/health/collectors.ts';
import { type HealthStanding, healthStanding, noHealth } from '../telemetry/health/standing.ts';
import type { Outside } from './outside.ts';
import type { Selection } from './select.ts';

export interface Health {
  readonly standing: HealthStanding;
  readonly effects: readonly Effect[];
}

/** Nothing where there are no collectors. `installed`: all that is applied or goes on as it was. */
export function healthOf(
  { self, related, effects, now }: Observed<typeof SecurityAgent, Outside | undefined>,
  { sources }: Selection,
  installed: readonly KubeObject[],
): Health {
  const collects = installed.some(({ kind, metadata }) => kind === 'DaemonSet' && metadata.name === NODE_COLLECTOR);
  if (!collects) return { standing: noHealth, effects: [] };
  const collectors = collectorsOf(related, now);
  const outcome = effects.get(PIPELINE_HEALTH);
  return {
    standing: healthStanding({ self, sources, collectors, outcome, now }),
    effects: [healthEffect(collectors, sources, outcome)],
  };
}
