/**
 * What every measured program does: read its arguments, and say one JSON line when it has settled. Plain JavaScript, as all of
 * them: what strips types at run time would be measured too.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** @returns {{ kubeconfig: string, mode: 'full' | 'metadata', namespace: string }} */
export function givenArguments() {
  const [kubeconfig, mode, namespace] = process.argv.slice(2);
  if (kubeconfig === undefined || namespace === undefined || (mode !== 'full' && mode !== 'metadata')) {
    throw new Error('usage: <program> KUBECONFIG full|metadata NAMESPACE');
  }
  return { kubeconfig, mode, namespace };
}

/** Memory once garbage is collected: resident, and what is alive on the heap. */
export function memoryNow() {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { rss, heap: heapUsed };
}

/**
 * Lets garbage settle, prints the line, and then holds everything alive until the process is ended.
 * @param {{ objects: number, before: { rss: number, heap: number }, syncMs: number }} result
 */
export async function tell({ objects, before, syncMs }) {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.();
    await sleep(200);
  }
  const { rss, heap } = memoryNow();
  console.log(JSON.stringify({ objects, rss, held: heap - before.heap, syncMs: Math.round(syncMs) }));
  await sleep(3_600_000);
  throw new Error('nobody ended the measured program within an hour');
}
