/**
 * Previews an instance against a cluster: what the operator would do if this instance were applied now, without doing it. It
 * reads what the reconciler would have in its caches and then runs the same steps; the API server's dry run has the last word on
 * what would really change. For `keelson plan`.
 */
import { isFault, type KubeClient, systemClock } from '@keelson/kube';
import {
  apiVersionOf,
  type Kind,
  type KubeObject,
  type Problem,
  type Resource,
  resourceNameOf,
  type Secret,
} from '@keelson/schema';
import { askServer, mergeFile } from './as-applied.ts';
import { byName, type Scope } from './cache/cache.ts';
import { createStore } from './cache/memory-store.ts';
import { holdsUid, OWNER_UID, ownerUidIndex } from './cache/object-index.ts';
import { type Hold, holdOf } from './cache/projection.ts';
import type { Store } from './cache/store.ts';
import type { Decision } from './decision.ts';
import { createEffectRunner } from './effects/runner.ts';
import { createClaims } from './execute/claims.ts';
import type { Fence } from './lease/fence.ts';
import { fenceWrites } from './lease/fence-writes.ts';
import { type Owner, operatorSelector, toOwner } from './marks.ts';
import type { Operator, Owned, Watch } from './operator.ts';
import { toLive } from './plan/fields.ts';
import { ownershipOf } from './plan/ownership.ts';
import {
  type ChangeStep,
  type CreateStep,
  type Leaving,
  type Plan,
  type Refusal,
  type Step,
  toRefusal,
  toStep,
} from './plan/plan.ts';
import { createSettled } from './plan/settled.ts';
import { isSame } from './plan/value.ts';
import { toWanted } from './plan/wanted.ts';
import { decide } from './reconciler/decide.ts';
import { collectOwned, observe } from './reconciler/observe.ts';
import { createParseOnce } from './reconciler/parse-once.ts';
import { planTurn } from './reconciler/perform.ts';
import type { Engine, Turn } from './reconciler/turn.ts';
import { createRedactor } from './redact.ts';
import { admitInstance, withNamespace } from './render.ts';

export interface PreviewOptions<R extends Resource, X> {
  readonly operator: Operator<R, X>;
  readonly client: KubeClient;
  /** The instance as it would be applied; it need not exist. */
  readonly object: KubeObject;
  /** For an instance that names none. Default `default`. */
  readonly namespace?: string;
  /** What is applied together with it: a Namespace or a Secret that the cluster does not have yet counts as if it were there. */
  readonly beside?: readonly KubeObject[];
  readonly signal?: AbortSignal;
}

export interface Preview<R extends Resource> {
  /** What is wrong with the instance; if anything is, nothing was planned. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  /** The instance is in the cluster already. */
  readonly exists: boolean;
  readonly decision?: Decision<R>;
  readonly plan: Plan;
  /** What the API server says it would refuse. */
  readonly faults: readonly { readonly step: Step; readonly message: string }[];
}

const nothing: Plan = { steps: [], refusals: [], leaving: [] };

/** What would happen. Writes nothing. */
export async function previewInstance<R extends Resource, X>(options: PreviewOptions<R, X>): Promise<Preview<R>> {
  const { operator, client, beside = [], signal = new AbortController().signal } = options;
  const object = withNamespace(operator.resource, options.object, options.namespace);
  const existing: KubeObject | undefined = await client.find(operator.resource, object.metadata, { signal });
  const exists = existing !== undefined;
  const merged = exists ? mergeFile(existing, object) : object;
  const admitted = admitInstance(operator, merged, existing);
  if (admitted.instance === undefined) return { ...admitted, exists, plan: nothing, faults: [] };
  const bringsNamespace = beside.some(
    ({ kind, metadata }) => kind === 'Namespace' && metadata.name === object.metadata.namespace,
  );
  const asked = await askServer(client, operator.resource, { file: object, merged, existing, bringsNamespace }, signal);
  if ('problems' in asked) return { problems: asked.problems, warnings: [], exists, plan: nothing, faults: [] };
  const { instance, problems, ...stored } = admitInstance(operator, asked.object, existing);
  const warnings = [...asked.warnings, ...stored.warnings];
  if (instance === undefined) return { problems, warnings, exists, plan: nothing, faults: [] };

  let turn = await prepareTurn(operator, client, instance, signal);
  const owned = collectOwned(turn);
  const sight = { ...turn, engine: { ...turn.engine, client: seeing(client, beside.map(asStored)) } };
  const decision = decide(operator, await observe(sight, instance, owned));
  if (decision.kind !== 'apply') return { problems, warnings, exists, decision, plan: nothing, faults: [] };
  if (decision.adopt !== undefined && decision.adopt.length > 0) turn = await withNeighbours(turn);
  const draft = planTurn(turn, toWanted(operator, turn.owner, decision.objects), owned, decision);
  return { problems, warnings, exists, decision, ...(await refine(turn, draft)) };
}

/** The client, for reading one object at a time: what it does not find in the cluster may be among these. */
function seeing(client: KubeClient, beside: readonly KubeObject[]): KubeClient {
  const find: KubeClient['find'] = async (kind, ref, options) => {
    const live = await client.find(kind, ref, options);
    const coming = beside.find(
      (one) =>
        one.kind === kind.kind &&
        one.apiVersion === apiVersionOf(kind) &&
        one.metadata.name === ref.name &&
        one.metadata.namespace === ref.namespace,
    );
    return live ?? (coming as typeof live);
  };
  return { ...fenceWrites(client, noWrites), find };
}

/** A Secret may be written with plain values, which the API server encodes. */
function asStored(object: KubeObject): KubeObject {
  if (object.kind !== 'Secret') return object;
  const { stringData = {}, ...rest } = object as Secret;
  const encoded = Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { ...rest, data: { ...rest.data, ...Object.fromEntries(encoded) } } as KubeObject;
}

const noWrites: Fence = {
  check() {
    throw new Error('a preview writes nothing');
  },
};

/** A turn like the reconciler's, on stores that hold what the cluster has right now. */
async function prepareTurn<R extends Resource, X>(
  operator: Operator<R, X>,
  client: KubeClient,
  self: KubeObject,
  signal: AbortSignal,
): Promise<Turn<R, X>> {
  const owner = toOwner(operator, self);
  const owned = new Map<Kind, Store>();
  const missing = new Set<string>();
  for (const entry of operator.owns) owned.set(entry.kind, await readOwned(client, owner, entry, signal, missing));
  const watched = new Map<Watch<R>, Store>();
  for (const watch of operator.watches) {
    const { kind, scope = {} } = watch;
    watched.set(watch, await readAll({ client, kind, scopes: [scope], hold: holdOf(watch), signal, missing }));
  }
  const primary = createStore(operator.resource as Kind, {
    clock: systemClock,
    managers: new Set([operator.fieldManager]),
  });
  const engine: Engine<R, X> = {
    operator,
    client,
    primary: primary.view(operator.fieldManager),
    stores: {
      owned: (kind) => present(owned.get(kind)),
      watched: (watch) => present(watched.get(watch as Watch<R>)),
      served: (kind) => !missing.has(resourceNameOf(kind)),
    },
    recorder: { record: () => undefined, flush: async () => undefined },
    fence: noWrites,
    claims: createClaims(),
    clock: systemClock,
    span: (_, run) => run(),
    hooks: {},
    effects: createEffectRunner({ operator, clock: systemClock }),
    parse: createParseOnce(operator.resource),
    settled: createSettled(),
    settledStatus: createSettled(),
  };
  return {
    engine,
    self: { object: self },
    owner,
    generation: self.metadata.generation,
    now: new Date(systemClock.now()),
    signal,
    redactor: createRedactor(),
    past: { failures: 0, failure: undefined },
  };
}

/** With the other instances of the namespace: what one of them has is not adopted. */
async function withNeighbours<R extends Resource, X>(turn: Turn<R, X>): Promise<Turn<R, X>> {
  const { engine, owner, signal } = turn;
  const scope = owner.namespace === undefined ? {} : { namespace: owner.namespace };
  const { client, operator } = engine;
  const kind = operator.resource as Kind;
  const primary = await readAll({ client, kind, scopes: [scope], hold: 'metadata', signal, missing: new Set() });
  return { ...turn, engine: { ...engine, primary } };
}

function readOwned(
  client: KubeClient,
  owner: Owner,
  { kind, anywhere, names }: Owned,
  signal: AbortSignal,
  missing: Set<string>,
): Promise<Store> {
  const near = kind.scope === 'Namespaced' && anywhere !== true && owner.namespace !== undefined;
  const labelSelector = operatorSelector(owner.fieldManager);
  const scope = near ? { labelSelector, namespace: owner.namespace } : { labelSelector };
  const scopes = names?.map((name) => ({ ...scope, ...byName(name) })) ?? [scope];
  return readAll({ client, kind, scopes, hold: 'full', signal, missing, manager: owner.fieldManager });
}

interface Reading {
  readonly client: KubeClient;
  readonly kind: Kind;
  /** Each is asked for by itself. */
  readonly scopes: readonly Scope[];
  readonly hold: Hold;
  readonly signal: AbortSignal;
  /** Where the kinds go that the cluster does not have. */
  readonly missing: Set<string>;
  readonly manager?: string;
}

async function readAll({ client, kind, scopes, hold, signal, missing, manager }: Reading): Promise<Store> {
  const managers = new Set(manager === undefined ? [] : [manager]);
  const indexes = { [OWNER_UID]: ownerUidIndex };
  const store = createStore(kind, { clock: systemClock, hold, managers, others: manager !== undefined, indexes });
  try {
    const metadataOnly = hold === 'metadata';
    const pages = await Promise.all(scopes.map((scope) => client.listAll(kind, { ...scope, metadataOnly, signal })));
    store.replace(
      pages.flatMap(({ items }) => items),
      pages[0]?.resourceVersion ?? '0',
    );
  } catch (error) {
    // What the cluster does not know has no objects.
    if (!isFault(error, 'KindNotServed', 'NotFound')) throw error;
    missing.add(resourceNameOf(kind));
    store.replace([], '0');
  }
  return store.view(manager);
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError('an operator declares every kind it looks at');
  return value;
}

interface Refined {
  readonly plan: Plan;
  readonly faults: { readonly step: Step; readonly message: string }[];
}

/** Asks the API server about each step. */
async function refine(turn: Turn, draft: Plan): Promise<Refined> {
  const steps: Step[] = [];
  const refusals: Refusal[] = [...draft.refusals];
  const leaving: Leaving[] = [...draft.leaving];
  const faults: Refined['faults'] = [];
  for (const planned of draft.steps) {
    const met = planned.action === 'create' ? await meet(turn, planned) : { step: planned };
    if (met.refusal !== undefined) refusals.push(met.refusal);
    if (met.leaving !== undefined) leaving.push(met.leaving);
    if (met.step === undefined) continue;
    const verdict = met.step.action === 'delete' ? { differs: true } : await tryOut(turn, met.step);
    if (verdict.differs) steps.push(met.step);
    if (verdict.message !== undefined) faults.push({ step: met.step, message: verdict.message });
  }
  return { plan: { steps, refusals, leaving }, faults };
}

interface Met {
  readonly step?: Step | undefined;
  readonly refusal?: Refusal;
  readonly leaving?: Leaving;
}

/** What creating would find in its place. */
async function meet({ engine, owner, signal }: Turn, step: CreateStep): Promise<Met> {
  const there = await findIfServed(engine.client, step, signal);
  if (there === undefined) return { step };
  const ownership = ownershipOf(step.kind, there, owner, step.adopt, (uid) => holdsUid(engine.primary, uid));
  if (ownership.whose === 'foreign') return { refusal: toRefusal(step.kind, step.object, ownership) };
  if (there.metadata.deletionTimestamp !== undefined)
    return { leaving: { kind: step.kind, live: there, wanted: true } };
  return { step: toStep(step, toLive(there, owner.fieldManager), owner) };
}

async function findIfServed(
  client: KubeClient,
  step: CreateStep,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.find(step.kind, step.object.metadata, { signal });
  } catch (error) {
    if (isFault(error, 'KindNotServed')) return undefined;
    throw error;
  }
}

/** The API server's dry run of a step: whether anything would differ, and what it would refuse. */
async function tryOut(
  { engine, owner, signal }: Turn,
  step: CreateStep | ChangeStep,
): Promise<{ differs: boolean; message?: string }> {
  try {
    const options = { fieldManager: owner.fieldManager, force: step.action === 'change', dryRun: true, signal };
    const answer = await engine.client.apply(step.kind, step.object, options);
    return { differs: step.action === 'create' || !isSame(essence(answer), essence(step.live)) };
  } catch (error) {
    // A namespace or a definition that the plan itself makes first is not there for the dry run.
    if (!isFault(error) || signal.aborted) throw error;
    const early = step.action === 'create' && isFault(error, 'NotFound', 'KindNotServed');
    return early ? { differs: true } : { differs: true, message: error.message };
  }
}

/** What of an object an apply can change: not what the server counts and stamps. */
function essence({ metadata, ...rest }: KubeObject): unknown {
  const { managedFields: _, resourceVersion: __, generation: ___, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
