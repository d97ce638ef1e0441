/** The whole pipeline on this machine: both real collectors and the relay (node-and-gateway.ts), and a real store with our index templates. */
import { type SearchStore, startElasticsearch, startOpenSearch } from '@keelson/testenv';
import { expect, vi } from 'vitest';
import type { StoreKind } from '../../store.ts';
import { installTemplates } from '../index-templates/install.ts';
import { type NodeAndGateway, type NodeAndGatewayOptions, startNodeAndGateway } from './node-and-gateway.ts';
import { storeWith } from './sources.ts';

export type Document = Readonly<Record<string, unknown>>;

export interface Pipeline extends NodeAndGateway {
  readonly store: SearchStore;
  /** At most 100 documents whose field has this text, by time. */
  documents(index: string, field: string, text: string): Promise<readonly Document[]>;
  /** Waits until there are so many of them. */
  untilFound(index: string, field: string, text: string, count?: number): Promise<readonly Document[]>;
  /** How many documents a query of Lucene finds; none where there is no index. */
  count(index: string, query: string): Promise<number>;
}

export interface PipelineOptions extends Omit<NodeAndGatewayOptions, 'store'> {
  /** Which store; Elasticsearch unless told. */
  readonly store?: StoreKind;
}

export async function startPipeline({ store: kind = 'elasticsearch', ...options }: PipelineOptions): Promise<Pipeline> {
  const store = await (kind === 'elasticsearch' ? startElasticsearch() : startOpenSearch());
  const named = storeWith({ url: store.url }, kind);
  await installTemplates({ store: named, namespace: 'default' }, noSecrets);
  const collectors = await startNodeAndGateway({ ...options, store: named });

  const documents: Pipeline['documents'] = async (index, field, text) => {
    await fetch(`${store.url}/${index}/_refresh`, { method: 'POST' });
    const query = encodeURIComponent(`${field}:"${text}"`);
    const answer = await fetch(`${store.url}/${index}/_search?size=100&sort=@timestamp&q=${query}`);
    const { hits } = (await answer.json()) as { hits?: { hits: { _source: Document }[] } };
    return hits?.hits.map(({ _source }) => _source) ?? [];
  };
  const { stop } = collectors;
  // Not a copy: a roll puts another process in the place of one.
  return Object.assign(collectors, {
    store,
    documents,
    count: async (index: string, query: string) => {
      await fetch(`${store.url}/${index}/_refresh`, { method: 'POST' });
      const answer = await fetch(`${store.url}/${index}/_count?q=${encodeURIComponent(query)}`);
      return ((await answer.json()) as { count?: number }).count ?? 0;
    },
    untilFound: (index: string, field: string, text: string, count = 1) =>
      vi.waitFor(
        async () => {
          const found = await documents(index, field, text);
          expect(found).toHaveLength(count);
          return found;
        },
        { timeout: 90_000, interval: 250 },
      ),
    stop: async () => {
      await Promise.all([stop(), store.stop()]);
    },
  });
}

/** The store of tests knows nobody. */
const noSecrets = { read: { find: async () => undefined }, signal: new AbortController().signal, memory: new Map() };
