/**
 * The connections to one server: a pool for calls, and another one for streams, so that any number of watches never keeps a
 * call waiting. Both are opened anew when the CA or the client certificate has changed, because the API server judges a
 * certificate for as long as its connection lives.
 *
 * HTTP/1.1 on purpose: one stream a connection means that a slow watch cannot hold up another one (there is no shared flow
 * control window), and a broken connection breaks one watch, not all.
 */
import { createSecureContext } from 'node:tls';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { Clock } from '../clock.ts';
import type { KubeConfig } from '../config/config.ts';
import type { ClientCertificate, Identity } from '../credential/credential.ts';
import { RotatingFile } from '../credential/rotating-file.ts';
import { Fault } from '../fault.ts';

interface Generation {
  readonly ca: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  readonly calls: Dispatcher;
  readonly streams: Dispatcher;
}

const connectTimeoutMs = 10_000;
// Below the 90 s after which kube-apiserver closes an idle connection, so that we seldom write to one that just closed.
const keepAliveMs = 60_000;

export class Connections {
  readonly origin: string;
  readonly #config: KubeConfig;
  readonly #caFile: RotatingFile | undefined;
  #current: Generation | undefined;
  readonly #retired = new Set<Generation>();
  #closed = false;

  constructor(config: KubeConfig, clock: Clock) {
    this.#config = config;
    this.origin = new URL(config.server).origin;
    const { ca } = config.tls;
    this.#caFile = ca !== undefined && 'file' in ca ? new RotatingFile(ca.file, clock) : undefined;
  }

  /** Where to send a request of this identity. */
  async for(purpose: 'calls' | 'streams', identity: Identity): Promise<Dispatcher> {
    if (this.#closed) throw new Fault('Unreachable', `the client for ${this.origin} is closed`);
    const ca = await this.#readCa(false);
    const current = this.#current;
    if (current !== undefined && current.ca === ca && current.certificate === identity.certificate)
      return current[purpose];
    const next = this.#open(ca, identity.certificate);
    this.#current = next;
    if (current !== undefined) this.#retire(current);
    return next[purpose];
  }

  /** After a certificate error: true when the CA file has changed meanwhile, so that it is worth another try. */
  async renewCa(): Promise<boolean> {
    return this.#current !== undefined && (await this.#readCa(true)) !== this.#current.ca;
  }

  /** Ends every connection, also those of running watches. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#retired, ...(this.#current === undefined ? [] : [this.#current])];
    await Promise.all(all.flatMap((generation) => [generation.calls.destroy(), generation.streams.destroy()]));
  }

  async #readCa(force: boolean): Promise<string | undefined> {
    const { ca } = this.#config.tls;
    if (ca !== undefined && 'data' in ca) return ca.data.reveal();
    return this.#caFile?.read(force);
  }

  #open(ca: string | undefined, certificate: ClientCertificate | undefined): Generation {
    const { tls, proxy } = this.#config;
    let secureContext: ReturnType<typeof createSecureContext>;
    try {
      secureContext = createSecureContext({
        // Without a CA of its own, Node's trust store applies, with NODE_EXTRA_CA_CERTS.
        ...(ca === undefined ? {} : { ca }),
        ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key.reveal() }),
      });
    } catch (error) {
      throw new Fault(
        'CredentialsFailed',
        `the CA or client certificate of ${this.#config.source} is unusable`,
        {},
        error,
      );
    }
    const secure = {
      secureContext,
      rejectUnauthorized: !tls.insecure,
      ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    };
    const pool = (): Dispatcher => {
      const options = { connections: null, pipelining: 1, keepAliveTimeout: keepAliveMs, allowH2: false } as const;
      if (proxy === undefined) {
        return new Pool(this.origin, {
          ...options,
          connect: { ...secure, timeout: connectTimeoutMs, allowH2: false, keepAliveInitialDelay: 15_000 },
        });
      }
      return new ProxyAgent({
        ...options,
        uri: proxy.reveal(),
        requestTls: { ...secure, allowH2: false },
        connectTimeout: connectTimeoutMs,
      });
    };
    return { ca, certificate, calls: pool(), streams: pool() };
  }

  /** Lets what runs come to its end: `close` of a pool waits for its requests. */
  #retire(old: Generation): void {
    this.#retired.add(old);
    const closed = () => this.#retired.delete(old);
    Promise.all([old.calls.close(), old.streams.close()]).then(closed, closed);
  }
}
