/** What the rules need and no cache has: which Secrets of the store there are, and the certificates of the pipeline. */
import type { ObserveContext } from '@keelson/runtime';
import type { Feature } from '../feature.ts';
import type { Agent, SecurityAgent } from '../resource.ts';
import { findTrust, type Trust } from '../telemetry/trust.ts';
import { targetNamespace } from './context.ts';
import { type Findings, findSecrets } from './credentials.ts';
import { examine } from './examine.ts';

export interface Outside {
  readonly secrets: Findings;
  /** Always there when a pipeline may be wanted. */
  readonly trust?: Trust;
}

/** Looks, and makes what is made once. */
export async function lookOutside(
  context: ObserveContext<typeof SecurityAgent>,
  features: readonly Feature[],
): Promise<Outside> {
  const { self } = context;
  const [secrets, trust] = await Promise.all([
    findSecrets(context),
    mayCollect(self, features) ? findTrust(context, targetNamespace(self)) : undefined,
  ]);
  return { secrets, ...(trust === undefined ? {} : { trust }) };
}

/**
 * Whether there may be a pipeline: somebody carries, there is somewhere to write to, and a feature that writes is enabled. A name that nobody knows
 * may stand for one.
 */
function mayCollect({ spec }: Agent, features: readonly Feature[]): boolean {
  const carries = examine(spec, features).active.some(({ feature }) => feature.followsSources === true);
  const others = new Set(features.filter(({ telemetry }) => telemetry === undefined).map(({ id }) => id));
  const writes = spec.features.some(({ name, enabled }) => enabled && !others.has(name));
  return carries && writes && spec.output !== undefined;
}
