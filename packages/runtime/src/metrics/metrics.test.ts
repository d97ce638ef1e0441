import { readFileSync } from 'node:fs';
import { ConfigMap } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../testing/simulated-clock.ts';
import { definitions } from './definitions.ts';
import { createMetrics } from './metrics.ts';
import { toMetricsReference } from './reference.ts';

describe('the reference', () => {
  it('documents every metric that is exposed, once, and none that is not', async () => {
    const { body } = await createMetrics({ process: false }).scrape();
    const exposed = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    const reference = readFileSync(new URL('../../../../docs/reference/metrics.md', import.meta.url), 'utf8');
    const documented = [...reference.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(documented.sort()).toEqual(exposed.sort());
    expect(new Set(documented).size).toBe(documented.length);
    expect(exposed).toHaveLength(Object.keys(definitions).length);
  });

  it('is up to date', () => {
    const file = new URL('../../../../docs/reference/metrics.md', import.meta.url);
    expect(readFileSync(file, 'utf8'), 'run `make generate`').toBe(toMetricsReference());
  });
});

describe('metrics', () => {
  it('count what a controller does under the names of controller-runtime', async () => {
    const metrics = createMetrics({ process: false });
    const website = metrics.controller('website');
    website.reconciled('success', 0.02);
    website.reconciled('error', 0.02);
    website.failed('Invalid', true);
    website.bug();
    website.queue.added();
    website.queue.started(30);
    website.step('create', 'configmaps');
    website.transition(undefined, 'Pending');
    const { body, contentType } = await metrics.scrape();
    expect(contentType).toContain('text/plain');
    for (const line of [
      'controller_runtime_reconcile_total{controller="website",result="success"} 1',
      'controller_runtime_reconcile_errors_total{controller="website"} 2',
      'controller_runtime_terminal_reconcile_errors_total{controller="website"} 1',
      'keelson_reconcile_bugs_total{controller="website"} 1',
      'keelson_reconcile_faults_total{controller="website",code="Invalid"} 1',
      'workqueue_adds_total{name="website",controller="website"} 1',
      'workqueue_queue_duration_seconds_sum{name="website",controller="website"} 0.03',
      'keelson_steps_total{controller="website",action="create",resource="configmaps"} 1',
      'keelson_lifecycle_transitions_total{controller="website",from="",to="Pending"} 1',
    ])
      expect(body.split('\n')).toContain(line);
  });

  it('read the state of controllers and stores at each scrape, until told to stop', async () => {
    const clock = createSimulatedClock();
    const metrics = createMetrics({ process: false, clock });
    await clock.advance(5_000);
    metrics.watchController({
      name: 'website',
      depth: (priority) => (priority === 'background' ? 7 : 0),
      running: () => [
        ['a', 1_000],
        ['b', 3_000],
      ],
      active: 2,
      concurrency: 4,
      instances: 9,
      states: () =>
        new Map([
          ['Running', 8],
          ['Error', 1],
        ]),
    });
    const forget = metrics.watchStores(() => [
      {
        kind: ConfigMap,
        scope: { labelSelector: 'a=b' },
        hold: 'full',
        objects: 12,
        synced: true,
        echoMs: 20,
        feeds: [
          { state: 'following', stale: false, restarts: 2, lastContactMs: 100 },
          { state: 'interrupted', stale: true, restarts: 1, lastContactMs: 4_000 },
        ],
      },
    ]);
    await metrics.scrape();
    const lines = (await metrics.scrape()).body.split('\n');
    const store = '{resource="configmaps",scope="a=b",hold="full"}';
    for (const line of [
      'workqueue_depth{name="website",controller="website",priority="-100"} 7',
      'workqueue_unfinished_work_seconds{name="website",controller="website"} 6',
      'workqueue_longest_running_processor_seconds{name="website",controller="website"} 4',
      'controller_runtime_active_workers{controller="website"} 2',
      'keelson_lifecycle_instances{controller="website",state="Running"} 8',
      'keelson_lifecycle_instances{controller="website",state="Error"} 1',
      `keelson_cache_objects${store} 12`,
      `keelson_reflector_restarts_total${store} 3`,
      `keelson_reflector_stale${store} 1`,
      `keelson_reflector_last_contact_seconds${store} 4`,
      `keelson_reflector_lag_seconds${store} 0.02`,
    ])
      expect(lines).toContain(line);
    forget();
    expect((await metrics.scrape()).body).not.toContain('configmaps');
  });

  it('are all fed by somebody', async () => {
    const metrics = createMetrics({ process: false });
    const host = 'localhost';
    metrics.client.onRequest?.({ method: 'GET', host, code: '200', durationMs: 1, verb: 'get' });
    metrics.client.onRetry?.({ verb: 'get', attempt: 1, delayMs: 1, because: 'busy' });
    metrics.client.onThrottle?.({ verb: 'get', waitedMs: 1, limit: 1 });
    metrics.webhooks.started('/validate/x');
    metrics.webhooks.finished({ webhook: '/validate/x', code: 200, seconds: 1 });
    metrics.webhooks.threw('/validate/x');
    metrics.webhooks.handshakeFailed();
    metrics.webhooks.certificate({ which: 'serving', notAfter: new Date() });
    metrics.webhooks.wrote('crd');
    metrics.leader('lease', true);
    const controller = metrics.controller('website');
    controller.reconciled('success', 1);
    controller.ended('applied');
    controller.failed('Invalid', true);
    controller.bug();
    controller.step('create', 'configmaps');
    controller.effect('index', 'done');
    controller.transition('a', 'b');
    controller.eventDropped('rate');
    controller.queue.added();
    controller.queue.started(1);
    controller.queue.finished(1);
    controller.queue.retried();
    metrics.watchController({
      name: 'website',
      depth: () => 0,
      running: () => [],
      active: 0,
      concurrency: 1,
      instances: 0,
      states: () => new Map([['Running', 0]]),
    });
    const feeds = [{ state: 'following' as const, stale: false, restarts: 0, lastContactMs: 1 }];
    metrics.watchStores(() => [
      { kind: ConfigMap, scope: {}, hold: 'full', objects: 0, synced: true, echoMs: 1, feeds },
    ]);
    const { body } = await metrics.scrape();
    const silent = Object.values(definitions).filter(
      ({ name }) => !new RegExp(`^${name}(_count)?({.*})? `, 'm').test(body),
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('are separate for each manager, and include those of the process', async () => {
    const one = createMetrics();
    createMetrics();
    expect((await one.scrape()).body).toContain('process_resident_memory_bytes');
  });
});
