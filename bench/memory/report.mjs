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

/** Resident bytes once garbage is collected. */
export function memoryNow() {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

/**
 * Lets garbage settle, prints the line, and then holds everything alive until the process is ended.
 * @param {{ objects: number, before: number, syncMs: number }} result
 */
export async function tell(result) {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.();
    await sleep(200);
  }
  const { rss, heapUsed } = process.memoryUsage();
  console.log(
    JSON.stringify({
      objects: result.objects,
      rss,
      rssBefore: result.before,
      heapUsed,
      syncMs: Math.round(result.syncMs),
    }),
  );
  await sleep(3_600_000);
  throw new Error('nobody ended the measured program within an hour');
}
