/**
 * The pipeline on this machine: both real collectors on the very ConfigMaps that the operator renders, and a real Elasticsearch. Only
 * folders and ports differ from those in a cluster.
 */
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createObjectSet } from '@keelson/runtime';
import { type Elasticsearch, type Standalone, startCollector, startElasticsearch } from '@keelson/testenv';
import { expect, vi } from 'vitest';
import { CONFIG_FILE, GATEWAY } from '../../names.ts';
import { collectorConfigMaps } from '../config-maps.ts';
import { installTemplates } from '../index-templates/install.ts';
import { NODE_ARGS } from '../node.ts';
import type { LogSource } from '../source.ts';
import { findTrust } from '../trust.ts';
import { elsewhere, freePort, mountSecret, tlsIn } from './collectors.ts';
import { outputOf } from './sources.ts';

export type Document = Readonly<Record<string, unknown>>;

export interface Pipeline {
  readonly store: Elasticsearch;
  readonly gateway: Standalone;
  readonly node: Standalone;
  /** Where the node collector keeps its checkpoints and its queue. */
  readonly nodeStorage: string;
  /** The file of a source on this machine. */
  fileOf(source: LogSource): string;
  /** Appends lines to the file of a source. */
  write(source: LogSource, ...lines: readonly string[]): Promise<void>;
  /** At most 100 documents whose field has this text, by time. */
  documents(index: string, field: string, text: string): Promise<readonly Document[]>;
  /** Waits until there are so many of them. */
  untilFound(index: string, field: string, text: string, count?: number): Promise<readonly Document[]>;
  stop(): Promise<void>;
}

export interface PipelineOptions {
  readonly sources: readonly LogSource[];
  readonly cluster: string;
  /** Name of the node. */
  readonly node: string;
}

export async function startPipeline({ sources, cluster, node: nodeName }: PipelineOptions): Promise<Pipeline> {
  const dir = await mkdtemp(join(tmpdir(), 'keelson-flow-'));
  const store = await startElasticsearch();
  const output = outputOf({ url: store.url });
  await installTemplates({ elasticsearch: output.elasticsearch, namespace: 'default' }, noSecrets);
  const here = sources.map((source) => inside(dir, source));
  await Promise.all(here.map(({ path }) => mkdir(dirname(path), { recursive: true })));
  const maps = collectorConfigMaps({ sources: here, output, cluster });
  const [nodeConfig = '', gatewayConfig = ''] = maps.map(({ data }) => data?.[CONFIG_FILE] ?? '');
  const endpoint = `127.0.0.1:${await freePort()}`;
  const { parties } = await findTrust({ owned: createObjectSet([], 'n'), now: new Date() }, 'n');
  const [gatewayTls, nodeTls] = [join(dir, 'gateway-tls'), join(dir, 'node-tls')];
  await Promise.all([mountSecret(gatewayTls, parties.gateway.data), mountSecret(nodeTls, parties.node.data)]);
  const grpc = { endpoint, tls: tlsIn(gatewayTls, 'client_ca_file') };
  const gateway = await startCollector(gatewayConfig, {
    overrides: { ...(await elsewhere(join(dir, 'gateway'))), receivers: { otlp: { protocols: { grpc } } } },
  });
  const nodeStorage = join(dir, 'node');
  const node = await startCollector(nodeConfig, {
    args: NODE_ARGS,
    environment: { K8S_NODE_NAME: nodeName },
    overrides: {
      ...(await elsewhere(nodeStorage)),
      exporters: { otlp: { endpoint, tls: { ...tlsIn(nodeTls, 'ca_file'), server_name_override: GATEWAY } } },
    },
  });

  const fileOf: Pipeline['fileOf'] = (source) => inside(dir, source).path;
  const documents: Pipeline['documents'] = async (index, field, text) => {
    await fetch(`${store.url}/${index}/_refresh`, { method: 'POST' });
    const query = encodeURIComponent(`${field}:"${text}"`);
    const answer = await fetch(`${store.url}/${index}/_search?size=100&sort=@timestamp&q=${query}`);
    const { hits } = (await answer.json()) as { hits?: { hits: { _source: Document }[] } };
    return hits?.hits.map(({ _source }) => _source) ?? [];
  };
  return {
    store,
    gateway,
    node,
    nodeStorage,
    fileOf,
    write: (source, ...lines) => appendFile(fileOf(source), lines.map((line) => `${line}\n`).join('')),
    documents,
    untilFound: (index, field, text, count = 1) =>
      vi.waitFor(
        async () => {
          const found = await documents(index, field, text);
          expect(found).toHaveLength(count);
          return found;
        },
        { timeout: 30_000, interval: 250 },
      ),
    stop: async () => {
      await Promise.all([node, gateway, store].map((part) => part.stop()));
      await rm(dir, { recursive: true });
    },
  };
}

/** The store of tests knows nobody. */
const noSecrets = { read: { find: async () => undefined }, signal: new AbortController().signal };

/** A source with its files below a folder of this machine. */
function inside(dir: string, source: LogSource): LogSource {
  const { rotated } = source;
  return { ...source, path: join(dir, source.path), ...(rotated === undefined ? {} : { rotated: join(dir, rotated) }) };
}
