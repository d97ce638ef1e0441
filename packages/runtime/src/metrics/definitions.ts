/**
 * Every metric that the runtime exposes, as one table: names, labels and help. The metrics are made from it, and so is
 * docs/reference/metrics.md. The names of controller-runtime and client-go are kept, so that existing dashboards and alerts work;
 * what only Keelson has starts with `keelson_`.
 */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/** From 10 ns to 1,000 s, tenfold each: what client-go uses for its queues. */
const TENFOLD = Array.from({ length: 12 }, (_, power) => 10 ** (power - 8));
const RECONCILE = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const REQUEST = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

const CONTROLLER = ['controller'] as const;
const QUEUE = ['name', 'controller'] as const;
const STORE = ['resource', 'scope', 'hold'] as const;

export const definitions = {
  reconciles: {
    type: 'counter',
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by result: success, error, requeue (backs off) or requeue_after (looks again later)',
    labels: ['controller', 'result'],
  },
  reconcileErrors: {
    type: 'counter',
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed with a fault or a bug',
    labels: CONTROLLER,
  },
  terminalErrors: {
    type: 'counter',
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed in a way that only a change can mend; they are not retried',
    labels: CONTROLLER,
  },
  panics: {
    type: 'counter',
    name: 'controller_runtime_reconcile_panics_total',
    help: 'The same as keelson_reconcile_bugs_total, under the name that controller-runtime gives it',
    labels: CONTROLLER,
  },
  reconcileSeconds: {
    type: 'histogram',
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long one reconcile took',
    labels: CONTROLLER,
    buckets: RECONCILE,
  },
  maxConcurrent: {
    type: 'gauge',
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'How many instances a controller works on at once at most',
    labels: CONTROLLER,
  },
  activeWorkers: {
    type: 'gauge',
    name: 'controller_runtime_active_workers',
    help: 'How many instances a controller works on now',
    labels: CONTROLLER,
  },
  queueDepth: {
    type: 'gauge',
    name: 'workqueue_depth',
    help: 'Keys that are ready to run, by priority: 0 live change, -50 retry, -100 resync and start-up',
    labels: ['name', 'controller', 'priority'],
  },
  queueAdds: { type: 'counter', name: 'workqueue_adds_total', help: 'Keys that became ready', labels: QUEUE },
  queueSeconds: {
    type: 'histogram',
    name: 'workqueue_queue_duration_seconds',
    help: 'How long a key was ready before it ran',
    labels: QUEUE,
    buckets: TENFOLD,
  },
  workSeconds: {
    type: 'histogram',
    name: 'workqueue_work_duration_seconds',
    help: 'How long a key ran',
    labels: QUEUE,
    buckets: TENFOLD,
  },
  unfinishedSeconds: {
    type: 'gauge',
    name: 'workqueue_unfinished_work_seconds',
    help: 'Sum of how long the keys that run now have been running',
    labels: QUEUE,
  },
  longestSeconds: {
    type: 'gauge',
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How long the key that runs longest has been running',
    labels: QUEUE,
  },
  queueRetries: { type: 'counter', name: 'workqueue_retries_total', help: 'Retries after a failure', labels: QUEUE },
  requests: {
    type: 'counter',
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by status code; <error> when no answer came',
    labels: ['code', 'method', 'host'],
  },
  requestSeconds: {
    type: 'histogram',
    name: 'rest_client_request_duration_seconds',
    help: 'How long requests to the API server took; a watch until its first byte',
    labels: ['verb', 'host'],
    buckets: REQUEST,
  },
  requestRetries: {
    type: 'counter',
    name: 'rest_client_request_retries_total',
    help: 'Requests that the client sent again by itself',
    labels: ['verb'],
  },
  throttleSeconds: {
    type: 'histogram',
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'How long requests waited for their turn on our side',
    labels: ['verb'],
    buckets: REQUEST,
  },
  leader: {
    type: 'gauge',
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease, else 0',
    labels: ['name'],
  },
  webhookRequests: {
    type: 'counter',
    name: 'controller_runtime_webhook_requests_total',
    help: 'Admission and conversion requests by HTTP status code',
    labels: ['webhook', 'code'],
  },
  webhookSeconds: {
    type: 'histogram',
    name: 'controller_runtime_webhook_latency_seconds',
    help: 'How long admission and conversion requests took',
    labels: ['webhook'],
    buckets: REQUEST,
  },
  webhookInFlight: {
    type: 'gauge',
    name: 'controller_runtime_webhook_requests_in_flight',
    help: 'Admission and conversion requests that are being answered',
    labels: ['webhook'],
  },
  webhookPanics: {
    type: 'counter',
    name: 'controller_runtime_webhook_panics_total',
    help: 'Admission or conversion functions that threw',
    labels: ['webhook'],
  },
  webhookHandshakes: {
    type: 'counter',
    name: 'keelson_webhook_handshake_failures_total',
    help: 'Callers of the webhooks that did not get through TLS',
    labels: [],
  },
  certificateExpiry: {
    type: 'gauge',
    name: 'keelson_webhook_certificate_expiry_timestamp_seconds',
    help: 'When the certificate in use for the webhooks expires, in seconds since the epoch',
    labels: ['certificate'],
  },
  webhookWrites: {
    type: 'counter',
    name: 'keelson_webhook_writes_total',
    help: 'Certificates and registrations of the webhooks that were written to the cluster',
    labels: ['target'],
  },
  bugs: {
    type: 'counter',
    name: 'keelson_reconcile_bugs_total',
    help: 'Reconciles that threw something that is no fault: a bug in an operator or in Keelson',
    labels: CONTROLLER,
  },
  faults: {
    type: 'counter',
    name: 'keelson_reconcile_faults_total',
    help: 'Reconciles that failed, by code of the fault',
    labels: ['controller', 'code'],
  },
  outcomes: {
    type: 'counter',
    name: 'keelson_reconcile_outcomes_total',
    help: 'Reconciles that ended well, by what came out: applied, waiting, rejected, expired, deleted, absent',
    labels: ['controller', 'outcome'],
  },
  steps: {
    type: 'counter',
    name: 'keelson_steps_total',
    help: 'Writes to children that were carried out, by action (create, change, delete) and resource',
    labels: ['controller', 'action', 'resource'],
  },
  effects: {
    type: 'counter',
    name: 'keelson_effects_total',
    help: 'Effects outside Kubernetes that were run, by handler and result (done, failed)',
    labels: ['controller', 'handler', 'result'],
  },
  transitions: {
    type: 'counter',
    name: 'keelson_lifecycle_transitions_total',
    help: 'Moves of instances from one state of their life cycle to another',
    labels: ['controller', 'from', 'to'],
  },
  eventsDropped: {
    type: 'counter',
    name: 'keelson_events_dropped_total',
    help: 'Events that were not written, by reason: rate, buffer, refused, fenced',
    labels: ['controller', 'reason'],
  },
  instances: {
    type: 'gauge',
    name: 'keelson_instances',
    help: 'Instances of the resource that a controller reconciles',
    labels: CONTROLLER,
  },
  instancesByState: {
    type: 'gauge',
    name: 'keelson_lifecycle_instances',
    help: 'Instances by the state of their life cycle; one without a state yet counts as being in the initial one',
    labels: ['controller', 'state'],
  },
  cacheObjects: { type: 'gauge', name: 'keelson_cache_objects', help: 'Objects that a store holds', labels: STORE },
  cacheSynced: {
    type: 'gauge',
    name: 'keelson_cache_synced',
    help: '1 once a store has had its first full list, else 0',
    labels: STORE,
  },
  reflectorRestarts: {
    type: 'counter',
    name: 'keelson_reflector_restarts_total',
    help: 'How often the watch of a store broke off',
    labels: STORE,
  },
  reflectorContact: {
    type: 'gauge',
    name: 'keelson_reflector_last_contact_seconds',
    help: 'Seconds since the watch of a store last showed a sign of life; bookmarks come about once a minute',
    labels: STORE,
  },
  reflectorStale: {
    type: 'gauge',
    name: 'keelson_reflector_stale',
    help: '1 while a store may be out of date (readiness fails), else 0',
    labels: STORE,
  },
  reflectorLag: {
    type: 'gauge',
    name: 'keelson_reflector_lag_seconds',
    help: 'How long the watch took to show the last of our own writes',
    labels: STORE,
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricId = keyof typeof definitions;
