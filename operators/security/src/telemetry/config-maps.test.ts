import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { StoreKind } from '../store.ts';
import { collectorConfigMaps } from './config-maps.ts';
import { synthesise } from './synthesise.ts';
import { census, guard, storeWith, watcher } from './testing/sources.ts';

const store = storeWith();

describe('the ConfigMaps of the collectors', () => {
  test('hold what is synthesised, each in one file', () => {
    const context = { sources: [guard, census], store, cluster: 'prod' };
    const maps = collectorConfigMaps(context);
    const { node, gateway } = synthesise(context.sources, { ...context, deadLetters: false });
    expect(maps.map(({ metadata }) => metadata.name)).toEqual(['otel-node-collector-config', 'otel-gateway-config']);
    expect(maps.map(({ data }) => parse(data?.['config.yaml'] ?? ''))).toEqual([node, gateway]);
  });

  test('send documents by the relay where those that are refused are kept, and never to OpenSearch without it', () => {
    const endpoint = (kind: StoreKind, deadLetters: boolean) => {
      const named = storeWith({ url: 'https://store:9200' }, kind);
      const [, gateway] = collectorConfigMaps({ sources: [guard], store: named, cluster: undefined }, deadLetters);
      return parse(gateway?.data?.['config.yaml'] ?? '').exporters['elasticsearch/events'].endpoints;
    };
    expect(endpoint('elasticsearch', false)).toEqual(['https://store:9200']);
    expect(endpoint('elasticsearch', true)).toEqual(['http://127.0.0.1:9210']);
    expect(endpoint('opensearch', true)).toEqual(['http://127.0.0.1:9210']);
    expect(endpoint('opensearch', false)).toEqual(['http://127.0.0.1:9210']);
  });

  test('are the same to the byte for the same sources', () => {
    const once = () => collectorConfigMaps({ sources: [guard, watcher, census], store, cluster: 'prod' });
    expect(JSON.stringify(once())).toBe(JSON.stringify(once()));
  });

  test('change by exactly one receiver when a tool goes that writes to events', () => {
    const [before, after] = [
      [guard, watcher, census],
      [watcher, census],
    ].map((sources) => synthesise(sources, { store, cluster: undefined, deadLetters: true }));
    const { 'filelog/guard': gone, ...others } = before?.node?.receivers ?? {};
    expect(gone).toBeDefined();
    expect(after?.node?.receivers).toEqual(others);
    expect(after?.gateway).toEqual(before?.gateway);
  });

  test('are none where nobody writes, or there is nowhere to write to', () => {
    expect(collectorConfigMaps({ sources: [], store, cluster: 'prod' })).toEqual([]);
    expect(collectorConfigMaps({ sources: [guard], store: undefined, cluster: 'prod' })).toEqual([]);
  });

  test.each(['1_000', '0o14', 'yes', '12:30:45', '~'])('say in quotes that %s is a text', (cluster) => {
    const [node] = collectorConfigMaps({ sources: [guard], store, cluster });
    expect(node?.data?.['config.yaml']).toContain(`value: "${cluster}"`);
  });
});
