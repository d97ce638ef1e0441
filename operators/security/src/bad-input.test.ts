/**
 * Bad input on a real API server, the operator under its own permissions: each case is refused or told in a condition that names the
 * field and the remedy, and nothing else is disturbed by it.
 */
import { ClusterRole, ConfigMap, DaemonSet, type KubeObject, manifest, Namespace, Secret } from '@keelson/schema';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Agent, SecurityAgent } from './resource.ts';
import { agentOf } from './testing/agent.ts';
import { OPERATOR_USER, type Stage, startStage, upstreamCrds } from './testing/stage.ts';

type Entry = Parameters<typeof agentOf>[0][number];

describe('bad input', () => {
  let stage: Stage;
  let count = 0;
  beforeAll(async () => {
    stage = await startStage();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  /** Applies an agent into a namespace of its own. */
  async function given(features: readonly Entry[], spec: Record<string, unknown> = {}, name = 'main') {
    count += 1;
    const namespace = `ns-${count}`;
    await stage.env.createNamespace(namespace);
    const object = agentOf(features, { ...ownNodes(namespace), ...spec });
    const ref = { name, namespace };
    const agent: KubeObject = { ...object, metadata: ref };
    await stage.apply(agent);
    return { ref, agent };
  }

  /** Tools that may run once on a node are kept apart by their nodes: each test has its own. */
  const ownNodes = (namespace: string) => ({ override: { nodeAgent: { nodeSelector: { test: namespace } } } });
  const daemonSet = (name: string, namespace: string) => stage.admin.find(DaemonSet, { name, namespace });
  const untilThere = (name: string, namespace: string) =>
    vi.waitFor(async () => expect(await daemonSet(name, namespace)).toBeDefined(), { timeout: 60_000, interval: 50 });

  test.each<[string, unknown, string]>([
    ['a feature listed twice', { features: [falco(), falco()] }, 'Duplicate value'],
    ['a feature without a name', { features: [{ enabled: true }] }, 'spec.features[0].name: Required value'],
    [
      'a feature that does not say whether it is on',
      { features: [{ name: 'falco' }] },
      'spec.features[0].enabled: Required value',
    ],
    ['a name that is none', { features: [{ name: 'Falco!', enabled: true }] }, 'spec.features[0].name'],
    ['a config that is no object', { features: [{ ...falco(), config: 'fast' }] }, 'spec.features[0].config'],
    [
      'enabled without output',
      { features: [falco()], output: undefined },
      'output is required as soon as a feature is enabled',
    ],
    ['an output without a store', { features: [], output: {} }, 'exactly one of elasticsearch, opensearch must be set'],
    [
      'two stores',
      { features: [], output: { elasticsearch: { url: 'https://es' }, opensearch: { url: 'https://os' } } },
      'exactly one of elasticsearch, opensearch must be set',
    ],
    [
      'an API key for OpenSearch',
      {
        features: [],
        output: { opensearch: { url: 'https://os', auth: { apiKeySecretRef: { name: 'b', key: 'c' } } } },
      },
      'OpenSearch has no API keys: make a user for it',
    ],
    [
      'an output without a URL',
      { features: [], output: { elasticsearch: {} } },
      'spec.output.elasticsearch.url: Required value',
    ],
    [
      'a URL that is none',
      { features: [], output: { elasticsearch: { url: 'es:9200' } } },
      'spec.output.elasticsearch.url',
    ],
    [
      'a URL with credentials',
      { features: [], output: { elasticsearch: { url: 'https://u:p@es:9200' } } },
      'must not hold credentials',
    ],
    [
      'two kinds of credentials',
      { features: [], output: store({ auth: { secretRef: { name: 'a' }, apiKeySecretRef: { name: 'b', key: 'c' } } }) },
      'exactly one',
    ],
    [
      'a mirror with a scheme',
      { features: [], global: { imageRegistry: 'https://mirror' } },
      'spec.global.imageRegistry',
    ],
    [
      'one name for two indices, one of them by default',
      { features: [], output: store({ indices: { deadLetters: 'security-events' } }) },
      'two of them have one name',
    ],
    [
      'an index that no store takes',
      { features: [], output: store({ indices: { events: 'Security Events' } }) },
      'spec.output.elasticsearch.indices.events',
    ],
  ])('%s is refused by the API server', async (_case, spec, message) => {
    const object = agentOf([], spec as Record<string, unknown>);
    // Posted, as kubectl create does: server-side apply has words of its own for some of these.
    const agent = { ...object, metadata: { name: 'refused', namespace: 'default' } } as unknown as Agent;
    const refused = stage.admin.create(SecurityAgent, agent);
    await expect(refused).rejects.toThrow(message);
  });

  test('an unknown feature is told in its condition, and the others run', async () => {
    const { ref } = await given(['falcoo', 'osquery']);
    const condition = await stage.untilCondition(ref, 'FalcooReady', { status: 'False', reason: 'UnknownFeature' });
    expect(condition.message).toContain("spec.features[name=falcoo].name: there is no feature 'falcoo'");
    expect(condition.message).toContain('falco, ');
    await untilThere('osquery', ref.namespace);
    const ready = await stage.untilCondition(ref, 'Ready', { status: 'False' });
    expect(ready.message).toContain('falcoo');
  });

  test('a config of the wrong type is told with its path; what ran before goes on as it was', async () => {
    const { ref, agent } = await given(['falco', 'osquery']);
    await untilThere('falco', ref.namespace);
    const before = await daemonSet('falco', ref.namespace);
    await stage.apply({
      ...agent,
      spec: { ...(agent.spec as object), features: [{ ...falco(), config: { driver: 7 } }, on('osquery')] },
    });
    const condition = await stage.untilCondition(ref, 'FalcoReady', { status: 'False', reason: 'InvalidConfig' });
    expect(condition.message).toMatch(/^spec\.features\[name=falco\]\.config\.driver: /);
    expect((await daemonSet('falco', ref.namespace))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
    // Its events are still read.
    const config = await stage.admin.find(ConfigMap, { name: 'otel-node-collector-config', namespace: ref.namespace });
    expect(JSON.stringify(config?.data)).toContain('filelog/falco');
  });

  test('a Secret that is missing, or lacks a key, is named; when it is there, it goes on', async () => {
    const output = store({ auth: { secretRef: { name: 'login' } } });
    const { ref } = await given(['falco'], { output });
    const missing = await stage.untilCondition(ref, 'OtelPipelineReady', { status: 'False', reason: 'SecretMissing' });
    expect(missing.message).toContain(`there is no Secret 'login' in namespace ${ref.namespace}`);
    await untilThere('falco', ref.namespace);
    const place = { name: 'login', namespace: ref.namespace };
    await stage.apply(manifest(Secret, place, { stringData: { username: 'somebody' } }));
    const partial = { reason: 'SecretMissing', message: /lacks the key 'password'/ };
    await stage.untilCondition(ref, 'OtelPipelineReady', partial, 90_000);
    await stage.apply(manifest(Secret, place, { stringData: { username: 'somebody', password: 'planted-7f3a' } }));
    await vi.waitFor(async () => expect(await daemonSet('otel-node-collector', ref.namespace)).toBeDefined(), {
      timeout: 90_000,
      interval: 500,
    });
  }, 400_000);

  test('an override of a tool that does not exist is said in a condition', async () => {
    const { ref } = await given(['falco'], {
      override: { nodeAgent: { nodeSelector: { test: 'perTool' } }, perTool: { falcoo: { image: 'x' } } },
    });
    const condition = await stage.untilCondition(ref, 'OverridesApplied', { status: 'False' });
    expect(condition.message).toContain('spec.override.perTool.falcoo');
    await untilThere('falco', ref.namespace);
  });

  test('a namespace that is going away is told, and no other agent suffers', async () => {
    const gone = await stage.env.createNamespace();
    // At this level nobody finishes the deletion: it stays Terminating.
    await stage.admin.delete(Namespace, { name: gone });
    const { ref } = await given(['falco'], { global: { namespace: gone } });
    const condition = await stage.untilCondition(ref, 'Applied', { status: 'False' });
    expect(condition.message).toContain(gone);
    await stage.untilCondition(ref, 'Ready', { status: 'False' });
    const other = await given(['falco']);
    await untilThere('falco', other.ref.namespace);
  });

  test('without the CRD of TracingPolicy tetragon waits and the rest is applied; when it comes, it goes on within seconds', async () => {
    const { ref } = await given(['tetragon', 'falco']);
    const condition = await stage.untilCondition(ref, 'TetragonReady', { status: 'False', reason: 'KindMissing' });
    expect(condition.message).toContain('TracingPolicy (cilium.io/v1alpha1) is not installed in the cluster');
    await untilThere('falco', ref.namespace);
    expect(await daemonSet('tetragon', ref.namespace)).toBeUndefined();
    await stage.env.applyCrds(await upstreamCrds('tetragon'));
    const installed = performance.now();
    await untilThere('tetragon', ref.namespace);
    console.log(`tetragon is installed ${((performance.now() - installed) / 1_000).toFixed(1)} s after its CRD`);
    await vi.waitFor(async () => expect(await policies()).toContain(`${ref.namespace}-main`), { timeout: 60_000 });
  });
  const policies = () => stage.env.kubectl(['get', 'tracingpolicies.cilium.io', '-o', 'name']);

  test('without the CRDs of Kyverno and trivy-operator these two wait, each by its name', async () => {
    const { ref } = await given(['kyverno', 'trivy', 'falco']);
    const kyverno = await stage.untilCondition(ref, 'KyvernoReady', { status: 'False', reason: 'KindMissing' });
    expect(kyverno.message).toMatch(/policies\.kyverno\.io|wgpolicyk8s\.io/);
    const trivy = await stage.untilCondition(ref, 'TrivyReady', { status: 'False', reason: 'KindMissing' });
    expect(trivy.message).toContain('VulnerabilityReport (aquasecurity.github.io/v1alpha1)');
    await untilThere('falco', ref.namespace);
  });

  test('two agents with the same tool on the same nodes: the second is told, and takes over when the first lets go', async () => {
    const same = { override: { nodeAgent: { nodeSelector: { test: 'shared' } } } };
    const first = await given(['falco'], same);
    // Of two that are made in one second, it has the tool who says so first.
    await stage.untilCondition(first.ref, 'FalcoReady', { reason: 'Progressing' });
    await untilThere('falco', first.ref.namespace);
    const second = await given(['falco', 'osquery'], same);
    const condition = await stage.untilCondition(second.ref, 'FalcoReady', { reason: 'ClaimedByAnotherAgent' });
    expect(condition.message).toContain(`SecurityAgent ${first.ref.namespace}/main has Falco on these nodes`);
    await untilThere('osquery', second.ref.namespace);
    expect(await daemonSet('falco', second.ref.namespace)).toBeUndefined();
    await stage.admin.delete(SecurityAgent, first.ref);
    await untilThere('falco', second.ref.namespace);
  });

  test('an agent that cannot run a tool itself stands in nobody’s way', async () => {
    const same = { override: { nodeAgent: { nodeSelector: { test: 'broken-first' } } } };
    const broken = await given([{ ...falco(), config: { driver: 7 } }], same);
    await stage.untilCondition(broken.ref, 'FalcoReady', { status: 'False', reason: 'InvalidConfig' });
    const good = await given(['falco'], same);
    await untilThere('falco', good.ref.namespace);
    expect(await daemonSet('falco', broken.ref.namespace)).toBeUndefined();
  });

  test('two agents in one namespace: the second is told who has the objects, and no object moves', async () => {
    const { ref, agent } = await given(['falco']);
    await untilThere('falco', ref.namespace);
    const others = { override: { nodeAgent: { nodeSelector: { test: 'elsewhere' } } } };
    await stage.apply({
      ...agent,
      metadata: { ...ref, name: 'second' },
      spec: { ...(agent.spec as object), ...others },
    });
    const refused = await stage.untilCondition({ ...ref, name: 'second' }, 'Applied', {
      status: 'False',
      reason: 'OwnedByAnother',
    });
    expect(refused.message).toContain('main');
    await stage.untilCondition({ ...ref, name: 'second' }, 'Ready', { status: 'False' });
    const since = await stage.env.audit.mark();
    await new Promise((done) => setTimeout(done, 3_000));
    const fought = (await stage.env.audit.writesBy(OPERATOR_USER, { since })).filter(
      ({ resource }) => resource === 'daemonsets',
    );
    expect(fought).toEqual([]);
  });

  test('an agent of 500 KB works', async () => {
    const rule = (n: number) =>
      `- rule: custom ${n}\n  desc: ${'x'.repeat(400)}\n  condition: evt.type = open\n  output: opened\n  priority: INFO\n`;
    const rules = Array.from({ length: 1_000 }, (_, n) => rule(n)).join('');
    expect(rules.length).toBeGreaterThan(480_000);
    const { ref } = await given([{ ...falco(), config: { rules: { 'custom.yaml': rules } } }]);
    await untilThere('falco', ref.namespace);
  });

  test('names at the length limits work, cluster-scoped ones included', async () => {
    const namespace = `long-${'n'.repeat(58)}`;
    await stage.env.createNamespace(namespace);
    const name = `${'a'.repeat(250)}-zz`;
    const object = agentOf(['falco'], ownNodes('long'));
    await stage.apply({ ...object, metadata: { name, namespace } });
    await untilThere('falco', namespace);
    await stage.untilCondition({ name, namespace }, 'Applied', { status: 'True' });
    const roles = (await stage.admin.list(ClusterRole, { labelSelector: 'keelson.io/operator=security-operator' }))
      .items;
    expect(roles.some((role) => role.metadata.name.length > 200)).toBe(true);
    await stage.admin.delete(SecurityAgent, { name, namespace });
    await vi.waitFor(async () => expect(await stage.admin.find(SecurityAgent, { name, namespace })).toBeUndefined(), {
      timeout: 60_000,
    });
  });
});

const on = (name: string) => ({ name, enabled: true });
const falco = () => on('falco');
const store = (more: object) => ({ elasticsearch: { url: 'https://elasticsearch.logging.svc:9200', ...more } });
