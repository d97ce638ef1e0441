import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range that Linux (32768+) and macOS (49152+) give to outgoing connections: a port from there could be taken
// by any connection on the machine while a part restarts on it.
const lowest = 20_000;
const highest = 32_000;

/** Finds a TCP port on 127.0.0.1 that nothing listens on right now; another process may still take it before you do. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = randomInt(lowest, highest);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free TCP port found on 127.0.0.1 between ${lowest} and ${highest}: stop what occupies them`);
}

/** Says whether a TCP port on 127.0.0.1 can be listened on right now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
