/**
 * The webhooks of a process: a server that the API server calls (server.ts) for admission (admission-review.ts) and conversion
 * (conversion-review.ts), the certificate it serves with (../certificates/), and the registrations by which the API server finds
 * and trusts it (registrar.ts).
 *
 * Invariant: every replica serves; only the one that the fence lets through writes. No request fails because a certificate or
 * an authority is replaced: callers are told first. The manager starts this before caches and leader election, because both may
 * need objects that only a conversion can show.
 */
import { type Clock, type KubeClient, systemClock } from '@keelson/kube';
import { needsConversion, type Resource } from '@keelson/schema';
import { readCertificates } from '../certificates/certificate.ts';
import { FileCertificates } from '../certificates/file-certificates.ts';
import { SecretCertificates } from '../certificates/secret-certificates.ts';
import type { CertificateSource } from '../certificates/source.ts';
import { type Fence, openFence } from '../lease/fence.ts';
import { fenceWrites } from '../lease/fence-writes.ts';
import { type Logger, silentLogger } from '../logging/logger.ts';
import { answerAdmission } from './admission-review.ts';
import { message } from './answer.ts';
import { type CertificateOptions, isSelfManaged, toPolicy } from './certificate-options.ts';
import { answerConversion } from './conversion-review.ts';
import { silentObserver, type WebhookObserver } from './observer.ts';
import { Registrar } from './registrar.ts';
import {
  convertPath,
  fieldManager,
  mutatePath,
  namesOf,
  type Reach,
  toWebhookConfigurations,
  validatePath,
} from './registration.ts';
import type { Reviewed } from './review.ts';
import { type Route, WebhookServer } from './server.ts';
import { targetsOf } from './target.ts';

export interface WebhooksOptions {
  readonly operators: readonly Reviewed[];
  /** Resources to convert; those of the operators unless told. */
  readonly resources?: readonly Resource[];
  readonly client: KubeClient;
  /** How the API server reaches us; a function when it depends on the port that was taken. */
  readonly reach: Reach | ((port: number) => Reach);
  readonly certificates: CertificateOptions;
  /** 9443 unless told; 0 takes a free one. */
  readonly port?: number;
  /** The address to listen on; every address unless told. */
  readonly host?: string;
  /** Asked before every write; a replica that it does not let through serves and writes nothing. */
  readonly fence?: Fence;
  /** How long to go on serving after `stop`, while callers learn that we are gone: 3 s behind a Service, else none. */
  readonly drainMs?: number;
  readonly bodyLimitBytes?: { readonly admission?: number; readonly conversion?: number };
  readonly logger?: Logger;
  readonly observer?: WebhookObserver;
  readonly clock?: Clock;
}

export interface State {
  readonly ok: boolean;
  readonly message: string;
}

export interface Webhooks {
  /**
   * Binds the port (and rejects with the remedy when it cannot), then serves and keeps certificates and registrations in the
   * background until `stop`: the controllers may need us to the end. The signal only gives up starting.
   */
  start(signal: AbortSignal): Promise<void>;
  /** Whether this replica can be called: it listens, with a certificate. */
  ready(): State;
  /** Whether the API server has been told of every webhook, by us or by another replica. */
  registered(): State;
  /** The port that is listened on; undefined before `start`. */
  readonly port: number | undefined;
  /** Answers what is under way and ends everything. */
  stop(): Promise<void>;
}

const mebibyte = 1024 * 1024;

/** True when these operators have anything for the API server to call. */
export function needsWebhooks(
  operators: readonly Reviewed[],
  resources: readonly Resource[] = operators.map(({ resource }) => resource),
): boolean {
  return (
    operators.some(({ admission }) => admission?.validate !== undefined || admission?.mutate !== undefined) ||
    resources.some(needsConversion)
  );
}

/** Webhooks that are ready to be started. */
export function createWebhooks(options: WebhooksOptions): Webhooks {
  return new RunningWebhooks(options);
}

/** What is wrong with the options is said before anything is started. */
function checkOptions({ operators, reach, certificates }: WebhooksOptions): void {
  const address = typeof reach === 'function' ? { url: 'https://localhost' } : reach;
  toWebhookConfigurations(operators, address);
  if (isSelfManaged(certificates)) toPolicy(certificates, namesOf(address));
}

class RunningWebhooks implements Webhooks {
  port: number | undefined;
  readonly #options: WebhooksOptions;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #observer: WebhookObserver;
  readonly #server: WebhookServer;
  readonly #resources: readonly Resource[];
  readonly #ended = new AbortController();
  #source: CertificateSource | undefined;
  #registrar: Registrar | undefined;
  #reach: Reach | undefined;
  #background: Promise<unknown> = Promise.resolve();
  #broken: string | undefined;
  #stopped: Promise<void> | undefined;

  constructor(options: WebhooksOptions) {
    const { operators, clock = systemClock, logger = silentLogger, observer = silentObserver } = options;
    checkOptions(options);
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#observer = observer;
    this.#resources = [...new Set(options.resources ?? operators.map(({ resource }) => resource))];
    const { port = 9443, host } = options;
    this.#server = new WebhookServer({
      routes: this.#routes(),
      port,
      ...(host === undefined ? {} : { host }),
      observer,
      logger,
      clock,
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    const port = await this.#server.listen();
    this.port = port;
    try {
      this.#keep(port);
    } catch (error) {
      await this.stop();
      throw error;
    }
    if (signal.aborted) await this.stop();
  }

  ready(): State {
    if (this.#broken !== undefined) return { ok: false, message: this.#broken };
    if (this.#stopped !== undefined) return { ok: false, message: 'the webhooks are stopping' };
    if (this.#source === undefined) return { ok: false, message: 'the webhooks have not been started' };
    const { serving, trouble } = this.#source;
    if (serving === undefined)
      return { ok: false, message: `there is no certificate to serve with: ${trouble ?? 'waiting'}` };
    if (serving.notAfter.getTime() <= this.#clock.now())
      return { ok: false, message: `the certificate has expired: ${trouble ?? 'waiting for a new one'}` };
    return { ok: true, message: trouble ?? `serving with a certificate until ${serving.notAfter.toISOString()}` };
  }

  registered(): State {
    return this.#registrar?.state() ?? { ok: false, message: 'the webhooks have not been started' };
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const drainMs = this.#options.drainMs ?? (this.#reach !== undefined && 'service' in this.#reach ? 3_000 : 0);
    this.#ended.abort();
    await Promise.all([this.#server.stop({ drainMs, deadlineMs: 10_000 }), this.#background]);
  }

  /** Keeps certificates and registrations in the background. */
  #keep(port: number): void {
    const reach = typeof this.#options.reach === 'function' ? this.#options.reach(port) : this.#options.reach;
    const names = namesOf(reach);
    this.#reach = reach;
    const source = this.#createSource(names);
    this.#source = source;
    const registrar = this.#createRegistrar(reach, source);
    this.#registrar = registrar;
    this.#logger.info({ port, names }, 'webhooks are listening');
    const { signal } = this.#ended;
    this.#background = Promise.all([source.run(signal), registrar.run(signal)]).catch((error: unknown) => {
      this.#broken = `keeping the webhooks failed: ${message(error)}`;
      this.#logger.error({ err: error }, 'keeping the webhooks failed');
    });
  }

  #routes(): Map<string, Route> {
    const { operators, bodyLimitBytes = {} } = this.#options;
    const routes = new Map<string, Route>();
    const add = (path: string, bodyLimitBytes: number, answer: Route['answer']) => {
      if (routes.has(path))
        throw new TypeError(`two operators or resources want the webhook ${path}: give each operator its own name`);
      routes.set(path, { bodyLimitBytes, answer });
    };
    // A review holds an object twice, and an object is at most 3 MiB; a conversion can hold a whole list.
    const { admission = 8 * mebibyte, conversion = 64 * mebibyte } = bodyLimitBytes;
    for (const operator of operators) {
      if (operator.admission?.validate !== undefined)
        add(validatePath(operator), admission, (body) => answerAdmission(operator, 'validate', body));
      if (operator.admission?.mutate !== undefined)
        add(mutatePath(operator), admission, (body) => answerAdmission(operator, 'mutate', body));
    }
    for (const resource of this.#resources) {
      if (needsConversion(resource)) add(convertPath(resource), conversion, (body) => answerConversion(resource, body));
    }
    return routes;
  }

  #createSource(names: readonly string[]): CertificateSource {
    const { certificates, client, fence = openFence } = this.#options;
    const onChange = () => this.#takeCertificate();
    if (!isSelfManaged(certificates)) return new FileCertificates({ ...certificates, clock: this.#clock, onChange });
    return new SecretCertificates({
      client: fenceWrites(client, fence),
      secret: certificates.secret,
      fieldManager,
      policy: toPolicy(certificates, names),
      trustedSince: (fingerprint) => this.#registrar?.trustedSince(fingerprint),
      fence,
      clock: this.#clock,
      logger: this.#logger,
      onChange,
      onWrite: (target) => this.#observer.wrote(target),
    });
  }

  #createRegistrar(reach: Reach, source: CertificateSource): Registrar {
    const { operators, client, fence = openFence } = this.#options;
    return new Registrar({
      client: fenceWrites(client, fence),
      targets: targetsOf(operators, this.#resources, reach),
      bundle: () => source.bundle,
      fence,
      clock: this.#clock,
      logger: this.#logger,
      onTold: () => source.ring(),
      onWrite: (target) => this.#observer.wrote(target),
    });
  }

  #takeCertificate(): void {
    const serving = this.#source?.serving;
    if (serving !== undefined) {
      this.#server.use(serving);
      this.#observer.certificate({ which: 'serving', notAfter: serving.notAfter });
    }
    const authority = readCertificates(this.#source?.bundle ?? '').at(-1);
    if (authority !== undefined)
      this.#observer.certificate({ which: 'authority', notAfter: new Date(authority.notAfter) });
    this.#registrar?.ring();
  }
}
