/** What a manager is made from. */
import type { KubeClient, Reflect as ReflectKind } from '@keelson/kube';
import { type Resource, resourceNameOf } from '@keelson/schema';
import type { Registry } from 'prom-client';
import type { CacheOptions } from '../cache/cache.ts';
import type { Clock } from '../clock.ts';
import type { Address } from '../health/server.ts';
import type { Fence } from '../lease/fence.ts';
import type { LeaseTimes } from '../lease/lease-record.ts';
import type { Logger } from '../logging/logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Operator } from '../operator.ts';

/** Something that runs beside the controllers on every replica, such as the webhooks. */
export interface Runnable {
  /** Resolves when it serves; then it goes on until `stop`. Rejects when it cannot start. */
  start(signal: AbortSignal): Promise<void>;
  ready(): { readonly ok: boolean; readonly message: string };
  stop(): Promise<void>;
}

/** What a runnable is made from. */
export interface RunnableContext {
  /** To be asked before every write: a replica on standby writes nothing. */
  readonly fence: Fence;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface LeaderElection extends Partial<LeaseTimes> {
  readonly namespace: string;
  readonly name: string;
}

export interface ManagerOptions {
  readonly client: KubeClient;
  readonly operators: readonly Operator<Resource, unknown>[];
  /** Unique among the replicas. Default: the host name and a random part. */
  readonly identity?: string;
  /** `false` when this is the only replica there will ever be. */
  readonly leaderElection: false | LeaderElection;
  /** Look only at these namespaces. Default: all. */
  readonly namespaces?: readonly string[];
  /** Where /healthz and /readyz are served; and /metrics, unless that has an address of its own. `false`: nowhere. */
  readonly health?: false | Address;
  readonly metricsAddress?: Address;
  /** Give the metrics whose `client` observes the client, so that requests are counted. */
  readonly metrics?: Metrics;
  readonly registry?: Registry;
  readonly webhooks?: (context: RunnableContext) => Runnable;
  readonly logger?: Logger;
  readonly clock?: Clock;
  /** How long reconciles may go on after a stop. Default 20 seconds. */
  readonly drainMs?: number;
  /** How long one reconcile may take. Default 5 minutes. */
  readonly reconcileTimeoutMs?: number;
  /** When a watch counts as out of date: without a sign of life, or without a connection, for this long. */
  readonly staleness?: Pick<CacheOptions, 'silentMs' | 'disconnectedMs'>;
  readonly reflect?: ReflectKind;
}

/** Refuses what would have operators work against each other. */
export function checkOperators(operators: readonly Operator<Resource, unknown>[]): void {
  const taken = new Map<string, string>();
  const take = (what: string, name: string, why: string): void => {
    const other = taken.get(what);
    if (other !== undefined) throw new RangeError(`operators '${other}' and '${name}' have the same ${what}: ${why}`);
    taken.set(what, name);
  };
  for (const { name, fieldManager, resource } of operators) {
    take(`name '${name}'`, name, 'give one of them another');
    take(`field manager '${fieldManager}'`, name, "they would undo each other's work; give one of them another");
    take(`resource ${resourceNameOf(resource)}`, name, 'both would write its status for ever; make them one operator');
  }
}
