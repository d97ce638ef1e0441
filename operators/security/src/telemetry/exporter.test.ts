import { describe, expect, test } from 'vitest';
import { elasticsearchExporter, loginExtensions } from './exporter.ts';
import { storeWith } from './testing/sources.ts';

const basic = { auth: { secretRef: { name: 'login' } } };
const apiKey = { auth: { apiKeySecretRef: { name: 'login', key: 'api-key' } } };

interface Retry {
  readonly retry_on_status: readonly number[];
  readonly retry_on_document_status: readonly number[];
}

const retryOf = () => (elasticsearchExporter('events', storeWith(), false) as { retry: Retry }).retry;

describe('the exporter of an index', () => {
  test('writes to the index of that name, wherever the store is', () => {
    expect(elasticsearchExporter('inventory', storeWith({ url: 'https://es/$1' }), false)).toMatchObject({
      endpoints: ['https://es/$$1'],
      logs_index: 'security-inventory',
    });
  });

  test('keeps what it has on disk, and tries for as long as it takes', () => {
    expect(elasticsearchExporter('events', storeWith(), false)).toMatchObject({
      timeout: '0s',
      sending_queue: { storage: 'file_storage' },
      retry: { enabled: true, max_retries: 2_147_483_647 },
    });
  });

  test('tries documents again that somebody may cure, and not those that are to blame themselves', () => {
    const { retry_on_document_status } = retryOf();
    expect(retry_on_document_status).toEqual(expect.arrayContaining([401, 403, 429, 503]));
    for (const own of [400, 409, 413]) expect(retry_on_document_status).not.toContain(own);
  });

  test('gives up no request, whatever a proxy says of it', () => {
    const { retry_on_status } = retryOf();
    expect(retry_on_status).toEqual(
      expect.arrayContaining([302, 400, 401, 402, 405, 409, 413, 418, 422, 429, 499, 503, 520, 599]),
    );
    expect(retry_on_status).not.toContain(200);
    // Sorted, and each once: it is read by people.
    expect(retry_on_status).toEqual([...new Set(retry_on_status)].sort((one, other) => one - other));
  });

  test.each([
    ['nobody', {}, {}, {}],
    [
      'user and password',
      basic,
      { auth: { authenticator: 'basicauth' } },
      {
        basicauth: {
          client_auth: {
            username_file: '/etc/otelcol-store/login/username',
            password_file: '/etc/otelcol-store/login/password',
          },
        },
      },
    ],
    [
      'an API key',
      apiKey,
      { auth: { authenticator: 'bearertokenauth' } },
      { bearertokenauth: { scheme: 'ApiKey', filename: '/etc/otelcol-store/api-key/api-key' } },
    ],
  ])('logs in as %s, by reference', (_who, login, expected, extensions) => {
    const store = storeWith(login);
    const { auth, api_key, user, password } = elasticsearchExporter('events', store, false) as Record<string, unknown>;
    expect({ auth, api_key, user, password }).toEqual(expected);
    expect(loginExtensions(store)).toEqual(extensions);
  });

  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ insecureSkipVerify: false }, undefined],
    [{ insecureSkipVerify: true }, { insecure_skip_verify: true }],
    [{ caSecretRef: { name: 'ca', key: 'root.pem' } }, { ca_file: '/etc/otelcol-store/ca/ca.crt' }],
  ])('trusts by %j', (tls, expected) => {
    const store = storeWith(tls === undefined ? {} : { tls });
    expect((elasticsearchExporter('events', store, false) as { tls?: object }).tls).toEqual(expected);
  });

  test('leaves it to the relay whom to trust, and shows its credentials to it', () => {
    const store = storeWith({
      tls: { caSecretRef: { name: 'ca', key: 'ca.crt' } },
      auth: { secretRef: { name: 'login' } },
    });
    const { endpoints, tls, auth } = elasticsearchExporter('events', store, true) as Record<string, unknown>;
    expect({ endpoints, tls, auth }).toEqual({
      endpoints: ['http://127.0.0.1:9210'],
      tls: undefined,
      auth: { authenticator: 'basicauth' },
    });
  });
});
