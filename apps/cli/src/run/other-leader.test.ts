import { createClient, type KubeClient, loadConfig, systemClock } from '@keelson/kube';
import { Lease, manifest } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startKeelson, whenPrinted } from '../testing/keelson.ts';
import { warnOfOtherLeader } from './other-leader.ts';

let env: TestEnv;
let client: KubeClient;
beforeAll(async () => {
  env = await startTestEnv();
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});

const hold = (namespace: string, holderIdentity: string, renewedMsAgo = 0) => {
  const renewTime = new Date(Date.now() - renewedMsAgo).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity, renewTime, leaseDurationSeconds: 60 };
  return client.create(Lease, manifest(Lease, { name: 'keelson', namespace }, { spec }));
};

describe('a process without leader election', () => {
  it.each<[string, ((namespace: string) => Promise<unknown>) | undefined, string[]]>([
    ['no lease', undefined, []],
    ['a lease that is held', (namespace) => hold(namespace, 'pod-1'), ['pod-1']],
    ['a lease that was given back', (namespace) => hold(namespace, ''), []],
    ['a lease that nobody renews', (namespace) => hold(namespace, 'pod-1', 61_000), []],
  ])('given %s, warns of who leads', async (_, prepare, expected) => {
    const namespace = await env.createNamespace();
    await prepare?.(namespace);
    const holders: unknown[] = [];
    const logger = { warn: (fields: object) => void holders.push((fields as { holder: string }).holder) };
    await warnOfOtherLeader({ client, lease: { namespace, name: 'keelson' }, logger, clock: systemClock });
    expect(holders).toEqual(expected);
  });

  it('given a deployed leader, `keelson run` says so and runs all the same', async () => {
    const namespace = await env.createNamespace();
    await hold(namespace, 'keelson-7f9c-pod');
    const ports = ['--health-port', '0', '--metrics-port', '0'];
    const where = ['--kubeconfig', env.kubeconfig, '--lease-namespace', namespace];
    const child = startKeelson(['run', ...where, ...ports, '--log-format', 'json']);
    try {
      await Promise.all([whenPrinted(child, '"holder":"keelson-7f9c-pod"'), whenPrinted(child, '"message":"started"')]);
      expect(child.exitCode).toBeNull();
    } finally {
      child.kill('SIGKILL');
    }
  });
});
