/**
 * A node collector and a gateway on this machine, with its relay: all real, the collectors on the very ConfigMaps that the operator renders.
 * Only folders and ports differ from those in a cluster, and what a test says in `overrides`.
 */
import { appendFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createObjectSet } from '@keelson/runtime';
import { findFreePort, type Standalone, startCollector } from '@keelson/testenv';
import { CONFIG_FILE, GATEWAY } from '../../names.ts';
import type { Store } from '../../store.ts';
import { memoryLimiter } from '../collector.ts';
import { collectorConfigMaps } from '../config-maps.ts';
import { exporterId } from '../exporter.ts';
import { NODE_ARGS } from '../node.ts';
import { isRelayed } from '../relay.ts';
import type { LogSource } from '../source.ts';
import { findTrust, type Trust } from '../trust.ts';
import { elsewhere, mountSecret, tlsIn } from './collectors.ts';
import { type RunningRelay, startRelay } from './relay.ts';

/** The two, as tests name them. */
export type Side = 'node' | 'gateway';

/** What a test has of each of the two. */
type Sides<T> = Readonly<Record<Side, T>>;

/** MiB that their containers have (features/otel-pipeline). */
export const MEMORY: Sides<number> = { node: 512, gateway: 512 };

export interface NodeAndGateway {
  /** Folder of all that is here; it goes at the end. */
  readonly dir: string;
  readonly node: Standalone;
  readonly gateway: Standalone;
  /** Between gateway and store; asking for it where there is none is an error. */
  readonly relay: RunningRelay;
  /** Port of the gateway. */
  readonly port: number;
  /** Where each keeps its queue, and the node its checkpoints. */
  readonly storage: Sides<string>;
  /** The file of a source on this machine. */
  fileOf(source: LogSource): string;
  /** Appends lines to the file of a source. */
  write(source: LogSource, ...lines: readonly string[]): Promise<void>;
  /** Changes the Secrets of both, as their kubelets would. */
  take(trust: Trust): Promise<void>;
  /** Has the two read these sources from now on, as a changed agent does: who gets another configuration is ended and started anew. */
  roll(sources: readonly LogSource[]): Promise<readonly Side[]>;
  stop(): Promise<void>;
}

export interface NodeAndGatewayOptions {
  readonly sources: readonly LogSource[];
  readonly store: Store;
  /** Whether what the store refuses is kept, by the relay; it is by default. */
  readonly deadLetters?: boolean;
  readonly cluster?: string;
  /** Name of the node. */
  readonly node?: string;
  readonly trust?: Trust;
  /** Merged over what is rendered: what a test has no time or no room for. */
  readonly overrides?: Partial<Sides<object>>;
  /** Folders for queues, if not below `dir`. */
  readonly storage?: Partial<Sides<string>>;
  /** Variables of both programs. */
  readonly environment?: Partial<Sides<Readonly<Record<string, string>>>>;
}

export async function startNodeAndGateway(options: NodeAndGatewayOptions): Promise<NodeAndGateway> {
  const { store, deadLetters = true, cluster, node: nodeName = 'node-1', overrides = {}, environment = {} } = options;
  const dir = await mkdtemp(join(tmpdir(), 'keelson-flow-'));
  const storage = { node: join(dir, 'node'), gateway: join(dir, 'gateway'), ...options.storage };
  const secrets = { node: join(dir, 'node-tls'), gateway: join(dir, 'gateway-tls') };
  const take = async ({ parties }: Trust) => {
    await mountSecret(secrets.gateway, parties.gateway.data);
    await mountSecret(secrets.node, parties.node.data);
  };
  await take(options.trust ?? (await findTrust({ owned: createObjectSet([], 'n'), now: new Date() }, 'n')));

  const port = await findFreePort();
  const endpoint = `127.0.0.1:${port}`;
  const grpc = { endpoint, tls: tlsIn(secrets.gateway, 'client_ca_file') };
  // The name by which nodes know the gateway in a cluster.
  const tls = { ...tlsIn(secrets.node, 'ca_file'), server_name_override: GATEWAY };
  const relay = isRelayed(store, deadLetters) ? await startRelay(store) : undefined;
  const here = {
    gateway: {
      ...(await elsewhere(storage.gateway)),
      processors: memoryOf('gateway'),
      receivers: { otlp: { protocols: { grpc } } },
      ...(relay === undefined ? {} : { exporters: exportersTo(relay.url) }),
    },
    node: {
      ...(await elsewhere(storage.node)),
      processors: memoryOf('node'),
      exporters: { otlp: { endpoint, tls } },
    },
  };
  const start = (side: Side, config: string) =>
    startCollector(config, {
      overrides: here[side],
      args: [...(side === 'node' ? NODE_ARGS : []), `--config=yaml:${JSON.stringify(overrides[side] ?? {})}`],
      environment: {
        GOMEMLIMIT: `${MEMORY[side]}MiB`,
        ...(side === 'node' ? { K8S_NODE_NAME: nodeName } : {}),
        ...environment[side],
      },
    });

  const render = async (sources: readonly LogSource[]): Promise<Sides<string>> => {
    const inside = sources.map((source) => below(dir, source));
    await Promise.all(inside.map(({ path }) => mkdir(dirname(path), { recursive: true })));
    const maps = collectorConfigMaps({ sources: inside, store, cluster }, deadLetters);
    const [node = '', gateway = ''] = maps.map(({ data }) => data?.[CONFIG_FILE] ?? '');
    return { node, gateway };
  };
  let configs = await render(options.sources);
  const running = { gateway: await start('gateway', configs.gateway), node: await start('node', configs.node) };

  const fileOf = (source: LogSource) => below(dir, source).path;
  return {
    dir,
    port,
    storage,
    get relay() {
      if (relay === undefined) throw new Error('this gateway has no relay: deadLetters is false');
      return relay;
    },
    get node() {
      return running.node;
    },
    get gateway() {
      return running.gateway;
    },
    fileOf,
    write: (source, ...lines) => appendFile(fileOf(source), lines.map((line) => `${line}\n`).join('')),
    take,
    roll: async (sources) => {
      const next = await render(sources);
      const changed = (['node', 'gateway'] as const).filter((side) => next[side] !== configs[side]);
      configs = next;
      for (const side of changed) {
        await endGracefully(running[side]);
        await running[side].stop();
        running[side] = await start(side, next[side]);
      }
      return changed;
    },
    stop: async () => {
      await Promise.all([running.node.stop(), running.gateway.stop(), relay?.stop()]);
      await rm(dir, { recursive: true });
    },
  };
}

/** Has every exporter that there may be send to this address; one that is not in use does nothing. */
function exportersTo(url: string): object {
  return Object.fromEntries(
    (['events', 'inventory'] as const).map((index) => [exporterId(index), { endpoints: [url] }]),
  );
}

/** What the shares of the memory limiter come to in the container: here they would be those of this machine. */
function memoryOf(side: Side): object {
  const share = (percentage: number) => Math.round((MEMORY[side] * percentage) / 100);
  const { limit_percentage, spike_limit_percentage } = memoryLimiter;
  return { memory_limiter: { limit_mib: share(limit_percentage), spike_limit_mib: share(spike_limit_percentage) } };
}

/** Ends a collector as the kubelet does: it is told, and has half a minute. */
export async function endGracefully({ part }: Standalone): Promise<void> {
  await part.kill('SIGTERM');
  const deadline = Date.now() + 30_000;
  while (part.running && Date.now() < deadline) await sleep(50);
  await part.kill();
}

/** A source with its files below a folder of this machine. */
function below(dir: string, source: LogSource): LogSource {
  const { rotated } = source;
  return { ...source, path: join(dir, source.path), ...(rotated === undefined ? {} : { rotated: join(dir, rotated) }) };
}
