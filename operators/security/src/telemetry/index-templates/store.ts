/**
 * The store as the operator speaks to it: a few small requests. Node's own client, because certificates that the user names must be
 * trusted, which `fetch` cannot be told.
 *
 * Invariant: every failure is a `StoreTrouble` whose message is the same as long as the trouble is, so that nothing is written anew while
 * it lasts, and which holds no credential.
 */
import { request as plain } from 'node:http';
import { request as secure } from 'node:https';

export interface StoreAddress {
  readonly url: string;
  /** Where the user wrote it down. */
  readonly path: string;
  /** Value of the header of that name. */
  readonly authorization?: string;
  /** PEM; the certificates of the machine when left out. */
  readonly ca?: string;
  readonly insecureSkipVerify?: boolean;
}

export interface StoreAnswer {
  readonly status: number;
  readonly body: string;
}

/** Why nothing could be done: `Unreachable` ends by itself or is of the network, the others are for somebody to mend. */
export type TroubleReason =
  | 'Unreachable'
  | 'SecretMissing'
  | 'CertificateRefused'
  | 'LoginRefused'
  | 'Forbidden'
  | 'Refused';

export class StoreTrouble extends Error {
  readonly reason: TroubleReason;

  constructor(reason: TroubleReason, message: string) {
    // An outcome keeps the message only.
    super(`${reason}: ${message}`);
    this.reason = reason;
  }
}

/** In the memory of the effect: what was said last of a store that is away. */
const AWAY = 'away';
/** Who drops packets never answers: the turn of an agent waits for this, and is wanted for other things. */
const CONNECT_MS = 2_000;
/** A store that is busy takes its time for a template. */
const ANSWER_MS = 8_000;
/** What is read of an answer at most; ours are short. */
const LONGEST_ANSWER = 1_000_000;

/** One request; any answer but a refusal of who we are is an answer. */
export async function ask(
  store: StoreAddress,
  method: 'GET' | 'PUT',
  path: string,
  { body, signal }: { readonly body?: object; readonly signal: AbortSignal },
): Promise<StoreAnswer> {
  const answer = await exchange(store, method, path, body, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
  const { origin } = new URL(store.url);
  if (answer.status === 401)
    throw new StoreTrouble('LoginRefused', `the store at ${origin} refuses the credentials of spec.output`);
  if (answer.status === 429 || answer.status >= 500)
    throw new StoreTrouble('Unreachable', `the store at ${origin} answers ${answer.status}`);
  return answer;
}

/**
 * Does something with a store. One that is away is away in changing words (now its name is not known, now nothing answers): from the
 * second kind on they are told as one, which stays until the store is reached.
 */
export async function inSteadyWords<T>(memory: Map<string, unknown>, url: string, work: () => Promise<T>): Promise<T> {
  const said = (memory.get(AWAY) ?? {}) as { readonly url?: string; readonly message?: string };
  memory.delete(AWAY);
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreTrouble) || error.reason !== 'Unreachable') throw error;
    const isOther = said.url === url && said.message !== error.message;
    const trouble = isOther
      ? new StoreTrouble(
          'Unreachable',
          `the operator does not reach the store at ${new URL(url).origin}, or now and then only`,
        )
      : error;
    memory.set(AWAY, { url, message: trouble.message });
    throw trouble;
  }
}

/** What an answer holds; `undefined` for what is no JSON, be it cut or from somebody else. */
export function jsonOf(body: string): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function exchange(
  store: StoreAddress,
  method: string,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<StoreAnswer> {
  const { url, authorization, ca, insecureSkipVerify } = store;
  const target = new URL(url);
  const content = body === undefined ? undefined : JSON.stringify(body);
  const options = {
    method,
    signal,
    headers: {
      accept: 'application/json',
      ...(content === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    rejectUnauthorized: insecureSkipVerify !== true,
    ...(ca === undefined ? {} : { ca }),
    // A connection for a few requests every ten minutes need not be kept.
    agent: false as const,
  };
  const request = target.protocol === 'https:' ? secure : plain;
  const whole = `${target.origin}${target.pathname.replace(/\/+$/, '')}${path}`;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      clearTimeout(impatience);
      reject(toTrouble(error, store));
    };
    const sent = request(whole, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text = text.length > LONGEST_ANSWER ? text : text + part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
      response.on('error', fail);
    });
    const impatience = setTimeout(() => sent.destroy(new Error('no connection')), CONNECT_MS);
    sent.on('socket', (socket) => socket.once('connect', () => clearTimeout(impatience)));
    sent.on('error', fail);
    sent.end(content);
  });
}

function toTrouble(error: unknown, { url, path }: StoreAddress): StoreTrouble {
  const { origin } = new URL(url);
  const code = codeOf(error);
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|ERR_TLS|ERR_SSL|EPROTO|ERR_OSSL)/.test(code))
    return new StoreTrouble(
      'CertificateRefused',
      `the certificate of ${origin} is refused (${code}): name its authority in ${path}.tls.caSecretRef`,
    );
  // Resolvers answer now this, now that for a name that they do not know.
  const why =
    code === 'ENOTFOUND' || code === 'EAI_AGAIN'
      ? 'its name is not known'
      : code === 'ECONNREFUSED'
        ? 'it refuses connections'
        : 'no answer';
  return new StoreTrouble('Unreachable', `the operator does not reach the store at ${origin}: ${why}`);
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
