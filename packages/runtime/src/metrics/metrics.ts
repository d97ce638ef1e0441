/**
 * The metrics of a process, in a registry of its own: nothing is global, and two managers in one process do not mix.
 *
 * Counters and histograms are fed as things happen, through the small observers that queue, client, controller and webhooks ask
 * for. What is a state (depth, objects, staleness) is read when somebody scrapes, from the `Sources` that registered.
 */
import type { ClientObserver } from '@keelson/kube';
import { resourceNameOf } from '@keelson/schema';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { StoreReport } from '../cache/cache.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { DropReason } from '../events/event-recorder.ts';
import type { Key } from '../key.ts';
import { type Priority, priorities, type QueueObserver } from '../queue/queue.ts';
import type { WebhookObserver } from '../webhook/observer.ts';
import { definitions, type MetricDefinition, type MetricId } from './definitions.ts';

/** How controller-runtime numbers priorities. */
const PRIORITY_LABEL: Readonly<Record<Priority, string>> = { live: '0', retry: '-50', background: '-100' };

/** The state of one controller, read when somebody scrapes. */
export interface ControllerSource {
  readonly name: string;
  depth(priority: Priority): number;
  running(): Iterable<readonly [Key, number]>;
  readonly active: number;
  readonly concurrency: number;
  readonly instances: number;
  /** How many instances are in each state, if they have a life cycle. */
  states?(): ReadonlyMap<string, number>;
}

export interface ControllerMetrics {
  readonly queue: QueueObserver;
  reconciled(result: 'success' | 'error' | 'requeue' | 'requeue_after', seconds: number): void;
  ended(outcome: string): void;
  failed(code: string, isTerminal: boolean): void;
  bug(): void;
  step(action: string, resource: string): void;
  effect(handler: string, result: string): void;
  transition(from: string | undefined, to: string): void;
  eventDropped(reason: DropReason): void;
}

export interface Metrics {
  readonly registry: Registry;
  readonly client: ClientObserver;
  readonly webhooks: WebhookObserver;
  controller(name: string): ControllerMetrics;
  /** Reads the state of this controller at each scrape, until the returned function is called. */
  watchController(source: ControllerSource): () => void;
  watchStores(reports: () => readonly StoreReport[]): () => void;
  leader(name: string, isLeader: boolean): void;
  /** The text that Prometheus scrapes. */
  scrape(): Promise<{ contentType: string; body: string }>;
}

type Instrument<D extends MetricDefinition> = D['type'] extends 'counter'
  ? Counter
  : D['type'] extends 'gauge'
    ? Gauge
    : Histogram;
type Instruments = { readonly [Id in MetricId]: Instrument<(typeof definitions)[Id]> };

export interface MetricsOptions {
  /** Default: a registry of its own. */
  readonly registry?: Registry;
  readonly clock?: Clock;
  /** CPU, memory, event loop and garbage collection of this process. Default true. */
  readonly process?: boolean;
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const registry = options.registry ?? new Registry();
  const clock = options.clock ?? systemClock;
  const instruments = createInstruments(registry);
  const controllers = new Set<ControllerSource>();
  const stores = new Set<() => readonly StoreReport[]>();
  if (options.process !== false) collectDefaultMetrics({ register: registry });

  function collectController(source: ControllerSource): void {
    const { name } = source;
    const queue = { name, controller: name };
    const now = clock.monotonic();
    const running = Array.from(source.running(), ([, since]) => (now - since) / 1_000);
    for (const priority of priorities)
      instruments.queueDepth.set({ ...queue, priority: PRIORITY_LABEL[priority] }, source.depth(priority));
    instruments.unfinishedSeconds.set(
      queue,
      running.reduce((sum, seconds) => sum + seconds, 0),
    );
    instruments.longestSeconds.set(queue, Math.max(0, ...running));
    instruments.activeWorkers.set({ controller: name }, source.active);
    instruments.maxConcurrent.set({ controller: name }, source.concurrency);
    instruments.instances.set({ controller: name }, source.instances);
    for (const [state, count] of source.states?.() ?? [])
      instruments.instancesByState.set({ controller: name, state }, count);
  }

  function collectStores(): void {
    const { cacheObjects, cacheSynced, reflectorRestarts, reflectorContact, reflectorStale, reflectorLag } =
      instruments;
    for (const one of [cacheObjects, cacheSynced, reflectorRestarts, reflectorContact, reflectorStale, reflectorLag])
      one.reset();
    for (const report of [...stores].flatMap((reports) => [...reports()])) {
      const labels = { resource: resourceNameOf(report.kind), scope: toScopeLabel(report), hold: report.hold };
      cacheObjects.set(labels, report.objects);
      cacheSynced.set(labels, report.synced ? 1 : 0);
      reflectorRestarts.inc(
        labels,
        report.feeds.reduce((sum, feed) => sum + feed.restarts, 0),
      );
      reflectorStale.set(labels, report.feeds.some((feed) => feed.stale) ? 1 : 0);
      const contacts = report.feeds.flatMap((feed) => (feed.lastContactMs === undefined ? [] : [feed.lastContactMs]));
      if (contacts.length > 0) reflectorContact.set(labels, Math.max(...contacts) / 1_000);
      if (report.echoMs !== undefined) reflectorLag.set(labels, report.echoMs / 1_000);
    }
  }

  return {
    registry,
    client: {
      onRequest({ code, method, host, verb, durationMs }) {
        instruments.requests.inc({ code, method, host });
        instruments.requestSeconds.observe({ verb, host }, durationMs / 1_000);
      },
      onRetry: ({ verb }) => instruments.requestRetries.inc({ verb }),
      onThrottle: ({ verb, waitedMs }) => instruments.throttleSeconds.observe({ verb }, waitedMs / 1_000),
    },
    webhooks: toWebhookObserver(instruments),
    controller(name) {
      const queue = { name, controller: name };
      const controller = { controller: name };
      return {
        queue: {
          added: () => instruments.queueAdds.inc(queue),
          started: (waitedMs) => instruments.queueSeconds.observe(queue, waitedMs / 1_000),
          finished: (workedMs) => instruments.workSeconds.observe(queue, workedMs / 1_000),
          retried: () => instruments.queueRetries.inc(queue),
        },
        reconciled(result, seconds) {
          instruments.reconciles.inc({ ...controller, result });
          instruments.reconcileSeconds.observe(controller, seconds);
        },
        ended: (outcome) => instruments.outcomes.inc({ ...controller, outcome }),
        failed(code, isTerminal) {
          instruments.reconcileErrors.inc(controller);
          instruments.faults.inc({ ...controller, code });
          if (isTerminal) instruments.terminalErrors.inc(controller);
        },
        bug() {
          instruments.reconcileErrors.inc(controller);
          instruments.bugs.inc(controller);
          instruments.panics.inc(controller);
        },
        step: (action, resource) => instruments.steps.inc({ ...controller, action, resource }),
        effect: (handler, result) => instruments.effects.inc({ ...controller, handler, result }),
        transition: (from = '', to) => instruments.transitions.inc({ ...controller, from, to }),
        eventDropped: (reason) => instruments.eventsDropped.inc({ ...controller, reason }),
      };
    },
    watchController(source) {
      controllers.add(source);
      return () => controllers.delete(source);
    },
    watchStores(reports) {
      stores.add(reports);
      return () => stores.delete(reports);
    },
    leader: (name, isLeader) => instruments.leader.set({ name }, isLeader ? 1 : 0),
    async scrape() {
      for (const source of controllers) collectController(source);
      collectStores();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function createInstruments(registry: Registry): Instruments {
  const made: Record<string, Counter | Gauge | Histogram> = {};
  for (const [id, definition] of Object.entries(definitions) as [MetricId, MetricDefinition][]) {
    const { name, help, labels, buckets = [] } = definition;
    const shared = { name, help, labelNames: [...labels], registers: [registry] };
    if (definition.type === 'counter') made[id] = new Counter(shared);
    else if (definition.type === 'gauge') made[id] = new Gauge(shared);
    else made[id] = new Histogram({ ...shared, buckets: [...buckets] });
  }
  return made as unknown as Instruments;
}

function toScopeLabel({ scope }: StoreReport): string {
  return [scope.namespace, scope.labelSelector, scope.fieldSelector].filter((part) => part !== undefined).join(' ');
}

function toWebhookObserver(instruments: Instruments): WebhookObserver {
  return {
    started: (webhook) => instruments.webhookInFlight.inc({ webhook }),
    finished({ webhook, code, seconds }) {
      instruments.webhookInFlight.dec({ webhook });
      instruments.webhookRequests.inc({ webhook, code: `${code}` });
      instruments.webhookSeconds.observe({ webhook }, seconds);
    },
    threw: (webhook) => instruments.webhookPanics.inc({ webhook }),
    handshakeFailed: () => instruments.webhookHandshakes.inc(),
    certificate: ({ which, notAfter }) =>
      instruments.certificateExpiry.set({ certificate: which }, notAfter.getTime() / 1_000),
    wrote: (target) => instruments.webhookWrites.inc({ target }),
  };
}
