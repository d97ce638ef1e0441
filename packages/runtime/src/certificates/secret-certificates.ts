/**
 * Certificates that we keep ourselves, in a Secret that all replicas share: an authority, the server certificate that it signed,
 * and the bundle that callers must trust. rotation.ts says what has to happen; this carries it out.
 *
 * Invariants: every write goes past the fence and carries the resourceVersion that the plan was made from, so two replicas
 * never undo each other's work, and a standby writes nothing. A replica changes to another certificate only when callers trust it,
 * or when it has none. Whatever is found in the Secret (garbage, nothing, something expired) is repaired.
 */
import { backoffDelay, type Clock, isFault, type KubeClient } from '@keelson/kube';
import { manifest, Secret } from '@keelson/schema';
import type { Fence } from '../lease/fence.ts';
import type { Logger } from '../logging/logger.ts';
import { marks } from '../marks.ts';
import type { Certificate, KeyPair } from './certificate.ts';
import { byAge, missingNames, toBundle } from './certificate.ts';
import { follow, isStale } from './follow.ts';
import { readMaterial, rotate, toSecretData } from './material.ts';
import type { Material, RotationPlan, RotationPolicy } from './rotation.ts';
import { planRotation, usableIssuer } from './rotation.ts';
import type { CertificateSource, Serving } from './source.ts';
import { Wake } from './wake.ts';

export interface SecretCertificatesOptions {
  readonly client: KubeClient;
  readonly secret: { readonly namespace: string; readonly name: string };
  readonly fieldManager: string;
  readonly policy: RotationPolicy;
  /** Since when every caller has been told of this authority (by fingerprint); undefined while one has not. */
  readonly trustedSince: (fingerprint: string) => number | undefined;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onChange: () => void;
  readonly onWrite: (target: string) => void;
}

/** How soon a standby that sees work to do asks again whether it may do it. */
const standbyMs = 1_000;
/** Never two writes within this time, whatever the plan says. */
const writeGapMs = 300;

export class SecretCertificates implements CertificateSource {
  bundle: string | undefined;
  trouble: string | undefined;
  readonly #options: SecretCertificatesOptions;
  readonly #wake: Wake;
  readonly #what: string;
  /** The Secret as we know it; `unheard` until the first answer. */
  #live: Secret | undefined | 'unheard' = 'unheard';
  #inUse: { readonly pair: KeyPair; readonly issuer: Certificate } | undefined;
  #failures = 0;
  #notBefore = 0;

  constructor(options: SecretCertificatesOptions) {
    this.#options = options;
    this.#wake = new Wake(options.clock);
    this.#what = `Secret ${options.secret.namespace}/${options.secret.name}`;
    this.trouble = `${this.#what} has not been read yet`;
  }

  get serving(): Serving | undefined {
    if (this.#inUse === undefined) return undefined;
    const { certificate, keyPem } = this.#inUse.pair;
    return { cert: certificate.pem, key: keyPem, notAfter: new Date(certificate.notAfter) };
  }

  ring(): void {
    this.#wake.ring();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, secret, clock } = this.#options;
    const following = follow({
      client,
      kind: Secret,
      ref: secret,
      clock,
      signal,
      onState: (live) => {
        if (isStale(live, this.#live)) return;
        this.#live = live;
        this.#wake.ring();
      },
      onTrouble: (message) => {
        if (this.#live === 'unheard' && message !== undefined) this.trouble = message;
      },
    });
    while (!signal.aborted) {
      const pauseMs = this.#live === 'unheard' ? Number.POSITIVE_INFINITY : await this.#turn(this.#live, signal);
      await this.#wake.wait(pauseMs, signal);
    }
    await following;
  }

  /** Takes over what the Secret holds, repairs and rotates it; says how long to sleep if nothing else happens. */
  async #turn(live: Secret | undefined, signal: AbortSignal): Promise<number> {
    const { policy, trustedSince, clock, fence } = this.#options;
    const now = clock.now();
    const material = readMaterial(live?.data);
    const adoptInMs = this.#adopt(material, now);
    const inUse =
      this.#inUse !== undefined && now < this.#inUse.pair.certificate.notAfter ? { inUse: this.#inUse.issuer } : {};
    const plan = planRotation({ material, now, policy, trustedSince, ...inUse });
    if (!plan.due) {
      this.#failures = 0;
      this.trouble = undefined;
      return Math.min(adoptInMs, plan.nextAt - now);
    }
    try {
      fence.check();
    } catch {
      this.trouble =
        this.#inUse === undefined
          ? `${this.#what} holds no usable certificate, and only the leader may make one`
          : undefined;
      return standbyMs;
    }
    if (live?.immutable === true) {
      this.trouble = `${this.#what} is immutable and must be renewed: delete it, and it is made anew`;
      return adoptInMs;
    }
    if (now < this.#notBefore) return this.#notBefore - now;
    this.#notBefore = now + writeGapMs;
    return this.#write(live, material, plan, signal);
  }

  async #write(live: Secret | undefined, material: Material, plan: RotationPlan, signal: AbortSignal): Promise<number> {
    const { client, secret, policy, clock, fieldManager, logger, onWrite, fence } = this.#options;
    try {
      const data = toSecretData(await rotate(material, plan, policy, clock.now()));
      // Created empty by apply, then filled by update: a permission for this one name allows both, and the update cannot overwrite another replica's.
      const labels = { [marks.managedBy]: fieldManager };
      const base =
        live ??
        (await client.apply(Secret, { ...manifest(Secret, { ...secret, labels }, {}) }, { fieldManager, signal }));
      fence.check();
      this.#live = await client.update(Secret, { ...base, data: { ...base.data, ...data } }, { fieldManager, signal });
      this.#failures = 0;
      onWrite(this.#what);
      logger.info(
        { secret: this.#what, because: [plan.authority, plan.serving, ...plan.notes].filter(Boolean) },
        'rotated webhook certificates',
      );
      return 0;
    } catch (error) {
      if (signal.aborted) return 0;
      // Somebody was faster: the watch will tell.
      if (isFault(error, 'Conflict', 'AlreadyExists', 'NotFound')) return standbyMs;
      this.#failures += 1;
      const text = error instanceof Error ? error.message : String(error);
      this.trouble = `cannot write ${this.#what}: ${text}`;
      logger.warn({ secret: this.#what, error: text, failures: this.#failures }, 'cannot write webhook certificates');
      const pauseMs = backoffDelay(this.#failures, { initialMs: 500, maxMs: 60_000 }, clock.random());
      this.#notBefore = clock.now() + pauseMs;
      return pauseMs;
    }
  }

  /** Serves with what the Secret holds, once that is safe; says in how many milliseconds to look again when it is not yet. */
  #adopt(material: Material, now: number): number {
    const againInMs = this.#change(material, now);
    // Whatever the Secret holds, callers are told of the authority behind what they get.
    const authorities = [...material.authorities];
    const inUse = this.#inUse?.issuer;
    if (
      inUse !== undefined &&
      now < inUse.notAfter &&
      !authorities.some((one) => one.fingerprint === inUse.fingerprint)
    )
      authorities.push(inUse);
    const bundle = toBundle(authorities.sort(byAge));
    const isNew = bundle !== '' && bundle !== this.bundle;
    if (isNew) this.bundle = bundle;
    if (isNew || againInMs === 'changed') this.#options.onChange();
    return againInMs === 'changed' ? Number.POSITIVE_INFINITY : againInMs;
  }

  #change(material: Material, now: number): number | 'changed' {
    const { policy, trustedSince } = this.#options;
    const { serving } = material;
    const issuer = usableIssuer(serving, material.authorities, now);
    const current = this.#inUse;
    if (serving === undefined || issuer === undefined) return Number.POSITIVE_INFINITY;
    if (serving.certificate.fingerprint === current?.pair.certificate.fingerprint) return Number.POSITIVE_INFINITY;
    if (current !== undefined && now < current.pair.certificate.notAfter) {
      if (missingNames(serving.certificate, policy.names).length > 0) return Number.POSITIVE_INFINITY;
      const since = issuer.fingerprint === current.issuer.fingerprint ? 0 : trustedSince(issuer.fingerprint);
      if (since === undefined) return Number.POSITIVE_INFINITY;
      if (now < since + policy.propagationMs) return since + policy.propagationMs - now;
    }
    // With nothing better at hand, also one that lacks a name: a replica that is new to a roll-out must come up before it may lead.
    this.#inUse = { pair: serving, issuer };
    return 'changed';
  }
}
