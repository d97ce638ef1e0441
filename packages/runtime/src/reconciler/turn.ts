/**
 * A turn: everything that one pass over one instance works with. The engine's parts that outlive a turn are in `Engine`; what
 * is known of the instance is in the turn itself. Each step of the flow takes the turn and nothing else that is global.
 */
import type { Clock, KubeClient } from '@keelson/kube';
import type { Kind, Ref, Resource } from '@keelson/schema';
import type { Live, Store } from '../cache/store.ts';
import type { EffectRan, EffectRunner } from '../effects/runner.ts';
import type { Recorder } from '../events/recorder.ts';
import type { Claims } from '../execute/claims.ts';
import type { Fence } from '../lease/fence.ts';
import type { Owner } from '../marks.ts';
import type { Operator, Related, Watch } from '../operator.ts';
import type { Step } from '../plan/plan.ts';
import type { Settled } from '../plan/settled.ts';
import type { Redactor } from '../redact.ts';
import type { Obstacle } from '../status/obstacle.ts';
import type { ParseOnce } from './parse-once.ts';

/** The caches of one operator. */
export interface Stores {
  /** Of an owned kind: only what carries the operator's label. */
  owned(kind: Kind): Store;
  watched(watch: Watch): Store;
  /** Whether the cluster has a kind that the operator owns or watches. */
  served(kind: Kind): boolean;
}

/** What the process wants to count; none of these may throw. */
export interface EngineHooks {
  /** A write to a child was carried out. */
  step?(step: Step): void;
  /** A handler of an effect has run. */
  effect?(run: EffectRan): void;
  /** The instance asks for these objects of a watch; told before they are read, so that no change falls in between. */
  related?(ref: Ref, watch: Watch, related: readonly Related[]): void;
  /** The state in the status has moved. */
  transition?(move: { readonly from: string | undefined; readonly to: string }): void;
}

/** Wraps one step of the flow, for traces. */
export type Span = <T>(name: string, run: () => Promise<T>) => Promise<T>;

/** What an engine is made from. */
export interface EngineParts<R extends Resource = Resource, X = unknown> {
  readonly operator: Operator<R, X>;
  readonly client: KubeClient;
  /** The cache of the instances themselves. */
  readonly primary: Store;
  readonly stores: Stores;
  readonly recorder: Recorder;
  readonly fence: Fence;
  /** Shared by all operators of a process. */
  readonly claims: Claims;
  readonly clock: Clock;
}

/** What outlives a turn. */
export interface Engine<R extends Resource = Resource, X = unknown> extends EngineParts<R, X> {
  readonly span: Span;
  readonly hooks: EngineHooks;
  readonly effects: EffectRunner;
  readonly parse: ParseOnce<R>;
  /** What the server makes of our children, and of our status. */
  readonly settled: Settled;
  readonly settledStatus: Settled;
}

/** Why the decision could not be carried out. */
export interface TurnFailure {
  readonly reason: string;
  readonly message: string;
  /** By object; empty for what is not about single objects, such as a server that does not answer. */
  readonly obstacles: readonly Obstacle[];
}

/** What earlier turns left behind. */
export interface Past {
  /** Turns that failed in a row. */
  readonly failures: number;
  /** Of the last turn that applied, if it was on the same spec. */
  readonly failure: TurnFailure | undefined;
}

export interface Turn<R extends Resource = Resource, X = unknown> {
  readonly engine: Engine<R, X>;
  /** The instance as the cache holds it, not validated. */
  self: Live;
  readonly owner: Owner;
  /** The generation that this turn decides on; the instance may be a newer one by the time the status is written. */
  readonly generation: number | undefined;
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
  readonly past: Past;
}
