/**
 * The configurations of the collectors, out of what the tools write. A tool that comes or goes changes its own receiver and route and
 * nothing else.
 *
 * Invariant: pure, and the same sources in the same order give the same configurations. Where nobody writes, or there is nowhere to
 * write to, there are none.
 */
import type { Store } from '../store.ts';
import type { CollectorConfig } from './collector.ts';
import { gatewayConfig } from './gateway.ts';
import { nodeConfig } from './node.ts';
import { isRelayed } from './relay.ts';
import type { LogSource } from './source.ts';

export interface PipelineSettings {
  readonly store: Store | undefined;
  /** Whether documents that the store refuses are kept. */
  readonly deadLetters: boolean;
  /** How this cluster is called in events. */
  readonly cluster: string | undefined;
}

export interface PipelineConfigs {
  readonly node?: CollectorConfig;
  readonly gateway?: CollectorConfig;
}

/** Both configurations, or none. */
export function synthesise(sources: readonly LogSource[], settings: PipelineSettings): PipelineConfigs {
  const { store, cluster, deadLetters } = settings;
  if (sources.length === 0 || store === undefined) return {};
  return { node: nodeConfig(sources, cluster), gateway: gatewayConfig(sources, store, isRelayed(store, deadLetters)) };
}
