/**
 * A controller runs one operator: stores → keys → queue → workers → reconciler.
 *
 * Invariants: it works only between `start` and `stop` (its process may be on standby), and only once all its stores are
 * complete; a kind that is not installed and not optional makes it wait and say so, and no other controller. The worker below catches everything:
 * a fault is retried as the table of faults says, anything else is a bug that is counted apart and backed off. One bad instance
 * never stalls another: each has its own back-off, and one whose work never ends gives its worker up.
 */
import { Fault, type KubeClient } from '@keelson/kube';
import { type Kind, type Resource, resourceNameOf, toMilliseconds } from '@keelson/schema';
import type { Cache, StoreReport } from '../cache/cache.ts';
import { after, type Clock } from '../clock.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Claims } from '../execute/claims.ts';
import { type Key, toRef } from '../key.ts';
import type { Fence } from '../lease/fence.ts';
import type { Logger } from '../logging/logger.ts';
import type { ControllerMetrics, ControllerSource } from '../metrics/metrics.ts';
import type { Operator } from '../operator.ts';
import { createQueue } from '../queue/queue.ts';
import { createWorkers } from '../queue/workers.ts';
import type { Outcome } from '../reconciler/conclude.ts';
import { createReconciler } from '../reconciler/reconcile.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { createBugLog } from './bug-log.ts';
import { judgeFailure } from './failure.ts';
import { createRouting } from './routing.ts';
import { countStates } from './states.ts';
import { openStores } from './stores.ts';

export interface ControllerOptions {
  readonly operator: Operator<Resource, unknown>;
  readonly client: KubeClient;
  readonly cache: Cache;
  readonly recorder: Recorder;
  readonly fence: Fence;
  /** Shared by all controllers of a process. */
  readonly claims: Claims;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** How long one reconcile may take. Default 5 minutes. */
  readonly timeoutMs?: number;
  /** Told of a fault with which the process cannot go on. */
  readonly onFatal: (fault: Fault) => void;
}

export interface Controller extends ControllerSource {
  /** `waiting` until its stores are complete; `standby` while another replica leads. */
  readonly state: 'standby' | 'waiting' | 'working';
  stores(): readonly StoreReport[];
  /** The kinds without which it does not begin. */
  missing(): readonly Kind[];
  /** Begins to work, as soon as the stores are complete. */
  start(): void;
  /** Stops working: what runs may finish until the deadline. The stores stay warm. Answers the keys that run on regardless. */
  stop(deadlineMs: number): Promise<readonly Key[]>;
  /** Lets go of the stores. */
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
/** How long a reconcile whose time is up has to notice. */
const TIMEOUT_GRACE_MS = 5_000;

export function createController(options: ControllerOptions): Controller {
  const { operator, cache, clock, metrics, tracing, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const logger = options.logger.child({ controller: operator.name });
  const stores = openStores(operator, cache);
  const queue = createQueue({ clock, observer: metrics.queue });
  /** What came up while a key runs and may yet turn out to be its own work: only when it is done do we know. */
  const undecided = new Map<Key, Set<string>>();
  const routing = createRouting(stores, {
    wake(key, priority, cause) {
      if (state === 'standby') return;
      const causes = undecided.get(key);
      if (causes === undefined) queue.add(key, priority);
      else causes.add(cause);
    },
    settle: (key, cause) => undecided.get(key)?.delete(cause),
  });
  const reconciler = createReconciler({
    ...options,
    primary: stores.primary,
    stores: { owned: stores.ownedBy, watched: stores.watchedBy, served: stores.isServed },
    span: tracing.step,
    hooks: {
      step: ({ action, kind }) => metrics.step(action, resourceNameOf(kind)),
      transition: ({ from, to }) => metrics.transition(from, to),
      effect: ({ handler, state: result }) => metrics.effect(handler, result),
      related: routing.relate,
    },
  });
  // What an instance decides may hang on a kind that came or went.
  const forgetServed = stores.onServed(() => {
    if (state === 'working') for (const key of routing.keys()) queue.add(key, 'background');
  });
  const workers = createWorkers({ queue, concurrency: operator.concurrency, clock, work });
  const bugs = createBugLog();
  const resyncMs = toMilliseconds(operator.resync);
  let state: Controller['state'] = 'standby';
  let stopWaiting: AbortController | undefined;
  let lastId = 0;

  async function work(key: Key, stopped: AbortSignal, giveUp: () => void): Promise<void> {
    lastId += 1;
    const log = logger.child({ key, reconcileId: lastId });
    const startedAt = clock.monotonic();
    const late = new AbortController();
    const timeIsUp = new Fault('TimedOut', `the reconcile of ${key} took longer than ${timeoutMs / 1_000} s`);
    const cancelTimeout = after(clock, timeoutMs, () => late.abort(timeIsUp));
    const cancelGiveUp = after(clock, timeoutMs + TIMEOUT_GRACE_MS, () => {
      log.error({ seconds: timeoutMs / 1_000 }, 'bug: the reconcile does not heed its signal; others go on without it');
      giveUp();
    });
    const causes = new Set<string>();
    undecided.set(key, causes);
    const seconds = (): number => (clock.monotonic() - startedAt) / 1_000;
    let dueInMs: number | undefined;
    try {
      const signal = AbortSignal.any([stopped, late.signal]);
      const outcome = await tracing.reconcile(operator.name, key, async () => {
        const reached = await reconciler.reconcile(toRef(key), signal);
        dueInMs = reached.requeueAfterMs;
        if (reached.fault !== undefined) throw reached.fault;
        return reached;
      });
      succeed(key, outcome, seconds(), log);
    } catch (error) {
      // Whoever stopped the workers will have every instance looked at again.
      if (stopped.aborted) log.debug({ error: String(error) }, 'reconcile cut short');
      else {
        fail(key, late.signal.aborted ? timeIsUp : error, seconds(), log);
        if (dueInMs !== undefined) queue.addAfter(key, dueInMs);
      }
    } finally {
      cancelTimeout();
      cancelGiveUp();
      undecided.delete(key);
      if (causes.size > 0) queue.add(key);
    }
  }

  function succeed(key: Key, outcome: Outcome, seconds: number, log: Logger): void {
    queue.forget(key);
    metrics.ended(outcome.result);
    metrics.reconciled(outcome.requeueAfterMs === undefined ? 'success' : 'requeue_after', seconds);
    const fields = { result: outcome.result, steps: outcome.steps, ms: Math.round(seconds * 1_000) };
    if (outcome.steps > 0 || outcome.statusWritten) log.info(fields, 'reconciled');
    else log.debug(fields, 'reconciled');
    if (outcome.result === 'absent') return;
    if (outcome.requeueAfterMs !== undefined) queue.addAfter(key, outcome.requeueAfterMs);
    lookAgainLater(key);
  }

  function fail(key: Key, error: unknown, seconds: number, log: Logger): void {
    metrics.reconciled('error', seconds);
    const verdict = judgeFailure(error);
    if (verdict.do === 'retry-bug') {
      metrics.bug();
      const retryMs = queue.retry(key, verdict.backoff);
      const isNew = bugs.isNew(error);
      if (isNew) log.error({ error, retryMs }, 'bug: the reconcile threw something that is no fault');
      else log.error({ error: String(error), retryMs }, 'bug: the same as before');
      return;
    }
    const { fault } = verdict;
    const fields = { code: fault.code, error: fault.message };
    metrics.failed(fault.code, verdict.do === 'wait');
    if (verdict.do === 'exit') {
      log.error(fields, 'the process cannot go on');
      options.onFatal(fault);
    } else if (verdict.do === 'wait') {
      queue.forget(key);
      log.error(fields, 'failed: not tried again before something changes');
      lookAgainLater(key);
    } else {
      const retryMs = queue.retry(key, verdict.backoff, verdict.atLeastMs);
      // Losing a race is everyday life; it is worth a line only when it goes on.
      const isOrdinary = (fault.code === 'Conflict' || fault.code === 'LeaseLost') && queue.failures(key) < 4;
      log[isOrdinary ? 'debug' : 'warn']({ ...fields, retryMs }, 'failed: will try again');
    }
  }

  /** The resync: each instance at its own time, so that it never comes in a wave. */
  function lookAgainLater(key: Key): void {
    queue.addAfter(key, resyncMs * (0.9 + 0.2 * clock.random()), 'background');
  }

  async function begin(signal: AbortSignal): Promise<void> {
    try {
      await stores.whenComplete(signal);
    } catch {
      return; // stopped while waiting
    }
    if (signal.aborted) return;
    state = 'working';
    for (const key of routing.keys()) queue.add(key, 'background');
    logger.info({ instances: stores.primary.size }, 'working');
    workers.start();
  }

  return {
    name: operator.name,
    concurrency: operator.concurrency,
    depth: (priority) => queue.depth(priority),
    running: () => queue.running(),
    get active() {
      return workers.active;
    },
    get instances() {
      return stores.primary.size;
    },
    states: () => countStates(operator.lifecycle, stores.primary),
    get state() {
      return state;
    },
    stores: stores.reports,
    missing: stores.missing,
    start() {
      if (state !== 'standby') return;
      state = 'waiting';
      stopWaiting = new AbortController();
      void begin(stopWaiting.signal);
    },
    async stop(deadlineMs) {
      stopWaiting?.abort();
      state = 'standby';
      const left = await workers.stop(deadlineMs);
      queue.clear();
      if (left.length > 0) logger.error({ keys: left }, 'these reconciles did not stop in time');
      return left;
    },
    close() {
      forgetServed();
      routing.close();
      stores.close();
    },
  };
}
