/** How the gateway writes to the store, by the relay or by itself: one exporter an index, with a queue on disk, and patience. */
import type { Store } from '../store.ts';
import { literal } from './collector.ts';
import { documentSettings } from './document.ts';
import { RELAY_URL } from './relay.ts';
import type { EventIndex } from './source.ts';

/** Where the gateway finds the API key. */
export const API_KEY_FILE = '/etc/otelcol-store/api-key/api-key';
/** Where the gateway finds user name and password: one file each, named like the key of the Secret. */
export const LOGIN_DIRECTORY = '/etc/otelcol-store/login';
/** Where the gateway finds the certificates that it trusts. */
export const CA_FILE = '/etc/otelcol-store/ca/ca.crt';

/** What an index may have waiting on the disk of one gateway; then nodes are refused, and keep what they have. */
const QUEUE_BYTES = 512 * 1024 * 1024;

/**
 * Of a document, what a later attempt may cure: the store is busy or away, or somebody has yet to fix credentials, rights or the index. The
 * rest (400) is the document's own fault, or it is there already (409). The relay goes by the same list, and a test holds
 * them together: it is another program, which knows nothing of this operator.
 */
const DOCUMENTS_RETRIED = [401, 403, 404, 408, 429, 500, 502, 503, 504];

/**
 * Of a request, every status that stores and proxies are known to answer with: the exporter would drop all documents of it for what is wrong
 * with a proxy, a URL or a limit. The relay answers with one of the above to what it cannot answer for.
 */
const REQUESTS_RETRIED = [
  ...DOCUMENTS_RETRIED,
  ...[300, 301, 302, 303, 304, 305, 307, 308],
  ...[400, 402, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418],
  ...[421, 422, 423, 424, 425, 426, 428, 431, 440, 444, 449, 451, 460, 463, 494, 495, 496, 497, 498, 499],
  ...[501, 505, 506, 507, 508, 509, 510, 511, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 561, 598, 599],
].sort((one, other) => one - other);

/** The id of the exporter of an index. */
export function exporterId(index: EventIndex): string {
  return `elasticsearch/${index}`;
}

/** Writes documents to one index. */
export function elasticsearchExporter(index: EventIndex, store: Store, isRelayed: boolean): object {
  const { url, indices, tls } = store;
  return {
    endpoints: [isRelayed ? RELAY_URL : literal(url)],
    logs_index: literal(indices[index]),
    ...Object.fromEntries(Object.keys(loginExtensions(store)).map((id) => ['auth', { authenticator: id }])),
    ...(isRelayed ? {} : tlsOf(tls)),
    ...documentSettings,
    // All attempts at a request share one timeout, and what it ends is lost: with the default of 90 s, a store that was away for
    // two minutes cost 4,000 of 5,000 events.
    timeout: '0s',
    sending_queue: {
      storage: 'file_storage',
      sizer: 'bytes',
      queue_size: QUEUE_BYTES,
      // Refused at once, a node keeps what it has on its disk. By default this exporter holds requests in memory until there is room.
      block_on_overflow: false,
      // Each holds a request in memory while the store is away.
      num_consumers: 4,
      // The nodes have waited already. An event that is larger than the largest batch would be dropped: a line has up to 4 MiB, and takes
      // up to twice that once it is parsed.
      batch: { sizer: 'bytes', min_size: 1_000_000, max_size: 10_000_000, flush_timeout: '1s' },
    },
    retry: {
      enabled: true,
      max_retries: 2 ** 31 - 1,
      initial_interval: '500ms',
      max_interval: '30s',
      retry_on_status: REQUESTS_RETRIED,
      retry_on_document_status: DOCUMENTS_RETRIED,
    },
  };
}

function tlsOf(tls: Store['tls']): object {
  const settings = {
    ...(tls?.caSecretRef === undefined ? {} : { ca_file: CA_FILE }),
    ...(tls?.insecureSkipVerify === true ? { insecure_skip_verify: true } : {}),
  };
  return Object.keys(settings).length === 0 ? {} : { tls: settings };
}

/**
 * The extension that logs in, if there is to be one. The credentials are files, because those are read again when they change: nothing has to be
 * rolled, which would lose what waits. And a value in the environment is expanded once more, so that a password with `$$` or `${` in it
 * would not be what the user wrote.
 */
export function loginExtensions({ auth }: Store): Readonly<Record<string, object>> {
  if (auth?.secretRef !== undefined) {
    const files = { username_file: `${LOGIN_DIRECTORY}/username`, password_file: `${LOGIN_DIRECTORY}/password` };
    return { basicauth: { client_auth: files } };
  }
  if (auth?.apiKeySecretRef !== undefined) return { bearertokenauth: { scheme: 'ApiKey', filename: API_KEY_FILE } };
  return {};
}
