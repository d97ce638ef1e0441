/** The plan against a real API server: what the server makes of objects is nothing that a test could make up. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { builtInKinds, defineKind, type Kind } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Owner } from '../marks.ts';
import { anObject, bodies } from './arbitrary-objects.ts';
import { differences } from './compare.ts';
import { toLive } from './fields.ts';
import { planInstance } from './plan.ts';
import { createSettled } from './settled.ts';
import { toWanted } from './wanted.ts';

const Website = defineKind({
  group: 'example.io',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
});
const kinds = Object.keys(bodies);
const kindOf = (name: string): Kind => {
  const kind = builtInKinds.find((one) => one.kind === name);
  if (kind === undefined) throw new TypeError(`${name} is not built in`);
  return kind;
};

let env: TestEnv;
let client: KubeClient;
let owner: Owner;
let place = 0;
const operator = { name: 'website', owns: kinds.map((kind) => ({ kind: kindOf(kind) })) };

beforeAll(async () => {
  env = await startTestEnv();
  client = createClient(await loadConfig({ kubeconfig: env.kubeconfig, env: {} }));
  const namespace = await env.createNamespace();
  owner = {
    kind: Website,
    name: 'front',
    namespace,
    uid: '11111111-2222-3333-4444-555555555555',
    fieldManager: 'website-operator',
  };
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});

describe('what was just applied', () => {
  it.each(kinds)(
    'gives no step for any %s, nor when it is changed into any other',
    { timeout: 120_000 },
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(anObject(kind), anObject(kind), async (before, after) => {
          place += 1;
          const settled = createSettled();
          for (const object of [before, after]) {
            const [wanted] = toWanted(operator, owner, [
              { ...object, metadata: { ...object.metadata, name: `generated-${place}` } },
            ]);
            if (wanted === undefined) throw new Error('one in, one out');
            const send = () =>
              client.apply(wanted.kind, wanted.object, { fieldManager: owner.fieldManager, force: true });
            // A field that cannot be changed makes the second one impossible, which is not what this is about.
            const answer = await send().catch((error: { code?: string }) => {
              if (object === after && error.code === 'Invalid') return undefined;
              throw error;
            });
            if (answer === undefined) return;
            const live = toLive(answer, owner.fieldManager);
            const left = differences(wanted.object, live, owner.fieldManager);
            settled.remember(owner.uid, answer, wanted.object, left);
            expect(left).toEqual([]);
            const child = { kind: wanted.kind, live };
            expect(planInstance({ owner, wanted: [wanted], owned: [child], find: () => live, settled }).steps).toEqual(
              [],
            );
          }
        }),
        { numRuns: 25 },
      );
    },
  );
});
