/**
 * A feed: one reflector that fills a store, and what is known about how well it does.
 *
 * Invariant: a feed ends only when its signal is aborted. What the reflector reports as interrupted, and even a reflector that
 * throws (a bug), is a state with words that a person can act on, never a silence.
 */
import {
  Fault,
  type KubeClient,
  type Reflect as ReflectKind,
  type ReflectorState,
  type Selection,
} from '@keelson/kube';
import { type Kind, type KubeObject, resourceNameOf } from '@keelson/schema';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logging/logger.ts';
import type { MemoryStore, Portion } from './memory-store.ts';
import { remedyFor } from './remedy.ts';

export interface FeedOptions {
  readonly client: KubeClient;
  readonly reflect: ReflectKind;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kind: Kind;
  readonly selection: Selection;
  /** What of the store it shows; everything unless told. */
  readonly portion?: Portion;
  readonly metadataOnly: boolean;
  readonly store: MemoryStore;
  /** Connected, but without a sign of life for this long. */
  readonly silentMs: number;
  /** Not connected for this long. */
  readonly disconnectedMs: number;
  /** Told when the state is another or a full picture has come, once it is in the store. */
  readonly onState?: () => void;
}

export type FeedState = 'starting' | 'following' | 'interrupted' | 'not-served';

export interface FeedReport {
  readonly namespace?: string;
  readonly state: FeedState;
  /** What the store holds may be out of date. */
  readonly stale: boolean;
  readonly restarts: number;
  /** Since the server last told us something; undefined when it never has. */
  readonly lastContactMs?: number;
  readonly problem?: { readonly code: string; readonly message: string; readonly remedy: string };
}

export interface Feed {
  readonly state: FeedState;
  report(): FeedReport;
  /** Follows the kind until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/** How long an interruption may last before it is worth a line. */
const PATIENCE_MS = 5_000;

/** After a bug in the reflector: long enough not to spin, short enough not to be deaf. */
const RESTART_AFTER_BUG_MS = 5_000;

export function createFeed(options: FeedOptions): Feed {
  const { client, reflect, clock, kind, selection, store, silentMs, disconnectedMs } = options;
  const resource = resourceNameOf(kind);
  const { namespace } = selection;
  const logger = options.logger.child({ resource, ...(namespace === undefined ? {} : { namespace }) });
  let state: FeedState = 'starting';
  let fault: Fault | undefined;
  let brokenAt: number | undefined;
  let contactAt: number | undefined;
  let restarts = 0;
  let isReported = false;

  function interrupted(cause: Fault): void {
    const isNews = fault?.code !== cause.code;
    if (state === 'following') restarts += 1;
    state = cause.code === 'KindNotServed' ? 'not-served' : 'interrupted';
    fault = cause;
    brokenAt ??= clock.monotonic();
    if (isNews) isReported = false;
    // A stream that breaks and is back in a moment is everyday life.
    const isSerious = cause.retry === 'slow' || contactAt === undefined || clock.monotonic() - brokenAt > PATIENCE_MS;
    if (isReported || !isSerious) {
      logger.debug({ error: cause.message }, 'watch interrupted');
      return;
    }
    isReported = true;
    const remedy = remedyFor(cause, resource);
    if (state === 'not-served') logger.warn({ remedy }, `waiting: ${resource} is not installed`);
    else logger.error({ code: cause.code, error: cause.message, remedy }, `cannot watch ${resource}`);
  }

  function connected(): void {
    if (isReported) logger.info({}, `watching ${resource} again`);
    isReported = false;
    state = 'following';
    fault = undefined;
    brokenAt = undefined;
    contactAt = clock.monotonic();
  }

  function take(change: ReflectorState<KubeObject>): void {
    const before = state;
    apply(change);
    if (state !== before || change.state === 'replaced') options.onState?.();
  }

  function apply(change: ReflectorState<KubeObject>): void {
    switch (change.state) {
      case 'replaced':
        connected();
        store.replace(change.items, change.resourceVersion, options.portion);
        return;
      case 'changed':
        connected();
        store.change(change.type, change.object);
        return;
      case 'progressed':
      case 'watching':
        connected();
        return;
      case 'interrupted':
        interrupted(change.fault);
    }
  }

  return {
    get state() {
      return state;
    },
    report() {
      const now = clock.monotonic();
      const isDisconnected = brokenAt !== undefined && now - brokenAt > disconnectedMs;
      const isSilent = contactAt !== undefined && now - contactAt > silentMs;
      return {
        ...(namespace === undefined ? {} : { namespace }),
        state,
        stale: contactAt !== undefined && (isDisconnected || isSilent),
        restarts,
        ...(contactAt === undefined ? {} : { lastContactMs: now - contactAt }),
        ...(fault === undefined
          ? {}
          : { problem: { code: fault.code, message: fault.message, remedy: remedyFor(fault, resource) } }),
      };
    },
    async run(signal) {
      while (!signal.aborted) {
        try {
          const states = reflect(client, kind, {
            ...selection,
            metadataOnly: options.metadataOnly,
            transform: store.trim,
            signal,
          });
          for await (const change of states) take(change);
        } catch (error) {
          if (signal.aborted) return;
          logger.error({ error }, 'bug: the reflector stopped; it is started again');
          interrupted(new Fault('StreamBroken', `the reflector of ${resource} stopped: ${String(error)}`, {}, error));
        }
        await clock.sleep(RESTART_AFTER_BUG_MS, signal).catch(() => undefined);
      }
    },
  };
}
