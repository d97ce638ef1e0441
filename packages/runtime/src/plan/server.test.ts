/** The plan against a real API server: what the server makes of objects is nothing that a test could make up. */
import { createClient, isFault, type KubeClient, loadConfig } from '@keelson/kube';
import { builtInKinds, defineKind, type Kind, type KubeObject } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Owner } from '../marks.ts';
import { differences } from './compare.ts';
import { toLive } from './fields.ts';
import { anObject, bodies } from './testing/arbitrary-objects.ts';
import { isSame } from './value.ts';
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

function wantedOf(object: KubeObject) {
  const [wanted] = toWanted(operator, owner, [
    { ...object, metadata: { ...object.metadata, name: `generated-${place}` } },
  ]);
  if (wanted === undefined) throw new Error('one in, one out');
  return wanted;
}

const send = ({ kind, object }: ReturnType<typeof wantedOf>, dryRun = false) =>
  client.apply(kind, object, { fieldManager: owner.fieldManager, force: true, dryRun });

/** What an apply can change: not what the server counts and stamps. */
function essence({ metadata, ...rest }: KubeObject): unknown {
  const { managedFields: _, resourceVersion: __, generation: ___, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

describe('the comparison', () => {
  it.each(kinds)(
    'finds nothing in any %s that was just applied, and something whenever an apply would change it',
    { timeout: 120_000 },
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(anObject(kind), anObject(kind), async (one, other) => {
          place += 1;
          const [before, after] = [wantedOf(one), wantedOf(other)];
          const live = await send(before);
          const held = toLive(live, owner.fieldManager);
          expect(differences(before.object, held, owner.fieldManager)).toEqual([]);

          const found = differences(after.object, held, owner.fieldManager);
          let changed: KubeObject;
          try {
            if (!isSame(essence(await send(after, true)), essence(live))) expect(found).not.toEqual([]);
            changed = await send(after);
          } catch (error) {
            // A field that cannot be changed: this step is impossible, but it must have been planned.
            if (!isFault(error, 'Invalid')) throw error;
            expect(found).not.toEqual([]);
            return;
          }
          expect(differences(after.object, toLive(changed, owner.fieldManager), owner.fieldManager)).toEqual([]);
        }),
        { numRuns: 15 },
      );
    },
  );
});
