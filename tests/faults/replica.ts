/**
 * One replica of the Website operator as a process of its own, to be killed. Arguments: a kubeconfig, and as JSON what to run it with.
 * Says `running` on standard output when its caches are synced. SIGTERM stops it gracefully.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { website } from '@keelson/example-website';
import { createClient, loadConfig } from '@keelson/kube';
import { createLogger, createManager, type LeaderElection } from '@keelson/runtime';

export interface ReplicaOptions {
  readonly identity?: string;
  readonly leaderElection?: LeaderElection;
  readonly namespaces?: readonly string[];
  readonly health?: { readonly port: number };
}

if (import.meta.main) {
  const [kubeconfig, json] = process.argv.slice(2);
  if (kubeconfig === undefined) throw new Error('usage: replica KUBECONFIG [JSON]');
  const options: ReplicaOptions = JSON.parse(json ?? '{}');
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const client = createClient(await loadConfig({ kubeconfig }));
  const logger = createLogger({ level: 'error', format: 'json', destination: process.stderr });
  const manager = createManager({
    client,
    operators: [website],
    leaderElection: false,
    health: false,
    logger,
    ...options,
  });
  const running = manager.run(stop.signal);
  while (!manager.ready.ok && !stop.signal.aborted) await sleep(20);
  process.stdout.write('running\n');
  await running;
  await client.close();
}
