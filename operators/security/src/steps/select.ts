/**
 * Step 1: which features run. A feature that is enabled and cannot run is *held*: it is told why, and nothing of it is touched, so
 * that a typo or a CRD that went away never takes a running tool down. The others go on.
 */
import type { Observed } from '@keelson/runtime';
import { apiVersionOf, type KubeObject } from '@keelson/schema';
import type { Feature } from '../feature.ts';
import { FEATURE_LABEL, NODE_COLLECTOR } from '../names.ts';
import { type Agent, SecurityAgent } from '../resource.ts';
import { storeOf } from '../store.ts';
import type { LogSource } from '../telemetry/source.ts';
import { accountName } from './account.ts';
import { type Claim, claimant } from './claims.ts';
import { targetNamespace } from './context.ts';
import { missingSecret } from './credentials.ts';
import { type Active, examine, problemText } from './examine.ts';
import type { OwnedKind } from './kinds.ts';
import type { Outside } from './outside.ts';

export interface Held {
  readonly id: string;
  readonly feature?: Feature;
  readonly reason: string;
  readonly message: string;
  /** What it installed before is left as it is; otherwise it is removed. */
  readonly keeps: boolean;
}

export interface Selection {
  readonly running: readonly Active[];
  readonly held: readonly Held[];
  /** What tools write, of those that run and of those that are held and go on as they were. */
  readonly sources: readonly LogSource[];
  /** What held features installed before. */
  readonly kept: readonly KubeObject[];
}

type AgentObserved = Observed<typeof SecurityAgent, Outside | undefined>;

/** Step 1. */
export function selectFeatures(
  observed: AgentObserved,
  features: readonly Feature[],
  kinds: readonly OwnedKind[],
): Selection {
  const { active, misfits } = examine(observed.self.spec, features);
  const installed = installedByFeature(observed, kinds);
  const held: Held[] = misfits.map((misfit) => ({
    id: misfit.id,
    ...(misfit.feature === undefined ? {} : { feature: misfit.feature }),
    reason: misfit.reason,
    message: problemText(misfit.problems),
    keeps: true,
  }));
  const carrier = features.find(({ followsSources }) => followsSources === true)?.id ?? NODE_COLLECTOR;
  const collectors = { feature: carrier, workload: NODE_COLLECTOR };
  const running: Active[] = [];
  for (const one of active) {
    const { feature } = one;
    const tool = { feature: feature.id, workload: accountName(feature) };
    const claim = { tool, collectors, running: installed.has(feature.id) };
    const obstacle = obstacleTo(observed, feature, claim);
    if (obstacle === undefined) running.push(one);
    else held.push({ id: feature.id, feature, ...obstacle });
  }
  const going = [...held.filter(({ keeps }) => keeps).map(({ id }) => id), ...unlisted(observed.self, held, installed)];
  const kept = going.flatMap((id) => installed.get(id) ?? []);
  const writing = new Set([...running.map(({ feature }) => feature.id), ...going.filter((id) => installed.has(id))]);
  return { running, held, kept, sources: sourcesOf(features, writing, active) };
}

/** A name that nobody knows may be a slip of one that was there before: what is installed and no longer listed waits until that is clear. */
function unlisted({ spec }: Agent, held: readonly Held[], installed: ReadonlyMap<string, unknown>): readonly string[] {
  if (!held.some(({ feature }) => feature === undefined)) return [];
  const listed = new Set(spec.features.map(({ name }) => name));
  return [...installed.keys()].filter((id) => !listed.has(id));
}

/** What keeps a feature with a good config from running here and now. */
function obstacleTo(
  observed: AgentObserved,
  feature: Feature,
  claim: Claim,
): Pick<Held, 'reason' | 'message' | 'keeps'> | undefined {
  const { self, related, served, external } = observed;
  const missing = feature.requires?.find(({ kind }) => !served(kind));
  if (missing !== undefined) {
    const name = `${missing.kind.kind} (${apiVersionOf(missing.kind)})`;
    return {
      reason: 'KindMissing',
      message: `${name} is not installed in the cluster: ${missing.remedy}`,
      keeps: true,
    };
  }
  if (feature.exclusive !== undefined) {
    const other = claimant(self, related.list(SecurityAgent) as readonly Agent[], claim);
    if (other !== undefined) {
      const { namespace, name } = other.metadata;
      const place = targetNamespace(self);
      const remedy =
        targetNamespace(other) === place
          ? `both install into namespace ${place}, where one agent is enough: merge them, or give one another namespace and other nodes`
          : 'disable it in one of the two, or give them different nodes by override.nodeAgent.nodeSelector';
      const message = `SecurityAgent ${namespace}/${name} has ${feature.title} on these nodes, and ${feature.exclusive}: ${remedy}`;
      return { reason: 'ClaimedByAnotherAgent', message, keeps: false };
    }
  }
  const secret =
    feature.usesOutput === true
      ? missingSecret(storeOf(self.spec.output), targetNamespace(self), external?.secrets)
      : undefined;
  return secret === undefined ? undefined : { reason: 'SecretMissing', message: secret, keeps: true };
}

/** Everything that carries the label of a feature, by feature. */
function installedByFeature({ owned }: AgentObserved, kinds: readonly OwnedKind[]): Map<string, KubeObject[]> {
  const installed = new Map<string, KubeObject[]>();
  for (const { kind } of kinds) {
    for (const object of owned.list(kind)) {
      const id = object.metadata.labels?.[FEATURE_LABEL];
      if (id !== undefined) installed.set(id, [...(installed.get(id) ?? []), object]);
    }
  }
  return installed;
}

/** In the order of the features. A config that does not fit says nothing of the file: that of the defaults is as good a guess as any. */
function sourcesOf(
  features: readonly Feature[],
  writing: ReadonlySet<string>,
  active: readonly Active[],
): readonly LogSource[] {
  return features.flatMap((feature) => {
    if (feature.telemetry === undefined || !writing.has(feature.id)) return [];
    const parsed = feature.config.parse({});
    const config = active.find((one) => one.feature === feature)?.config ?? (parsed.ok ? parsed.value : undefined);
    return config === undefined ? [] : [feature.telemetry(config)];
  });
}
