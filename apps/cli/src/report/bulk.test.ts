import { systemClock } from '@keelson/kube';
import { describe, expect, it } from 'vitest';
import { isFailure } from '../failure.ts';
import { type Outcome, sendBulk } from './bulk.ts';
import { credentialOf } from './credential.ts';
import type { Operation } from './operation.ts';
import { Store } from './store.ts';
import { startSearchStore, type Trouble } from './testing/search-store.ts';

const password = 'correct-horse';

function operation(id: string): Operation {
  const lines = `${JSON.stringify({ update: { _id: id } })}\n${JSON.stringify({ doc: { id } })}\n`;
  return { id, lines, bytes: lines.length };
}

/** Sends `ids` in one batch, with troubles, and tells all that came of it. */
async function tried(
  ids: readonly string[],
  options: {
    troubles?: readonly Trouble[];
    refuse?: (id: string, time: number) => { status: number; type: string; reason: string } | undefined;
    limit?: number;
  } = {},
) {
  await using server = await startSearchStore();
  server.fail(...(options.troubles ?? []));
  server.limit(options.limit ?? Number.POSITIVE_INFINITY);
  const times = new Map<string, number>();
  server.refuse((id) => {
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    return options.refuse?.(id, time);
  });
  const waits: number[] = [];
  const whys: string[] = [];
  const store = new Store({
    url: new URL(server.url),
    credential: credentialOf({ ELASTICSEARCH_USERNAME: 'elastic', ELASTICSEARCH_PASSWORD: password }) ?? never(),
    signal: new AbortController().signal,
    onRetry: (why, waitMs) => {
      waits.push(waitMs);
      whys.push(why);
    },
    clock: { ...systemClock, sleep: async () => {}, random: () => 1 },
  });
  const outcomes: Record<string, Outcome> = {};
  let error: unknown;
  try {
    await sendBulk(store, 'security-vuln', ids.map(operation), ({ id }, outcome) => {
      expect(outcomes).not.toHaveProperty(id);
      outcomes[id] = outcome;
    });
  } catch (caught) {
    error = caught;
  } finally {
    await store.close();
  }
  return { outcomes, error, waits, whys, stored: [...server.documents.keys()], requests: server.requests };
}

function never(): never {
  throw new Error('no credential');
}

const created: Outcome = { kind: 'created' };

describe('a batch', () => {
  it('given a store in good health, when sent, then one request stores all, with our credentials', async () => {
    const { outcomes, requests } = await tried(['a', 'b']);
    expect(outcomes).toEqual({ a: created, b: created });
    const basic = `Basic ${Buffer.from(`elastic:${password}`).toString('base64')}`;
    expect(requests).toMatchObject([{ what: 'POST /security-vuln/_bulk', authorization: basic }]);
  });

  it('given a store that is busy, fails or breaks off, when sent, then it is sent again, later each time, until it is stored', async () => {
    const troubles: Trouble[] = [{ answer: 429 }, { answer: 503 }, 'reset', { answer: 502 }];
    const { outcomes, waits } = await tried(['a'], { troubles });
    expect(outcomes).toEqual({ a: created });
    expect(waits).toEqual([500, 1000, 2000, 4000]);
  });

  it('given a store that says how long to wait, when sent, then it waits as long', async () => {
    const troubles: Trouble[] = [{ answer: 429, headers: { 'retry-after': '7' } }];
    expect((await tried(['a'], { troubles })).waits).toEqual([7000]);
  });

  it('given an answer that is lost, when sent again, then nothing is doubled', async () => {
    const { outcomes, stored } = await tried(['a'], { troubles: ['lost'] });
    expect(stored).toEqual(['a']);
    expect(outcomes).toEqual({ a: { kind: 'updated' } });
  });

  it('given items that the store has no room for, when sent, then only those are sent again', async () => {
    const busy = { status: 429, type: 'es_rejected_execution_exception', reason: 'queue is full' };
    const { outcomes, requests, whys } = await tried(['a', 'b', 'c'], {
      refuse: (id, time) => (id !== 'b' && time < 3 ? busy : undefined),
    });
    expect(outcomes).toEqual({ a: created, b: created, c: created });
    expect(requests).toHaveLength(3);
    expect(whys[0]).toBe('it took all but 2 of a batch: es_rejected_execution_exception: queue is full');
  });

  it('given an item that the store will never take, when sent, then it is kept with its reason and the others are stored', async () => {
    const bad = { status: 400, type: 'mapper_parsing_exception', reason: `failed to parse, said ${password}` };
    const { outcomes, requests } = await tried(['a', 'b'], { refuse: (id) => (id === 'a' ? bad : undefined) });
    expect(outcomes).toEqual({
      a: { kind: 'refused', status: 400, reason: 'mapper_parsing_exception: failed to parse, said [redacted]' },
      b: created,
    });
    expect(requests).toHaveLength(1);
  });

  it('given items that stay too many for the store, when sent, then it gives up and says why', async () => {
    const busy = { status: 503, type: 'unavailable_shards_exception', reason: 'primary shard is not active' };
    const { outcomes, requests } = await tried(['a'], { refuse: () => busy });
    expect(requests).toHaveLength(10);
    expect(outcomes).toEqual({
      a: { kind: 'refused', status: 503, reason: 'unavailable_shards_exception: primary shard is not active' },
    });
  });

  it('given a batch that is too large, when sent, then its halves are sent; what is too large alone is refused', async () => {
    const big = 'x'.repeat(200);
    const { outcomes, stored } = await tried(['a', 'b', big], { limit: 100 });
    expect(stored).toEqual(['a', 'b']);
    expect(outcomes[big]).toMatchObject({ kind: 'refused', status: 413, reason: expect.stringContaining('too many') });
  });

  it.each([
    [
      401,
      'unreachable',
      'it refused the credentials: 401 security_exception: unable to authenticate [elastic:[redacted]]',
    ],
    [
      403,
      'forbidden',
      'the user lacks a privilege: 403 security_exception: unable to authenticate [elastic:[redacted]]',
    ],
  ])(
    'given an answer of %i, when sent, then it is told at once, and without the password',
    async (answer, exit, words) => {
      const error = { type: 'security_exception', reason: `unable to authenticate [elastic:${password}]` };
      const { error: thrown, requests } = await tried(['a'], {
        troubles: [{ answer, body: JSON.stringify({ error }) }],
      });
      expect(thrown).toSatisfy(isFailure);
      expect(thrown).toMatchObject({ exit, message: expect.stringMatching(`^the store at http://127.0.0.1:\\d+: `) });
      expect((thrown as Error).message).toContain(words);
      expect(requests).toHaveLength(1);
    },
  );

  it('given a store that stays away, when sent, then it gives up after ten attempts', async () => {
    const { error, waits } = await tried(['a'], { troubles: Array<Trouble>(10).fill('reset') });
    expect(error).toMatchObject({
      exit: 'unreachable',
      message: expect.stringContaining('given up after 10 attempts'),
    });
    expect(waits).toHaveLength(9);
  });
});

describe('credentials', () => {
  it.each([
    [{ ELASTICSEARCH_API_KEY: 'aWQ6a2V5\n' }, 'ApiKey aWQ6a2V5'],
    [{ ELASTICSEARCH_USERNAME: 'u', ELASTICSEARCH_PASSWORD: 'p\n' }, 'Basic dTpw'],
    [{}, undefined],
    [{ ELASTICSEARCH_USERNAME: '', ELASTICSEARCH_API_KEY: 'k' }, 'ApiKey k'],
  ])('given %j, when read, then the header is %s', (env, header) => {
    expect(credentialOf(env)?.header.reveal()).toBe(header);
  });

  it.each([
    [{ ELASTICSEARCH_USERNAME: 'u' }, 'ELASTICSEARCH_PASSWORD is not set'],
    [{ ELASTICSEARCH_PASSWORD: 'p' }, 'ELASTICSEARCH_USERNAME is not set'],
    [{ ELASTICSEARCH_API_KEY: 'k', ELASTICSEARCH_USERNAME: 'u' }, 'are both set'],
    [{ ELASTICSEARCH_API_KEY: 'a\nb' }, 'ELASTICSEARCH_API_KEY has more than one line'],
  ])('given %j, when read, then it is refused', (env, words) => {
    expect(() => credentialOf(env)).toThrow(words);
  });
});
