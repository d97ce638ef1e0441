import { createObjectSet } from '@keelson/runtime';
import { DaemonSet, type Kind, type KubeObject, manifest, Secret } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { AUTHORITY, NODE_COLLECTOR, TRUST_SINCE } from '../names.ts';
import { authorityWord, findTrust, policy, type Trust } from './trust.ts';
import { trustSecretNames, trustSecrets } from './trust-secrets.ts';

const namespace = 'sec';
const start = new Date('2026-01-01T00:00:00Z');
const after = (ms: number, from = start) => new Date(from.getTime() + ms);
const day = 86_400_000;

/** Finds the trust where these Secrets are stored, and this DaemonSet. */
function find(now: Date, stored: readonly Secret[] = [], nodes?: DaemonSet): Promise<Trust> {
  const all: { kind: Kind; object: KubeObject }[] = stored.map((object) => ({
    kind: Secret,
    object: { ...object, metadata: { ...object.metadata, namespace } },
  }));
  if (nodes !== undefined) all.push({ kind: DaemonSet, object: nodes });
  return findTrust({ owned: createObjectSet(all, 'elsewhere'), now }, namespace);
}

function collectors(authority: string, updated: number): DaemonSet {
  const template = { metadata: { annotations: { [AUTHORITY]: authorityWord(authority) } } };
  return {
    ...manifest(DaemonSet, { name: NODE_COLLECTOR, namespace, generation: 3 }, { spec: { selector: {}, template } }),
    status: {
      observedGeneration: 3,
      desiredNumberScheduled: 3,
      updatedNumberScheduled: updated,
      currentNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 3,
    },
  };
}

describe('the trust of a pipeline', () => {
  test('is made once: out of the Secrets comes what went into them', async () => {
    const made = await find(start);
    const secrets = trustSecrets(made);
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual(trustSecretNames);
    expect(secrets[0]?.metadata.annotations).toEqual({ [TRUST_SINCE]: start.toISOString() });
    expect(trustSecrets(await find(after(day), secrets))).toEqual(secrets);
  });

  test('keeps the key of the authority apart', async () => {
    const [gateway, node, authority] = trustSecrets(await find(start));
    expect(Object.keys(authority?.data ?? {})).toEqual(['ca.crt', 'ca.key']);
    for (const secret of [gateway, node])
      expect(Object.keys(secret?.data ?? {})).toEqual(['tls.crt', 'tls.key', 'ca.crt']);
  });

  test('uses a new authority when the collectors on all nodes have been started with it, or a week later', async () => {
    const made = await find(start);
    // Renewed between 0.60 and 0.73 of its life.
    const due = after(policy.authorityLifetimeMs * 0.74);
    const renewed = await find(after(200 * day), trustSecrets(made));
    const told = await find(due, trustSecrets(renewed));
    expect(told.signer).not.toBe(made.signer);
    const secrets = trustSecrets(told);
    const serves = async (now: Date, nodes?: DaemonSet) =>
      (await find(now, secrets, nodes)).parties.gateway.data['tls.crt'] !== told.parties.gateway.data['tls.crt'];
    const soon = after(policy.propagationMs + 1000, told.parties.gateway.since);
    expect(await serves(soon, collectors(told.signer, 2))).toBe(false);
    expect(await serves(soon, collectors(made.signer, 3))).toBe(false);
    expect(await serves(soon, collectors(told.signer, 3))).toBe(true);
    expect(await serves(after(8 * day, soon), collectors(told.signer, 2))).toBe(true);
  });
});
