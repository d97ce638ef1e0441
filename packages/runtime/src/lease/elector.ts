/**
 * Leader election by a Lease: of several replicas one works, the others stand by with warm caches.
 *
 * Invariants: nobody takes a lease over before it has seen it unchanged for its whole duration by its own monotonic clock, so
 * clocks need not agree. The holder stops earlier: `fence` says no, and the term is aborted, once the last renewal was *sent*
 * longer ago than the renew deadline; the time between deadline and duration is for writes that are on their way. A lost lease
 * does not end the process: it stands by and competes again. At the end the lease is given back, so that another need not wait.
 *
 * Like every Lease, this is a promise between replicas, not one of the API server: whoever deletes the Lease by hand can make
 * two of them work until the first renews next. Used by manager/ alone.
 */
import { Fault, isFault, type KubeClient } from '@keelson/kube';
import { Lease } from '@keelson/schema';
import { after, type Clock } from '../clock.ts';
import type { Logger } from '../logging/logger.ts';
import type { Fence } from './fence.ts';
import { type LeaseTimes, toHeldLease, toReleasedLease } from './lease-record.ts';

export const leaseDefaults: LeaseTimes = { leaseDurationMs: 6_000, renewDeadlineMs: 4_000, retryMs: 1_000 };

export interface ElectorOptions extends Partial<LeaseTimes> {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique among the replicas. */
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface Elector {
  readonly fence: Fence;
  readonly isLeader: boolean;
  /** Who holds the lease, as far as we know. */
  readonly holder: string | undefined;
  /**
   * Competes until the signal is aborted. Each time we win, `lead` runs; its signal is aborted when the lease is lost, and the
   * lease is renewed until it returns. When `lead` returns by itself the lease is released and `run` is over.
   */
  run(signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>): Promise<void>;
}

export function createElector(options: ElectorOptions): Elector {
  const { client, namespace, name, identity, clock } = options;
  const times: LeaseTimes = {
    leaseDurationMs: options.leaseDurationMs ?? leaseDefaults.leaseDurationMs,
    renewDeadlineMs: options.renewDeadlineMs ?? leaseDefaults.renewDeadlineMs,
    retryMs: options.retryMs ?? leaseDefaults.retryMs,
  };
  checkTimes(times);
  const logger = options.logger.child({ lease: `${namespace}/${name}`, identity });
  let seen: { lease: Lease; at: number } | undefined;
  let lastRefusal: string | undefined;
  /** When the last successful renewal was sent, by both clocks; undefined when we do not lead. */
  let renewed: { at: number; wall: number } | undefined;

  function remainingMs(): number {
    if (renewed === undefined) return 0;
    // The monotonic clock stands still while a machine is suspended; the others' do not.
    const elapsed = Math.max(clock.monotonic() - renewed.at, clock.now() - renewed.wall);
    return times.renewDeadlineMs - elapsed;
  }

  function see(lease: Lease | undefined): void {
    if (lease === undefined) seen = undefined;
    else if (seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion)
      seen = { lease, at: clock.monotonic() };
  }

  function isFree(): boolean {
    if (seen === undefined) return true;
    const { holderIdentity = '', leaseDurationSeconds = 0 } = seen.lease.spec;
    if (holderIdentity === '' || holderIdentity === identity) return true;
    return clock.monotonic() - seen.at > leaseDurationSeconds * 1_000;
  }

  /** One attempt to take or keep the lease. */
  async function attempt(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    const call = { signal, timeoutMs, urgent: true };
    const isRenewal = renewed !== undefined && seen?.lease.spec.holderIdentity === identity;
    if (!isRenewal) see(await client.find(Lease, { namespace, name }, call));
    if (!isFree()) return false;
    const sent = { at: clock.monotonic(), wall: clock.now() };
    const lease = toHeldLease({ namespace, name }, identity, times, sent.wall, seen?.lease);
    see(seen === undefined ? await client.create(Lease, lease, call) : await client.update(Lease, lease, call));
    renewed = sent;
    return true;
  }

  /** Like `attempt`, but a failure is one more refusal. */
  async function tryAttempt(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    try {
      const isHeld = await attempt(signal, timeoutMs);
      lastRefusal = undefined;
      return isHeld;
    } catch (error) {
      if (signal.aborted) return false;
      if (!isFault(error)) throw error;
      const { code, message } = error;
      // Somebody else wrote: what we know is out of date.
      if (isFault(error, 'Conflict', 'AlreadyExists', 'NotFound')) await refresh(signal, timeoutMs);
      else if (code !== lastRefusal) logger.warn({ error: message, code }, 'cannot reach the lease');
      lastRefusal = code;
      return false;
    }
  }

  async function refresh(signal: AbortSignal, timeoutMs: number): Promise<void> {
    try {
      see(await client.find(Lease, { namespace, name }, { signal, timeoutMs, urgent: true }));
    } catch (error) {
      if (!signal.aborted && !isFault(error)) throw error;
    }
  }

  const pause = (signal: AbortSignal): Promise<void> =>
    clock.sleep(times.retryMs * (0.75 + 0.25 * clock.random()), signal).catch(() => undefined);

  async function acquire(signal: AbortSignal): Promise<boolean> {
    let known: string | undefined;
    while (!signal.aborted) {
      if (await tryAttempt(signal, times.renewDeadlineMs)) return true;
      const holder = seen?.lease.spec.holderIdentity;
      if (holder !== undefined && holder !== known && holder !== identity) logger.info({ holder }, 'standing by');
      known = holder;
      await pause(signal);
    }
    return false;
  }

  /** Renews until told to stop; answers when the lease is lost. */
  async function hold(stop: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([stop, lost.signal]);
    let cancelAlarm = (): void => {};
    const setAlarm = (): void => {
      cancelAlarm();
      cancelAlarm = after(clock, remainingMs(), () => lost.abort(new Error('the lease was not renewed in time')));
    };
    setAlarm();
    await pause(signal);
    while (!signal.aborted) {
      const before = renewed;
      const isHeld = await tryAttempt(signal, Math.max(1, remainingMs()));
      if (renewed !== before) setAlarm();
      if (!isHeld && !isFree()) lost.abort(new Error(`the lease is held by ${seen?.lease.spec.holderIdentity}`));
      if (!signal.aborted) await pause(signal);
    }
    cancelAlarm();
  }

  async function release(): Promise<void> {
    renewed = undefined;
    if (seen?.lease.spec.holderIdentity !== identity) return;
    try {
      const call = { timeoutMs: times.retryMs, urgent: true };
      see(await client.update(Lease, toReleasedLease(seen.lease, clock.now()), call));
      logger.info({}, 'released the lease');
    } catch (error) {
      if (!isFault(error)) throw error;
      logger.warn({ error: error.message }, 'could not release the lease: others wait until it expires');
    }
  }

  return {
    fence: {
      check() {
        if (remainingMs() > 0) return;
        throw new Fault(
          'LeaseLost',
          `the lease ${namespace}/${name} may have passed to another replica: nothing is written`,
        );
      },
    },
    get isLeader() {
      return remainingMs() > 0;
    },
    get holder() {
      const holder = seen?.lease.spec.holderIdentity ?? '';
      return holder === '' ? undefined : holder;
    },
    async run(signal, lead) {
      while (await acquire(signal)) {
        logger.info({}, 'leading');
        const term = new AbortController();
        const stopHolding = new AbortController();
        const work = lead(term.signal);
        const holding = hold(stopHolding.signal);
        const isOver = await Promise.race([
          work.then(
            () => true,
            () => true,
          ),
          holding.then(
            () => false,
            () => false,
          ),
        ]);
        if (!isOver) {
          logger.error({ holder: seen?.lease.spec.holderIdentity }, 'lost the lease: stopping all work');
          renewed = undefined;
          term.abort(new Fault('LeaseLost', `the lease ${namespace}/${name} was lost`));
        }
        try {
          await work;
        } finally {
          stopHolding.abort();
          await holding;
          if (isOver) await release();
        }
        if (isOver) return;
      }
    },
  };
}

function checkTimes({ leaseDurationMs, renewDeadlineMs, retryMs }: LeaseTimes): void {
  if (retryMs > 0 && retryMs * 2 <= renewDeadlineMs && renewDeadlineMs < leaseDurationMs) return;
  throw new RangeError(
    `leader election: lease duration ${leaseDurationMs} ms, renew deadline ${renewDeadlineMs} ms and retry ${retryMs} ms do not ` +
      'fit together: the deadline must be shorter than the duration and at least twice the retry',
  );
}
