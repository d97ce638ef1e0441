/**
 * Marks what is gone: documents of this cluster that are open and that this run has not seen.
 *
 * Invariant: nothing is marked that this run has stored, also when the store does not show it yet. A search reads an older state
 * of the index, so that each change is based on the version that the search has read; a newer one wins.
 * Searches and updates instead of `_update_by_query`: that needs a script engine, and does not tell what it left out.
 */
import { type Outcome, sendBulk } from './bulk.ts';
import { inBatches, type Operation, resolved } from './operation.ts';
import type { Store } from './store.ts';

export interface Absence {
  readonly index: string;
  readonly cluster: string;
  /** Only of this namespace. */
  readonly namespace?: string;
  /** When this run began. */
  readonly seen: string;
  /** Documents that were seen but could not be stored. */
  readonly except: readonly string[];
}

interface Hit {
  readonly _id: string;
  readonly _seq_no: number;
  readonly _primary_term: number;
  readonly _source?: {
    readonly orchestrator?: { readonly cluster?: { readonly name?: string }; readonly namespace?: string };
  };
}

const keepAlive = '5m';

/** Tells the outcome for each document that is to be marked. */
export async function resolveAbsent(
  store: Store,
  absence: Absence,
  tell: (operation: Operation, outcome: Outcome) => void,
): Promise<void> {
  // Spares the conflicts below. Whoever lacks the privilege for it gets the same result, more slowly.
  await store.send({ method: 'POST', path: `/${encodeURIComponent(absence.index)}/_refresh` }).catch(ignoreForbidden);
  for await (const batch of inBatches(marks(store, absence))) await sendBulk(store, absence.index, batch, tell);
}

async function* marks(store: Store, absence: Absence): AsyncGenerator<Operation, void, void> {
  for await (const { _id, _seq_no, _primary_term, _source } of search(store, absence)) {
    // A text that is not mapped as a keyword is found by its words: `prod` would find `prod-eu` as well.
    const { cluster, namespace } = _source?.orchestrator ?? {};
    if (cluster?.name !== absence.cluster) continue;
    if (absence.namespace !== undefined && namespace !== absence.namespace) continue;
    yield resolved(_id, { seqNo: _seq_no, primaryTerm: _primary_term }, absence.seen);
  }
}

/** Page after page. Should the answer to one get lost, its repetition gives the next: those few wait for the next run. */
async function* search(store: Store, absence: Absence): AsyncGenerator<Hit, void, void> {
  const parameters = `scroll=${keepAlive}&ignore_unavailable=true&allow_partial_search_results=false`;
  let request: Parameters<Store['send']>[0] = {
    method: 'POST',
    path: `/${encodeURIComponent(absence.index)}/_search?${parameters}`,
    json: {
      size: 1000,
      sort: ['_doc'],
      seq_no_primary_term: true,
      _source: ['orchestrator.cluster.name', 'orchestrator.namespace'],
      query: queryOf(absence),
    },
  };
  for (;;) {
    const answer = await store.send(request);
    if (answer.status !== 200) throw store.unexpected('the search for what is resolved', answer);
    const { _scroll_id: scroll, hits } = JSON.parse(answer.body) as { _scroll_id: string; hits: { hits: Hit[] } };
    if (hits.hits.length === 0) {
      await store.send({ method: 'DELETE', path: '/_search/scroll', json: { scroll_id: scroll } });
      return;
    }
    yield* hits.hits;
    request = { method: 'POST', path: '/_search/scroll', json: { scroll: keepAlive, scroll_id: scroll } };
  }
}

function queryOf({ cluster, namespace, seen, except }: Absence): object {
  const is = (field: string, value: string): object => ({ match_phrase: { [field]: value } });
  return {
    bool: {
      filter: [
        is('orchestrator.cluster.name', cluster),
        is('vulnerability.status', 'open'),
        ...(namespace === undefined ? [] : [is('orchestrator.namespace', namespace)]),
        { range: { 'event.ingested': { lt: seen } } },
      ],
      must_not: except.length === 0 ? [] : [{ ids: { values: except } }],
    },
  };
}

function ignoreForbidden(error: unknown): void {
  if ((error as { exit?: string }).exit !== 'forbidden') throw error;
}
