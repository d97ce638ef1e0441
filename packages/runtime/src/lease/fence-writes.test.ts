import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, Fault, type KubeClient } from '@keelson/kube';
import { ConfigMap, manifest } from '@keelson/schema';
import { afterEach, describe, expect, it } from 'vitest';
import { fenceWrites } from './fence-writes.ts';

const object = manifest(ConfigMap, { name: 'a', namespace: 'n' }, {});
const ref = { name: 'a', namespace: 'n' };
const writes: Record<string, (client: KubeClient) => Promise<unknown>> = {
  create: (client) => client.create(ConfigMap, object),
  update: (client) => client.update(ConfigMap, object),
  patch: (client) => client.patch(ConfigMap, ref, { type: 'merge', value: {} }),
  apply: (client) => client.apply(ConfigMap, object, { fieldManager: 'me' }),
  delete: (client) => client.delete(ConfigMap, ref),
  raw: (client) => client.raw('/evil', { method: 'POST', body: {} }),
};

let cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp) await each();
  cleanUp = [];
});

/** A client for a server that turns every first attempt away, and the lease is lost meanwhile. */
async function setUp() {
  const seen: string[] = [];
  let isLost = false;
  const server = createServer((request, response) => {
    seen.push(request.method ?? '');
    isLost = true;
    response.writeHead(seen.length === 1 ? 429 : 200, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(JSON.stringify(object));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const plain = createClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    namespace: 'default',
    source: 'a test',
    tls: { insecure: false },
    authentication: { type: 'none' },
    disableCompression: false,
  });
  cleanUp = [() => plain.close(), () => server.closeAllConnections(), () => server.close()];
  const fence = {
    check() {
      if (isLost) throw new Fault('LeaseLost', 'the lease may have passed to another replica');
    },
  };
  const lose = () => {
    isLost = true;
  };
  return { client: fenceWrites(plain, fence), seen, lose };
}

describe('a client behind the fence', () => {
  it.each(Object.keys(writes).filter((name) => name !== 'raw'))(
    'given a lease that is lost while a write waits to be repeated, %s is not sent again',
    async (name) => {
      const { client, seen } = await setUp();
      await expect(writes[name]?.(client)).rejects.toMatchObject({ code: 'LeaseLost' });
      expect(seen).toHaveLength(1);
    },
  );

  it.each(Object.keys(writes))('given a lost lease, %s is not sent at all', async (name) => {
    const { client, seen, lose } = await setUp();
    lose();
    await expect(writes[name]?.(client)).rejects.toMatchObject({ code: 'LeaseLost' });
    expect(seen).toEqual([]);
  });

  it('given a lost lease, reads go on', async () => {
    const { client, lose } = await setUp();
    lose();
    expect(await client.get(ConfigMap, ref)).toMatchObject({ kind: 'ConfigMap' });
    expect(await client.raw('/version')).toMatchObject({ status: 200 });
  });
});
