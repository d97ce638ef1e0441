/** The relay of a gateway on this machine: the real program with the very arguments that the operator gives it. Only its ports are others. */
import { resolve } from 'node:path';
import { findFreePort, type Standalone, startStandalone } from '@keelson/testenv';
import type { Store } from '../../store.ts';
import { relayArgs } from '../relay.ts';

const program = resolve(import.meta.dirname, '../../../../../bin/keelson');

export interface RunningRelay extends Standalone {
  /** Where the collector finds it; it stays the same over restarts. */
  readonly url: string;
  /** Where its /metrics are. */
  readonly statusUrl: string;
  /** How many requests of the gateway it has answered since it was started, if the status is one that the test asks for. */
  answered(which?: (status: number) => boolean): Promise<number>;
}

export async function startRelay(store: Store): Promise<RunningRelay> {
  const [port, status] = [await findFreePort(), await findFreePort()];
  const statusUrl = `http://127.0.0.1:${status}`;
  const started = await startStandalone(
    async () => ({
      name: 'relay',
      // The last word counts.
      command: [program, ...relayArgs(store), `--listen=127.0.0.1:${port}`, `--status-port=${status}`],
      isReady: () =>
        fetch(`${statusUrl}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      readyWithinMs: 60_000,
    }),
    {},
  );
  return {
    ...started,
    url: `http://127.0.0.1:${port}`,
    statusUrl,
    answered: async (which = () => true) => {
      const text = await (await fetch(`${statusUrl}/metrics`)).text();
      const counts = [...text.matchAll(/^keelson_relay_requests_total\{code="(\d+)"\} (\d+)$/gm)];
      return counts.reduce((sum, [, status, count]) => sum + (which(Number(status)) ? Number(count) : 0), 0);
    },
  };
}
