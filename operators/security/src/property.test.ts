/**
 * Random agents. Whatever is valid renders, every object that comes out is one that a real API server takes (strictly, so that no
 * field is unknown to it), and what was just applied needs no change. Whatever is invalid is told with a path.
 */
import { previewInstance, renderInstance } from '@keelson/runtime';
import { type KubeObject, manifest, Namespace, Secret } from '@keelson/schema';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { features } from './features/index.ts';
import { security } from './operator.ts';
import { arbitraryAgent, arbitraryMistake } from './testing/arbitrary-agent.ts';
import { type Stage, startStage, upstreamCrds } from './testing/stage.ts';

const RUNS = 2_000;
const APPLIED = Number(process.env.KEELSON_APPLIED ?? 60);
const seed = Number(process.env.KEELSON_SEED ?? Date.now() % 1_000_000);

describe(`random agents (KEELSON_SEED=${seed})`, () => {
  let stage: Stage;
  beforeAll(async () => {
    // With controllers: what is deleted must really go.
    const crds = await upstreamCrds('tetragon', 'trivy-operator', 'kyverno');
    stage = await startStage({ level: 'cluster', nodes: 1, crds });
    const namespace = 'security-system';
    await stage.apply(manifest(Namespace, { name: namespace }, {}));
    for (const name of ['login', 'another-secret']) {
      const data = { username: 'planted', password: 'planted', 'ca.crt': 'planted' };
      await stage.apply(manifest(Secret, { name, namespace }, { stringData: data }));
    }
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test(`${RUNS} valid ones render, and the API server takes every object`, async () => {
    const taken = new Set<string>();
    await fc.assert(
      fc.asyncProperty(arbitraryAgent(features), async (agent) => {
        const { problems, objects, decision } = renderInstance(security, agent);
        expect(problems).toEqual([]);
        expect(decision?.kind).toBe('apply');
        const unseen = objects.filter((object) => !taken.has(JSON.stringify(object)));
        await Promise.all(unseen.map(dryRun));
        for (const object of unseen) taken.add(JSON.stringify(object));
      }),
      { numRuns: RUNS, seed },
    );
    console.log(`${RUNS} agents came to ${taken.size} different objects`);
    expect(taken.size).toBeGreaterThan(RUNS);
  }, 600_000);

  test(`${RUNS} invalid ones are told, each with a path`, () => {
    fc.assert(
      fc.property(arbitraryMistake(features), ({ what, object }) => {
        const { problems, objects } = renderInstance(security, object);
        expect(objects, what).toEqual([]);
        expect(problems.length, what).toBeGreaterThan(0);
        for (const { path, message } of problems) {
          expect(path, what).toMatch(/^spec/);
          expect(message, what).not.toBe('');
        }
      }),
      { numRuns: RUNS, seed },
    );
  });

  test(
    `${APPLIED} in a row, applied to one agent: after each, the plan is empty`,
    async () => {
      await fc.assert(
        fc.asyncProperty(arbitraryAgent(features), async (agent) => {
          // Secrets of random keys do not exist: what waits for them is not the question here.
          await stage.setAgent(agent);
          await vi.waitFor(untilApplied, { timeout: 60_000, interval: 20 });
          const { plan, problems } = await previewInstance({
            operator: security,
            client: stage.admin,
            object: withoutUid(agent),
          });
          expect(problems).toEqual([]);
          expect(plan).toEqual({ steps: [], refusals: [], leaving: [] });
        }),
        { numRuns: APPLIED, seed, endOnFailure: true },
      );
    },
    240_000 + APPLIED * 10_000,
  );

  /** The one that is stored has another. */
  const withoutUid = ({ metadata: { name, namespace = '' }, ...rest }: KubeObject): KubeObject =>
    ({ ...rest, metadata: { name, namespace } }) as KubeObject;

  /** Fails with what is in the way. */
  async function untilApplied(): Promise<void> {
    const { metadata, status } = await stage.agent('main', 'security-system');
    const found = status?.conditions?.find(({ type }) => type === 'Applied');
    if (found?.status !== 'True' || found.observedGeneration !== metadata.generation)
      throw new Error(`generation ${metadata.generation} is not applied yet: ${JSON.stringify(found)}`);
  }

  async function dryRun(object: KubeObject): Promise<void> {
    const kind = await stage.admin.resolve(object);
    if (kind === undefined) throw new Error(`no kind ${object.kind}`);
    // An owner that does not exist would be collected; it is no part of what a feature says.
    const { ownerReferences: _owners, ...metadata } = object.metadata;
    await stage.admin.apply(kind, { ...object, metadata }, { fieldManager: 'property', force: true, dryRun: true });
  }
});
