/** The certificates of the pipeline on a real API server: made once, restored, renewed in time, and never told to anybody. */
import { X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonSet, Deployment, Event, Secret } from '@keelson/schema';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { AUTHORITY, GATEWAY, GATEWAY_TLS, NODE_COLLECTOR, NODE_TLS, PIPELINE_AUTHORITY } from './names.ts';
import { security } from './operator.ts';
import { SecurityAgent } from './resource.ts';
import { trustSecretNames } from './telemetry/trust-secrets.ts';
import { agentOf } from './testing/agent.ts';
import { OPERATOR_USER, type Stage, startStage } from './testing/stage.ts';

const day = 86_400_000;

describe('the certificates of the pipeline', () => {
  let stage: Stage;
  let namespace: string;
  /** How far the clock of the operator is ahead, for what concerns certificates. */
  let ahead = 0;
  const lines: string[] = [];
  const keys = new Set<string>();
  beforeAll(async () => {
    const operator: typeof security = {
      ...security,
      observe: (context) =>
        security.observe?.({ ...context, now: new Date(context.now.getTime() + ahead) }) ?? Promise.resolve(undefined),
    };
    stage = await startStage({}, { operator, onLog: (line) => lines.push(line) });
    namespace = await stage.env.createNamespace();
    const object = agentOf(['osquery']);
    await stage.apply({ ...object, metadata: { name: 'main', namespace } });
    await stage.untilCondition({ name: 'main', namespace }, 'Applied', { status: 'True' });
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  const stored = async (name: string) => {
    const secret = await stage.admin.get(Secret, { name, namespace });
    for (const key of ['tls.key', 'ca.key']) if (secret.data?.[key] !== undefined) keys.add(secret.data[key]);
    return secret;
  };
  const all = () => Promise.all(trustSecretNames.map(stored));
  /** Wakes the operator. */
  const touch = (value: string) =>
    stage.admin.patch(
      SecurityAgent,
      { name: 'main', namespace },
      { type: 'merge', value: { metadata: { annotations: { touched: value } } } },
    );
  const authorityOfNodes = async () =>
    (await stage.admin.get(DaemonSet, { name: NODE_COLLECTOR, namespace })).spec.template.metadata?.annotations?.[
      AUTHORITY
    ];
  const untilChanged = (name: string, key: string, from: Secret) =>
    vi.waitFor(async () => expect((await stored(name)).data?.[key]).not.toBe(from.data?.[key]), {
      timeout: 60_000,
      interval: 100,
    });

  test('are there, each with what its pods need, and the key of the authority apart', async () => {
    const [gateway, node, authority] = await all();
    for (const secret of [gateway, node])
      expect(Object.keys(secret?.data ?? {}).sort()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    expect(Object.keys(authority?.data ?? {}).sort()).toEqual(['ca.crt', 'ca.key']);
  });

  test('are left alone: a look at the agent writes nothing', async () => {
    const before = await all();
    // What else the operator has to say of a new agent may come in between once, not every time.
    let looks = 0;
    await vi.waitFor(
      async () => {
        const since = await stage.env.audit.mark();
        looks += 1;
        await touch(`look ${looks}`);
        await sleep(2_000);
        expect(await stage.env.audit.writesBy(OPERATOR_USER, { since })).toEqual([]);
      },
      { timeout: 60_000 },
    );
    expect(await all()).toEqual(before);
  });

  test.each([
    [GATEWAY_TLS, NODE_TLS],
    [NODE_TLS, GATEWAY_TLS],
  ])('%s is made anew when somebody deletes it, and the rest stays', async (name, other) => {
    const [before, kept] = [await stored(name), await stored(other)];
    await stage.admin.delete(Secret, { name, namespace });
    await vi.waitFor(async () => expect((await stored(name)).metadata.uid).not.toBe(before.metadata.uid), {
      timeout: 60_000,
    });
    expect((await stored(name)).data?.['ca.crt']).toBe(before.data?.['ca.crt']);
    expect((await stored(name)).data?.['tls.key']).not.toBe(before.data?.['tls.key']);
    expect(await stored(other)).toEqual(kept);
  });

  test('what somebody puts into one of them is taken out again', async () => {
    const before = await stored(GATEWAY_TLS);
    const value = { data: { 'ca.crt': Buffer.from('mine').toString('base64') } };
    await stage.admin.patch(Secret, { name: GATEWAY_TLS, namespace }, { type: 'merge', value });
    await vi.waitFor(async () => expect((await stored(GATEWAY_TLS)).data).toEqual(before.data), { timeout: 60_000 });
  });

  test('are renewed before they expire, by the same authority, and no pod is rolled', async () => {
    const [gateway, node, authority] = await all();
    const generations = async () => [
      (await stage.admin.get(DaemonSet, { name: NODE_COLLECTOR, namespace })).metadata.generation,
      (await stage.admin.get(Deployment, { name: GATEWAY, namespace })).metadata.generation,
    ];
    const before = await generations();
    ahead = 70 * day;
    await touch('twice');
    await untilChanged(GATEWAY_TLS, 'tls.crt', gateway ?? expect.fail());
    await untilChanged(NODE_TLS, 'tls.crt', node ?? expect.fail());
    await stage.untilAtRest();
    expect((await stored(PIPELINE_AUTHORITY)).data).toEqual(authority?.data);
    expect(await generations()).toEqual(before);
  });

  test('a new authority is told to both sides before anybody uses it, and rolls the nodes alone', async () => {
    // Certificates live for 90 days and the authority for a year: by then both parties have had new ones, which are still good.
    for (const days of [140, 215]) {
      const [gateway, node] = await all();
      ahead = days * day;
      await touch(`day ${days}`);
      await untilChanged(GATEWAY_TLS, 'tls.crt', gateway ?? expect.fail());
      await untilChanged(NODE_TLS, 'tls.crt', node ?? expect.fail());
    }
    const [gateway, node, authority] = await all();
    const told = await authorityOfNodes();
    const rolled = (await stage.admin.get(Deployment, { name: GATEWAY, namespace })).metadata.generation;
    ahead = 268 * day;
    await touch('day 268');
    await untilChanged(PIPELINE_AUTHORITY, 'ca.key', authority ?? expect.fail());
    await vi.waitFor(async () => expect(await authorityOfNodes()).not.toBe(told), { timeout: 60_000 });
    await stage.untilAtRest();
    const [gatewayTold, nodeTold, successor] = await all();
    const bundle = successor?.data?.['ca.crt'];
    const [old, young] = authoritiesIn(bundle);
    expect(authoritiesIn(bundle)).toHaveLength(2);
    expect([gatewayTold?.data?.['ca.crt'], nodeTold?.data?.['ca.crt']]).toEqual([bundle, bundle]);
    expect(gatewayTold?.data?.['tls.crt']).toBe(gateway?.data?.['tls.crt']);
    expect(nodeTold?.data?.['tls.crt']).toBe(node?.data?.['tls.crt']);
    expect(isSignedBy(gatewayTold, old)).toBe(true);

    // Nobody rolls the collectors here: after a week it is used all the same.
    ahead = 276 * day;
    await touch('day 276');
    await untilChanged(GATEWAY_TLS, 'tls.crt', gatewayTold ?? expect.fail());
    await untilChanged(NODE_TLS, 'tls.crt', nodeTold ?? expect.fail());
    expect(isSignedBy(await stored(GATEWAY_TLS), young)).toBe(true);
    expect(isSignedBy(await stored(NODE_TLS), young)).toBe(true);
    expect((await stage.admin.get(Deployment, { name: GATEWAY, namespace })).metadata.generation).toBe(rolled);
  });

  test('all of it within the permissions of the operator', async () => {
    expect(await stage.env.audit.entries({ user: OPERATOR_USER, code: 403 })).toEqual([]);
  });

  test('and no key gets out of its Secret', async () => {
    const kinds = 'daemonsets,deployments,configmaps,services,securityagents';
    const shown = await stage.env.kubectl(['get', kinds, '-n', namespace, '-o', 'yaml', '--show-managed-fields']);
    const events = JSON.stringify((await stage.admin.list(Event, {})).items);
    expect(events).toContain(GATEWAY_TLS);
    expect(keys.size).toBeGreaterThan(5);
    // Every line of every key, and the base64 of the whole as it is stored.
    const forms = [...keys].flatMap((key) => [
      key,
      ...Buffer.from(key, 'base64')
        .toString()
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('-----')),
    ]);
    for (const [place, text] of Object.entries({ shown, events, logs: lines.join('\n') })) {
      expect(
        forms.filter((form) => text.includes(form)),
        place,
      ).toEqual([]);
    }
  });
});

/** The authorities of a bundle, oldest first. */
function authoritiesIn(bundle: string | undefined): readonly X509Certificate[] {
  const pem = Buffer.from(bundle ?? '', 'base64').toString();
  return (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (one) => new X509Certificate(one),
  );
}

function isSignedBy(party: Secret | undefined, authority: X509Certificate | undefined): boolean {
  const certificate = new X509Certificate(Buffer.from(party?.data?.['tls.crt'] ?? '', 'base64'));
  return authority !== undefined && certificate.verify(authority.publicKey);
}
