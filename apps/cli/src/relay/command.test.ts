/** `keelson relay` as the pod of a gateway runs it. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renewCircle } from '@keelson/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { keelson, startKeelson, whenPrinted } from '../testing/keelson.ts';

const day = 86_400_000;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'keelson-relay-'));
});
afterAll(() => rm(dir, { recursive: true }));

/** A certificate for 127.0.0.1, of an authority that nobody knows. */
async function certificate() {
  const { parties } = await renewCircle({
    name: 'test',
    parties: { store: { name: 'store', usage: 'server', names: ['127.0.0.1'] } },
    policy: { authorityLifetimeMs: 10 * day, servingLifetimeMs: 5 * day, propagationMs: 0 },
    authority: undefined,
    stored: {},
    now: new Date(),
  });
  const text = (key: string) => Buffer.from(parties.store.data[key] ?? '', 'base64').toString();
  return { cert: text('tls.crt'), key: text('tls.key'), ca: text('ca.crt') };
}

it('given a store behind TLS, when its authority is another one and the file says so, then it is trusted without a restart, and SIGTERM ends all', async () => {
  const [first, second] = [await certificate(), await certificate()];
  const store = createServer(first, (request, response) => {
    request.resume();
    response.end('{"errors":false,"items":[{"create":{"status":201}}]}');
  });
  store.listen(0, '127.0.0.1');
  await once(store, 'listening');
  const file = join(dir, 'ca.crt');
  await writeFile(file, first.ca);
  const url = `https://127.0.0.1:${(store.address() as AddressInfo).port}`;
  const child = startKeelson([
    'relay',
    '--url',
    url,
    '--ca-file',
    file,
    '--listen',
    '127.0.0.1:0',
    '--status-port',
    '0',
  ]);
  const ended = once(child, 'close');
  try {
    const [, listen = ''] = /"listen":"([^"]+)"/.exec(await whenPrinted(child, '"ready"')) ?? [];
    const send = async () => {
      const body = '{"create":{"_index":"events","_id":"1"}}\n{}\n';
      return (await fetch(`http://${listen}/_bulk`, { method: 'POST', body })).status;
    };
    expect(await send()).toBe(200);

    store.setSecureContext(second);
    store.closeAllConnections();
    expect(await send()).toBe(502);
    await writeFile(file, second.ca);
    expect(await send()).toBe(200);
  } finally {
    child.kill('SIGTERM');
    store.close();
    store.closeAllConnections();
  }
  expect(await ended).toEqual([0, null]);
});

it.each([
  [[], "required option '--url <url>' not specified"],
  [['--url', 'ftp://es'], 'Use an http or https URL'],
  [['--url', 'https://elastic:secret@es'], 'Leave credentials out of it'],
  [['--url', 'https://es', '--ca-file', 'nowhere.pem'], 'nowhere.pem cannot be read'],
  [['--url', 'https://es', '--listen', '9210'], 'Use a host and a port, e.g. 127.0.0.1:9210'],
  [['--url', 'https://es', '--status-port', 'x'], 'Use a number from 0 to 65535'],
])('given %j, when run, then it says what is wrong', async (args, message) => {
  const { code, stderr } = await keelson(['relay', ...args]);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});
