/**
 * Two agents, two namespaces, one cluster: random changes to one and the other, and never a write on what belongs to the one that did
 * not change. KEELSON_SOAK_MS says how long; the seed is printed and can be given as KEELSON_SEED.
 */
import { manifest, Namespace, Secret } from '@keelson/schema';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { features } from './features/index.ts';
import { arbitraryAgent } from './testing/arbitrary-agent.ts';
import { OPERATOR_USER, type Stage, startStage, upstreamCrds } from './testing/stage.ts';

const SOAK_MS = Number(process.env.KEELSON_SOAK_MS ?? 60_000);
const seed = Number(process.env.KEELSON_SEED ?? Date.now() % 1_000_000);
// Names that an ambiguous `<namespace>-<name>` would take for one another.
const agents = [
  { namespace: 'a', name: 'b-c' },
  { namespace: 'a-b', name: 'c' },
] as const;

let stage: Stage;
beforeAll(async () => {
  stage = await startStage({
    level: 'cluster',
    nodes: 2,
    crds: await upstreamCrds('tetragon', 'trivy-operator', 'kyverno'),
  });
  for (const { namespace } of agents) {
    await stage.apply(manifest(Namespace, { name: namespace }, {}));
    for (const name of ['login', 'another-secret'])
      await stage.apply(
        manifest(Secret, { name, namespace }, { stringData: { username: 'x', password: 'x', 'ca.crt': 'x' } }),
      );
  }
});
afterAll(() => stage?.[Symbol.asyncDispose]());

test(
  `for ${SOAK_MS / 1_000} s of random changes neither writes on what is the other's (KEELSON_SEED=${seed})`,
  async () => {
    const next = fc.sample(fc.tuple(fc.nat(1), arbitraryAgent(features)), { numRuns: 20_000, seed });
    for (const ref of agents) await change(ref, { features: [], output: { elasticsearch: { url: 'http://es:9200' } } });
    const until = performance.now() + SOAK_MS;
    let changes = 0;
    let writes = 0;
    for (const [which, object] of next) {
      if (performance.now() > until) break;
      const ref = agents[which] as (typeof agents)[number];
      const other = agents[1 - which] as (typeof agents)[number];
      await stage.untilAtRest(500);
      const since = await stage.env.audit.mark();
      await change(ref, object.spec as object);
      await stage.untilAtRest(500);
      const written = await stage.env.audit.writesBy(OPERATOR_USER, { since });
      const trespasses = written.filter((entry) => isOf(other, entry) && !isReport(entry));
      expect(trespasses.map(({ verb, resource, namespace, name }) => [verb, resource, namespace, name])).toEqual([]);
      changes += 1;
      writes += written.length;
    }
    console.log(`${changes} changes, ${writes} writes, none on what is the other's`);
    expect(changes).toBeGreaterThan(5);
  },
  SOAK_MS + 300_000,
);

/** Each has its own nodes: a tool that may run once on a node is no reason to look at one another. */
async function change({ namespace, name }: (typeof agents)[number], spec: object): Promise<void> {
  const { override = {} } = spec as { override?: { nodeAgent?: object; perTool?: object } };
  const nodeAgent = { ...override.nodeAgent, nodeSelector: { team: namespace } };
  const perTool = Object.fromEntries(
    Object.entries(override.perTool ?? {}).map(([tool, one]) => [tool, { ...one, nodeSelector: { team: namespace } }]),
  );
  await stage.setAgent({
    apiVersion: 'security.ctem.io/v1alpha1',
    kind: 'SecurityAgent',
    metadata: { name, namespace },
    spec: { ...spec, global: {}, override: { nodeAgent, perTool } },
  });
  await vi.waitFor(
    async () => {
      const { status, metadata } = await stage.agent(name, namespace);
      const applied = status?.conditions?.find(({ type }) => type === 'Applied');
      expect([applied?.status, applied?.observedGeneration]).toEqual(['True', metadata.generation]);
    },
    { timeout: 60_000, interval: 50 },
  );
}

interface Written {
  readonly resource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

function isOf(agent: (typeof agents)[number], { namespace, name }: Written): boolean {
  return (
    namespace === agent.namespace ||
    ((namespace ?? '') === '' && (name ?? '').endsWith(`.${agent.namespace}.${agent.name}`))
  );
}

/** What an agent says of itself is no write on an object. */
function isReport({ resource }: Written): boolean {
  return resource === 'events' || resource === 'securityagents';
}
