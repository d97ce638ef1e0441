/**
 * For tests of the engine: an operator on a real API server with real caches, but with its turns taken by hand, so that a test
 * says what happens between two of them. Events are collected, the clock can be moved, the operator's rules can be swapped.
 */
import { type Clock, createClient, type KubeClient, loadConfig, reflect, systemClock } from '@keelson/kube';
import { defineResource, type Kind, type KubeObject, type Ref, Type } from '@keelson/schema';
import { createCache } from '../../cache/cache.ts';
import { OWNER_UID, ownerUidIndex } from '../../cache/object-index.ts';
import type { Live, Store } from '../../cache/store.ts';
import { apply, type Decision } from '../../decision.ts';
import type { RecordedNote } from '../../events/recorder.ts';
import { type Claims, createClaims } from '../../execute/claims.ts';
import { silentLogger } from '../../logging/logger.ts';
import { operatorSelector } from '../../marks.ts';
import type { Observed } from '../../observed.ts';
import { defineOperator, type Operator, type OperatorDefinition } from '../../operator.ts';
import type { Outcome } from '../conclude.ts';
import { createReconciler } from '../reconcile.ts';
import type { EngineHooks } from '../turn.ts';

/** The resource of the tests: what it means is up to the rules that each test gives. */
export const Bundle = defineResource({
  group: 'bench.keelson.io',
  version: 'v1',
  kind: 'Bundle',
  scope: 'Namespaced',
  description: 'Whatever a test wants.',
  spec: Type.Object({
    replicas: Type.Optional(Type.Integer({ minimum: 0, default: 1 })),
    text: Type.Optional(Type.String()),
  }),
  status: Type.Object({
    phase: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    current: Type.Optional(Type.Object({ state: Type.Optional(Type.String()) })),
  }),
});
export type Bundle = typeof Bundle;

export type Rules = (observed: Observed<Bundle, unknown>) => Decision<Bundle>;

export interface Workbench {
  readonly operator: Operator<Bundle, unknown>;
  readonly client: KubeClient;
  readonly events: RecordedNote[];
  readonly claims: Claims;
  /** What the operator answers from now on. */
  rules: Rules;
  /** Moves the clock of the engine ahead of the machine's. */
  ahead(ms: number): void;
  /** Makes an instance and waits until the cache has it. */
  create(name: string, spec?: Record<string, unknown>, metadata?: Record<string, unknown>): Promise<KubeObject>;
  /** One turn for one instance; throws the fault of a turn that failed, as the controller does. */
  turn(name: string): Promise<Outcome>;
  /** One turn that may come part of the way only. */
  attempt(name: string): Promise<Outcome>;
  self(name: string): Promise<KubeObject | undefined>;
  find(kind: Kind, name: string): Promise<KubeObject | undefined>;
  /** Waits until the cache of a kind shows what the test waits for. */
  seen(kind: Kind, name: string, like: (live: Live | undefined) => boolean): Promise<void>;
  /** The same operator in a new process: empty caches, no memory. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkbenchOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly owns: OperatorDefinition<Bundle, unknown>['owns'];
  readonly definition?: Partial<OperatorDefinition<Bundle, unknown>>;
  readonly hooks?: EngineHooks;
  /** Who makes the instances and looks at the result, if not the operator's own client. */
  readonly admin?: KubeClient;
}

export async function startWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const { namespace } = options;
  const client = createClient(await loadConfig({ kubeconfig: options.kubeconfig, env: {} }));
  const admin = options.admin ?? client;
  const events: RecordedNote[] = [];
  let offset = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + offset,
    monotonic: () => systemClock.monotonic() + offset,
  };
  const operator = defineOperator<Bundle, unknown>({
    name: 'bench',
    resource: Bundle,
    owns: options.owns,
    reconcile: (observed) => bench.rules(observed),
    ...options.definition,
  });
  let running = await start();

  async function start() {
    const stop = new AbortController();
    const cache = createCache({ client, reflect, clock: systemClock, logger: silentLogger });
    const manager = operator.fieldManager;
    const primary: Store = cache.open({ kind: Bundle as Kind, scope: { namespace }, manager }).store;
    const indexes = { [OWNER_UID]: ownerUidIndex };
    const scope = { labelSelector: operatorSelector(manager) };
    const owned = new Map(
      operator.owns.map(({ kind }) => [kind, cache.open({ kind, scope, manager, others: true, indexes }).store]),
    );
    const watched = new Map(operator.watches.map((watch) => [watch.kind, cache.open({ kind: watch.kind }).store]));
    cache.start(stop.signal);
    await Promise.all(
      [primary, ...owned.values(), ...watched.values()].map((store) => store.whenSynced(AbortSignal.timeout(20_000))),
    );
    const claims = createClaims();
    const reconciler = createReconciler({
      operator,
      client,
      primary,
      stores: {
        owned: (kind) => known(owned.get(kind)),
        watched: (watch) => known(watched.get(watch.kind)),
        served: () => true,
      },
      recorder: { record: (_, note) => void events.push(note), flush: async () => undefined },
      fence: { check: () => undefined },
      claims,
      clock,
      ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
    });
    return { stop, primary, owned, watched, claims, reconciler };
  }

  const storeOf = (kind: Kind): Store =>
    kind === (Bundle as Kind) ? running.primary : known(running.owned.get(kind) ?? running.watched.get(kind));
  const refOf = (kind: Kind, name: string): Ref => (kind.scope === 'Namespaced' ? { namespace, name } : { name });

  const bench: Workbench = {
    operator,
    client,
    events,
    get claims() {
      return running.claims;
    },
    rules: () => apply({ objects: [] }),
    ahead: (ms) => {
      offset += ms;
    },
    async create(name, spec = {}, metadata = {}) {
      const object = {
        apiVersion: 'bench.keelson.io/v1',
        kind: 'Bundle',
        metadata: { name, namespace, ...metadata },
        spec,
      };
      const created = await admin.create(Bundle as Kind, object);
      await bench.seen(Bundle, name, (live) => live !== undefined);
      return created;
    },
    async turn(name) {
      const outcome = await bench.attempt(name);
      if (outcome.fault !== undefined) throw outcome.fault;
      return outcome;
    },
    attempt: (name) => running.reconciler.reconcile({ namespace, name }, AbortSignal.timeout(20_000)),
    self: (name) => admin.find(Bundle as Kind, { namespace, name }),
    find: (kind, name) => admin.find(kind, refOf(kind, name)),
    async seen(kind, name, like) {
      const deadline = Date.now() + 15_000;
      while (!like(storeOf(kind).get(refOf(kind, name)))) {
        if (Date.now() > deadline) throw new Error(`the cache never showed the expected ${kind.kind} ${name}`);
        await systemClock.sleep(10);
      }
    },
    async restart() {
      running.stop.abort();
      running = await start();
    },
    async close() {
      running.stop.abort();
      await client.close();
    },
  };
  return bench;
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a test asks for a store that its operator does not have');
  return value;
}
