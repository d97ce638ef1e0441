/** Which collectors are asked: every gateway, and of the collectors on nodes all, or of very many an even sample that moves on. */
import { type ObjectSet, toLabelValue } from '@keelson/runtime';
import { Pod } from '@keelson/schema';
import { GATEWAY, NODE_COLLECTOR } from '../../names.ts';
import { RELAY } from '../relay.ts';

export type Role = 'node' | 'gateway';

/** A collector that runs, and where. */
export interface Collector {
  readonly role: Role;
  /** Of a node collector the node, of a gateway the pod: as a person looks for it. */
  readonly name: string;
  readonly ip: string;
  /** A gateway with a relay beside it, which is asked as well. */
  readonly hasRelay?: true;
}

export interface Collectors {
  /** Those to ask. */
  readonly asked: readonly Collector[];
  /** How many there are on nodes, asked or not. */
  readonly nodes: number;
  /** Whether there is one of each that takes work. */
  readonly ready: Readonly<Record<Role, boolean>>;
}

/** As many on nodes are asked at most: the figures of a part tell how all do. */
export const MOST_NODES = 100;
/** As long a sample stays: what is stuck shows only by comparing one collector with itself. */
const SAMPLE_MS = 10 * 60_000;

/** Out of the pods that belong to an agent. */
export function collectorsOf(related: ObjectSet, now: Date): Collectors {
  const pods = related.list(Pod).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const of = (workload: string) =>
    pods.filter(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === toLabelValue(workload));
  const [nodes, gateways] = [of(NODE_COLLECTOR), of(GATEWAY)];
  const running = nodes.flatMap((pod) => toCollector('node', pod)).sort(byName);
  return {
    asked: [...gateways.flatMap((pod) => toCollector('gateway', pod)).sort(byName), ...sampleOf(running, now)],
    nodes: running.length,
    ready: { node: nodes.some(isReady), gateway: gateways.some(isReady) },
  };
}

function toCollector(role: Role, { metadata, spec, status }: Pod): readonly Collector[] {
  if (status?.phase !== 'Running' || status.podIP === undefined || status.podIP === '') return [];
  const name = role === 'node' ? (spec?.nodeName ?? metadata.name) : metadata.name;
  // Of the spec of containers nothing is in the cache (assess/watched.ts).
  const hasRelay = role === 'gateway' && status.initContainerStatuses?.some((one) => one.name === RELAY) === true;
  return [{ role, name, ip: status.podIP, ...(hasRelay ? { hasRelay } : {}) }];
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
}

function byName(a: Collector, b: Collector): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function sampleOf(all: readonly Collector[], now: Date): readonly Collector[] {
  if (all.length <= MOST_NODES) return all;
  const step = all.length / MOST_NODES;
  const start = Math.floor(now.getTime() / SAMPLE_MS) % Math.ceil(step);
  const places = Array.from({ length: MOST_NODES }, (_, i) => (Math.floor(i * step) + start) % all.length);
  return [...new Set(places)].sort((a, b) => a - b).flatMap((place) => all[place] ?? []);
}
