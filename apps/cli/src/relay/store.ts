/**
 * The store behind the relay: passes one request on. Any trouble on the way is an answer, so that whoever asked tries again. The file with
 * the certificates is read again when it changes.
 */
import { readFile } from 'node:fs/promises';
import type { Pool } from 'undici';
import { codeOf, pathPrefix, storePool } from '../store-pool.ts';
import { type Answer, type Bulk, withFields } from './bulk.ts';
import { failed } from './deliver.ts';

export interface StoreSettings {
  readonly url: URL;
  /** File with PEM; the certificates of the machine when left out. */
  readonly caFile?: string;
  readonly insecureSkipVerify?: boolean;
}

/** Who takes a request and never answers must not hold it for ever; a store that is busy may take minutes. */
const ANSWER_MS = 300_000;
/** Of an answer: that to 10,000 documents has about a megabyte. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

export class Store {
  readonly #settings: StoreSettings;
  readonly #prefix: string;
  #pool: Pool;
  #ca: string | undefined;

  /** Rejects when the file with the certificates cannot be read. */
  static async open(settings: StoreSettings): Promise<Store> {
    const { caFile } = settings;
    return new Store(settings, caFile === undefined ? undefined : await readFile(caFile, 'utf8'));
  }

  private constructor(settings: StoreSettings, ca: string | undefined) {
    this.#settings = settings;
    this.#prefix = pathPrefix(settings.url);
    this.#ca = ca;
    this.#pool = this.#connect();
  }

  async ask({ path, body, gzip, authorization }: Bulk): Promise<Answer> {
    try {
      await this.#reread();
      const answer = await this.#pool.request({
        method: 'POST',
        path: `${this.#prefix}${withFields(path)}`,
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-ndjson',
          ...(gzip ? { 'content-encoding': 'gzip' } : {}),
          ...(authorization === undefined ? {} : { authorization }),
        },
        body,
      });
      return { status: answer.statusCode, body: await answer.body.text() };
    } catch (error) {
      const code = codeOf(error) || 'unknown';
      return failed(code.includes('TIMEOUT') ? 504 : 502, `the relay has no answer from the store (${code})`);
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** With every request: it is short. Those that are under way end on the connections that they have. */
  async #reread(): Promise<void> {
    const { caFile } = this.#settings;
    if (caFile === undefined) return;
    // While the kubelet swaps it, it may be away: the one that we have is good until there is another.
    const ca = await readFile(caFile, 'utf8').catch(() => this.#ca);
    if (ca === this.#ca) return;
    this.#ca = ca;
    const before = this.#pool;
    this.#pool = this.#connect();
    void before.close();
  }

  #connect(): Pool {
    const { url, insecureSkipVerify } = this.#settings;
    return storePool(
      { url, ca: this.#ca, insecureSkipVerify },
      {
        // The exporters of a gateway send eight requests at once.
        connections: 32,
        headersTimeout: ANSWER_MS,
        bodyTimeout: ANSWER_MS,
        maxResponseSize: LONGEST_ANSWER,
      },
    );
  }
}
