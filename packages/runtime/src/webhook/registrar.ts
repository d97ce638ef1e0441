/**
 * The registrar keeps the API server told of the webhooks: it follows every webhook configuration and CRD that concerns us,
 * and puts right what differs from what registration.ts says.
 *
 * Invariants: at rest it writes nothing; what somebody edits or deletes is put back; nothing is registered before there is a
 * bundle to trust us by; all writes go past the fence, so that of replicas of different versions only the leader has a say. It
 * also answers the question on which rotation depends: since when has every caller been told of this authority?
 */
import { backoffDelay, type Clock, isFault, type KubeClient } from '@keelson/kube';
import type { Kind, KubeObject } from '@keelson/schema';
import { readCertificates } from '../certificates/certificate.ts';
import { follow, isStale } from '../certificates/follow.ts';
import type { CertificateSource } from '../certificates/source.ts';
import { Wake } from '../certificates/wake.ts';
import type { Fence } from '../lease/fence.ts';
import type { Logger } from '../logging/logger.ts';
import { isSame } from '../plan/value.ts';
import { fieldManager } from './registration.ts';
import type { Target } from './target.ts';

export interface RegistrarOptions {
  readonly client: KubeClient;
  readonly targets: readonly Target[];
  readonly bundle: () => CertificateSource['bundle'];
  readonly fence: Fence;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What callers have been told has changed. */
  readonly onTold: () => void;
  readonly onWrite: (target: string) => void;
}

/** One object that we keep, and what we know of it. */
interface Entry {
  readonly target: Target;
  live: KubeObject | undefined | 'unheard';
  /** Why nothing is heard of it, and why it could not be written. */
  deaf: string | undefined;
  failure: string | undefined;
  /** Since when each authority (by fingerprint) has been in it; undefined when it does not make anybody call us. */
  told: ReadonlyMap<string, number> | undefined;
  /** What we last wrote: written again, it is a repair of what somebody else keeps changing. */
  lastWritten: string | undefined;
  repairs: number;
  notBefore: number;
}

const standbyMs = 1_000;
/** After this long without a repair, the next one is taken for the first. */
const calmMs = 600_000;

export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #wake: Wake;
  readonly #entries: readonly Entry[];

  constructor(options: RegistrarOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
    this.#entries = options.targets.map((target) => ({
      target,
      live: 'unheard',
      deaf: undefined,
      failure: undefined,
      told: undefined,
      lastWritten: undefined,
      repairs: 0,
      notBefore: 0,
    }));
  }

  /** Since when every registration has named this authority; undefined while one does not, or is not known yet. */
  trustedSince(fingerprint: string): number | undefined {
    let latest = 0;
    for (const { live, told } of this.#entries) {
      if (live === 'unheard') return undefined;
      if (told === undefined) continue;
      const since = told.get(fingerprint);
      if (since === undefined) return undefined;
      latest = Math.max(latest, since);
    }
    return latest;
  }

  /** Whether everything is registered as it should be, and what is missing. */
  state(): { ok: boolean; message: string } {
    const problems = this.#entries.flatMap(({ target, live, deaf, failure }) => {
      const trouble = deaf ?? failure;
      if (trouble !== undefined) return [`${target.what}: ${trouble}`];
      if (live === 'unheard') return [`${target.what} has not been read yet`];
      if (live === undefined) return [`${target.what} ${target.partial ? 'is not installed' : 'does not exist yet'}`];
      if (this.#options.bundle() === undefined) return [`${target.what} waits for a certificate`];
      return this.#wanted(target, live) === undefined ? [] : [`${target.what} is not as it should be yet`];
    });
    return problems.length === 0
      ? { ok: true, message: 'every webhook is registered' }
      : { ok: false, message: problems.join('; ') };
  }

  /** The bundle has changed: look again. */
  ring(): void {
    this.#wake.ring();
  }

  async run(signal: AbortSignal): Promise<void> {
    const following = this.#entries.map((entry) => this.#follow(entry, signal));
    while (!signal.aborted) {
      const pauses = await Promise.all(this.#entries.map((entry) => this.#turn(entry, signal)));
      await this.#wake.wait(Math.min(...pauses), signal);
    }
    await Promise.all(following);
  }

  #follow(entry: Entry, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const { kind, name } = entry.target;
    const onState = (live: KubeObject | undefined) => {
      // The answer to our own write may be ahead of the watch.
      if (isStale(live, entry.live)) return;
      this.#see(entry, live);
      this.#wake.ring();
    };
    const onTrouble = (message: string | undefined) => {
      entry.deaf = message;
    };
    return follow({ client, kind: kind as Kind, ref: { name }, clock, signal, onState, onTrouble });
  }

  #see(entry: Entry, live: KubeObject | undefined): void {
    const { clock, onTold } = this.#options;
    entry.live = live;
    const bundles = live === undefined ? [] : entry.target.bundles(live);
    const before = entry.told;
    const certificates = commonCertificates(bundles);
    entry.told =
      bundles.length === 0
        ? undefined
        : new Map(certificates.map(({ fingerprint }) => [fingerprint, before?.get(fingerprint) ?? clock.now()]));
    if (!isSame([...(before?.keys() ?? ['-'])], [...(entry.told?.keys() ?? ['-'])])) onTold();
  }

  /** Puts one object right; says how long to sleep if nothing else happens. */
  async #turn(entry: Entry, signal: AbortSignal): Promise<number> {
    const { clock, fence } = this.#options;
    const { target, live } = entry;
    if (live === 'unheard' || (live === undefined && target.partial)) return Number.POSITIVE_INFINITY;
    const wanted = this.#wanted(target, live);
    if (wanted === undefined) {
      entry.failure = undefined;
      return Number.POSITIVE_INFINITY;
    }
    if (clock.now() < entry.notBefore) return entry.notBefore - clock.now();
    try {
      fence.check();
    } catch {
      return standbyMs;
    }
    return this.#write(entry, live, wanted, signal);
  }

  /** What to apply; undefined when there is nothing to do, or nothing that we could say yet. */
  #wanted(target: Target, live: KubeObject | undefined): KubeObject | undefined {
    const bundle = this.#options.bundle();
    if (bundle === undefined) return undefined;
    const wanted = target.wanted(bundle === 'elsewhere' ? undefined : bundle);
    return live !== undefined && target.isAsWanted(live, wanted) ? undefined : wanted;
  }

  async #write(entry: Entry, live: KubeObject | undefined, wanted: KubeObject, signal: AbortSignal): Promise<number> {
    const { clock, logger, onWrite } = this.#options;
    const { target } = entry;
    try {
      const written = await this.#putRight(target, live, wanted, signal);
      onWrite(target.what);
      const text = JSON.stringify(wanted);
      const isRepair = live !== undefined && entry.lastWritten === text;
      entry.lastWritten = text;
      const isFight = isRepair && clock.now() < entry.notBefore + calmMs;
      entry.repairs = isFight ? entry.repairs + 1 : 0;
      // Somebody else may be as sure as we are. Neither should make the API server pay for it.
      entry.notBefore = isRepair
        ? clock.now() + backoffDelay(entry.repairs, { initialMs: 250, maxMs: 60_000 }, clock.random())
        : 0;
      if (isRepair)
        logger.warn(
          { target: target.what, repairs: entry.repairs, managers: managersOf(live) },
          'repaired a webhook registration that somebody else changed',
        );
      else logger.info({ target: target.what }, 'registered webhooks');
      entry.failure = undefined;
      this.#see(entry, written);
      return 0;
    } catch (error) {
      if (signal.aborted) return 0;
      // Somebody was faster: the watch will tell.
      if (isFault(error, 'Conflict', 'NotFound', 'AlreadyExists')) return standbyMs;
      entry.repairs += 1;
      entry.failure = error instanceof Error ? error.message : String(error);
      logger.warn({ target: target.what, error: entry.failure }, 'cannot register webhooks');
      const pauseMs = backoffDelay(entry.repairs, { initialMs: 500, maxMs: 60_000 }, clock.random());
      entry.notBefore = clock.now() + pauseMs;
      return pauseMs;
    }
  }

  /** Applies, and replaces outright where what somebody else added to it cannot be undone by applying. */
  async #putRight(
    target: Target,
    live: KubeObject | undefined,
    wanted: KubeObject,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const { client, fence } = this.#options;
    const applied = await client
      .apply(target.kind, wanted, { fieldManager, force: true, signal })
      .catch((error: unknown) => {
        if (live === undefined || !isFault(error, 'Invalid')) throw error;
        return live;
      });
    if (target.isAsWanted(applied, wanted)) return applied;
    fence.check();
    const operations = [
      { op: 'test' as const, path: '/metadata/resourceVersion', value: applied.metadata.resourceVersion },
      ...target.replacement(applied, wanted),
    ];
    return client.patch(target.kind, { name: target.name }, { type: 'json', operations }, { fieldManager, signal });
  }
}

/** The certificates that are in all of these bundles (base64 of PEM). */
function commonCertificates(bundles: readonly (string | undefined)[]) {
  const [first = [], ...others] = bundles.map((bundle) =>
    readCertificates(Buffer.from(bundle ?? '', 'base64').toString('utf8')),
  );
  return first.filter(({ fingerprint }) =>
    others.every((other) => other.some((certificate) => certificate.fingerprint === fingerprint)),
  );
}

function managersOf(object: KubeObject): string[] {
  return [...new Set((object.metadata.managedFields ?? []).map(({ manager = '' }) => manager))].filter(
    (manager) => manager !== fieldManager,
  );
}
