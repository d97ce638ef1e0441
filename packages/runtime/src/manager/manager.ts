/**
 * The manager of a process: puts cache, election, controllers, webhooks, health and metrics together, starts them in order and
 * stops them in order.
 *
 * Invariants: operators share nothing that one could break for another but the connection and the cache; they start at the same
 * time and wait for nobody. Nothing is written before the lease is held or after it may be lost; a lost lease stops the work
 * and keeps the caches warm. On stop: no more keys are taken, what runs may finish until the deadline, events are written, the
 * lease is given back, and only then do the watches end. Signals of the operating system are the business of whoever calls `run`.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Fault, reflect as kubeReflect } from '@keelson/kube';
import { resourceNameOf } from '@keelson/schema';
import { createCache } from '../cache/cache.ts';
import { systemClock } from '../clock.ts';
import { type Controller, createController } from '../controller/controller.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import type { Recorder } from '../events/recorder.ts';
import { createClaims } from '../execute/claims.ts';
import { type Finding, type Health, isRefused, judgeStore, toHealth } from '../health/checks.ts';
import { startHeartbeat } from '../health/heartbeat.ts';
import { type HttpServer, startHttpServer, toHealthRoute } from '../health/server.ts';
import { createElector, type Elector } from '../lease/elector.ts';
import { openFence } from '../lease/fence.ts';
import { createLogger } from '../logging/logger.ts';
import { createMetrics, type Metrics } from '../metrics/metrics.ts';
import { createTracing } from '../tracing/tracing.ts';
import { checkOperators, type ManagerOptions } from './options.ts';

export interface Manager {
  /** Runs until the signal is aborted and everything has stopped; rejects when it cannot start or go on. */
  run(signal: AbortSignal): Promise<void>;
  /** Whether this replica can be relied on, and what is wrong. */
  readonly ready: Health;
  readonly isLeader: boolean;
  readonly metrics: Metrics;
  /** The port that health is served on, once it is. */
  readonly healthPort: number | undefined;
}

const FLUSH_MS = 3_000;

export function createManager(options: ManagerOptions): Manager {
  const { client, operators, leaderElection, clock = systemClock, drainMs = 20_000 } = options;
  checkOperators(operators);
  const logger = options.logger ?? createLogger();
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  const metrics =
    options.metrics ??
    createMetrics({ clock, ...(options.registry === undefined ? {} : { registry: options.registry }) });
  const elector: Elector | undefined =
    leaderElection === false ? undefined : createElector({ ...leaderElection, client, identity, clock, logger });
  const fence = elector?.fence ?? openFence;
  const cache = createCache({
    client,
    clock,
    logger,
    reflect: options.reflect ?? kubeReflect,
    ...options.staleness,
    ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
  });
  const claims = createClaims();
  const tracing = createTracing();
  const fatal = Promise.withResolvers<never>();
  // Nobody may be listening yet, or any more.
  fatal.promise.catch(() => undefined);
  const webhooks = options.webhooks?.({ fence, metrics, logger, clock });
  const recorders: Recorder[] = [];
  let phase: 'new' | 'running' | 'stopping' = 'new';
  let healthServer: HttpServer | undefined;

  const controllers = operators.map((operator): Controller => {
    const counters = metrics.controller(operator.name);
    const recorder = createEventRecorder({
      client,
      clock,
      fence,
      logger: logger.child({ controller: operator.name }),
      source: { controller: `keelson.io/${operator.name}`, instance: identity },
      onDrop: counters.eventDropped,
    });
    recorders.push(recorder);
    return createController({
      operator,
      client,
      cache,
      recorder,
      fence,
      claims,
      clock,
      logger,
      metrics: counters,
      tracing,
      ...(options.reconcileTimeoutMs === undefined ? {} : { timeoutMs: options.reconcileTimeoutMs }),
      onFatal: (fault: Fault) => fatal.reject(fault),
    });
  });

  function readiness(): Health {
    const isAnyAllowed = controllers.some((controller) => !controller.stores().some(isRefused));
    const refusal = isAnyAllowed ? 'waiting' : 'failed';
    const findings: Finding[] = cache.reports().flatMap((report) => judgeStore(report, refusal));
    if (phase !== 'running') {
      const message = phase === 'new' ? 'not started' : 'stopping';
      findings.push({ subject: 'process', state: 'failed', message });
    }
    if (webhooks !== undefined) {
      const { ok, message } = webhooks.ready();
      findings.push({ subject: 'webhooks', state: ok ? 'ok' : 'failed', message });
    }
    findings.push(...controllers.map((controller) => judgeController(controller, 'waiting')));
    if (elector !== undefined) {
      const message = elector.isLeader ? 'leading' : `standing by for ${elector.holder ?? 'nobody'}`;
      findings.push({ subject: 'leader election', state: 'ok', message });
    }
    return toHealth(findings);
  }

  async function serve(liveness: () => Finding): Promise<HttpServer[]> {
    const scrape = { '/metrics': async () => ({ status: 200, ...(await metrics.scrape()) }) };
    const servers: HttpServer[] = [];
    if (options.health !== undefined && options.health !== false) {
      const probes = {
        '/healthz': toHealthRoute(() => toHealth([liveness()])),
        '/readyz': toHealthRoute(readiness),
        ...Object.fromEntries(controllers.map((one) => [`/readyz/${one.name}`, toHealthRoute(() => healthOf(one))])),
      };
      const routes = options.metricsAddress === undefined ? { ...probes, ...scrape } : probes;
      healthServer = await startHttpServer(options.health, routes, 'health');
      servers.push(healthServer);
    }
    if (options.metricsAddress !== undefined)
      servers.push(await startHttpServer(options.metricsAddress, scrape, 'metrics'));
    return servers;
  }

  function showLeader(isLeader: boolean): void {
    if (leaderElection !== false) metrics.leader(leaderElection.name, isLeader);
  }

  /** Works until the lease is lost or the process is to stop, and has stopped when it resolves. */
  async function lead(signal: AbortSignal, term: AbortSignal): Promise<void> {
    showLeader(true);
    for (const controller of controllers) controller.start();
    const failure = await Promise.race([
      whenAborted(AbortSignal.any([signal, term])),
      fatal.promise.catch((fault: Fault) => fault),
    ]);
    const deadlineMs = term.aborted ? 0 : drainMs;
    await Promise.all(controllers.map((controller) => controller.stop(deadlineMs)));
    if (!term.aborted) await flush();
    showLeader(false);
    if (failure !== undefined) throw failure;
  }

  async function flush(): Promise<void> {
    const signal = AbortSignal.timeout(FLUSH_MS);
    await Promise.all(recorders.map((recorder) => recorder.flush(signal)));
  }

  return {
    metrics,
    get ready() {
      return readiness();
    },
    get isLeader() {
      return elector === undefined ? phase === 'running' : elector.isLeader;
    },
    get healthPort() {
      return healthServer?.port;
    },
    async run(signal) {
      if (phase !== 'new') throw new Error('this manager has been run already: make another one');
      phase = 'running';
      const watching = new AbortController();
      const heartbeat = startHeartbeat(clock);
      const forget = [metrics.watchStores(cache.reports), ...controllers.map((one) => metrics.watchController(one))];
      let servers: readonly HttpServer[] = [];
      signal.addEventListener(
        'abort',
        () => {
          phase = 'stopping';
        },
        { once: true },
      );
      try {
        showLeader(false);
        servers = await serve(heartbeat.check);
        await webhooks?.start(signal);
        cache.start(watching.signal);
        logger.info({ identity, operators: operators.map(({ name }) => name) }, 'started');
        if (elector === undefined) await lead(signal, new AbortController().signal);
        else await elector.run(signal, (term) => lead(signal, term));
      } finally {
        phase = 'stopping';
        await flush();
        await webhooks?.stop();
        for (const controller of controllers) controller.close();
        watching.abort(new Error('the manager has stopped'));
        await Promise.all(servers.map((server) => server.close()));
        heartbeat.stop();
        for (const one of forget) one();
        logger.info({}, 'stopped');
      }
    },
  };
}

/** Whether one operator can do its work. */
function healthOf(controller: Controller): Health {
  const stores = controller.stores().flatMap((report) => judgeStore(report));
  return toHealth([...stores, judgeController(controller, 'failed')]);
}

function judgeController(controller: Controller, held: 'failed' | 'waiting'): Finding {
  const missing = controller.missing().map((kind) => resourceNameOf(kind));
  const isHeld = controller.state === 'waiting' && missing.length > 0;
  const message = isHeld ? `waiting for ${missing.join(', ')}` : controller.state;
  return { subject: `controller ${controller.name}`, state: isHeld ? held : 'ok', message };
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
