import { createClient, loadConfig } from '@keelson/kube';
import { createManager, createMetrics } from '../../index.ts';
import { greeter } from './operator.ts';

const metrics = createMetrics();
const client = createClient(await loadConfig(), { observer: metrics.client });
const manager = createManager({
  client,
  operators: [greeter],
  leaderElection: { namespace: 'default', name: 'greeter' },
  health: { port: Number(process.env.HEALTH_PORT ?? 8081) },
  metrics,
});

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
await manager.run(stop.signal);
await client.close();
