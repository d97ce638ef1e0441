/** The preview against a real API server: what it says must be what then happens, and it must write nothing. */
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import { ConfigMap, Deployment, type Kind, type KubeObject, Namespace, Secret, Service, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply, wait } from './decision.ts';
import { defineOperator } from './operator.ts';
import type { Step } from './plan/plan.ts';
import { previewInstance } from './preview.ts';
import { Bundle, startWorkbench, type Workbench } from './reconciler/testing/workbench.ts';

let env: TestEnv;
let client: KubeClient;
let namespace: string;
let bench: Workbench;
const user = 'previewer';
beforeAll(async () => {
  env = await startTestEnv({ crds: [toCrd(Bundle)] });
  client = createClient(
    await loadConfig({ kubeconfig: await env.kubeconfigFor({ user, groups: ['system:masters'] }), env: {} }),
  );
});
afterAll(async () => {
  await client?.close();
  await env?.stop();
});
beforeEach(async () => {
  namespace = await env.createNamespace();
  bench = await startWorkbench({
    kubeconfig: env.kubeconfig,
    namespace,
    owns: [{ kind: ConfigMap, anywhere: true }, Deployment, Namespace],
    definition: { watches: [{ kind: Service, relate: () => ['all'] }] },
  });
});
afterEach(async () => {
  await bench?.close();
});

const configMap = (name: string, data: Record<string, string> = { a: '1' }): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const deployment = (image: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});
const bundle = (spec: unknown = {}): KubeObject => ({
  apiVersion: 'bench.keelson.io/v1',
  kind: 'Bundle',
  metadata: { name: 'web' },
  spec,
});
const preview = (object = bundle()) => previewInstance({ operator: bench.operator, client, object, namespace });
const brief = (steps: readonly Step[]) =>
  steps.map(
    (step) => `${step.action} ${step.kind.kind} ${(step.action === 'delete' ? step.live : step.object).metadata.name}`,
  );

describe('previewInstance', () => {
  it('says what a new instance would make, and writes nothing', async () => {
    bench.rules = () => apply({ objects: [deployment('nginx'), configMap('web')] });
    const since = await env.audit.mark();
    const { plan, exists, problems, faults } = await preview();
    expect({ exists, problems, faults, steps: brief(plan.steps) }).toEqual({
      exists: false,
      problems: [],
      faults: [],
      steps: ['create ConfigMap web', 'create Deployment web'],
    });
    const writes = await env.audit.writesBy(user, { since });
    expect(writes.filter(({ requestURI }) => !requestURI.includes('dryRun=All'))).toEqual([]);
  });

  it('says what would change, be deleted and restart, as it is in the cluster now', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [deployment('nginx:1'), configMap('old'), configMap('same')] });
    await bench.turn('web');
    bench.rules = ({ self }) =>
      apply({ objects: [deployment(self.spec.text ?? ''), configMap('new'), configMap('same')] });
    const { plan, exists } = await preview(bundle({ text: 'nginx:2' }));
    expect(exists).toBe(true);
    expect(brief(plan.steps)).toEqual(['create ConfigMap new', 'change Deployment web', 'delete ConfigMap old']);
    expect(plan.steps[1]).toMatchObject({
      because: 'spec.template.spec.containers[name=web].image: nginx:1 → nginx:2',
      restarts: true,
    });
  });

  it('leaves out what the operator keeps', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('held'), configMap('old')] });
    await bench.turn('web');
    bench.rules = () => apply({ objects: [], keep: [{ kind: ConfigMap, name: 'held' }] });
    expect(brief((await preview()).plan.steps)).toEqual(['delete ConfigMap old']);
  });

  it('plans nothing for what is as it should be, also where only the server’s own notation differs', async () => {
    await bench.create('web');
    const quota = (period: string): KubeObject => ({
      ...deployment('nginx'),
      metadata: { name: 'web', annotations: { period } },
    });
    bench.rules = () => apply({ objects: [quota('1'), configMap('web')] });
    await bench.turn('web');
    // Somebody else set the same value and so took the field: nothing in the object would change.
    await client.apply(
      ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace }, data: { a: '2' } },
      { fieldManager: 'somebody', force: true },
    );
    await client.apply(
      ConfigMap,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web', namespace }, data: { a: '1' } },
      { fieldManager: 'somebody', force: true },
    );
    expect((await preview()).plan.steps).toEqual([]);
  });

  it('refuses what somebody else owns, and finds its own behind a lost label', async () => {
    await bench.create('web');
    bench.rules = () => apply({ objects: [configMap('mine')] });
    await bench.turn('web');
    await client.patch(
      ConfigMap,
      { namespace, name: 'mine' },
      { type: 'merge', value: { metadata: { labels: null } } },
    );
    await client.create(ConfigMap, { ...configMap('theirs'), metadata: { name: 'theirs', namespace } } as ConfigMap, {
      fieldManager: 'helm',
    });
    bench.rules = () => apply({ objects: [configMap('mine'), configMap('theirs')] });
    const { plan } = await preview();
    expect(brief(plan.steps)).toEqual(['change ConfigMap mine']);
    expect(plan.refusals).toMatchObject([{ because: expect.stringContaining('was written by helm') }]);
  });

  it('refuses to adopt what belongs to an instance that lives, and adopts what one left behind', async () => {
    const name = `shared-${namespace}`;
    const space: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    const first = await bench.create('first');
    bench.rules = () => apply({ objects: [space], adopt: [{ kind: Namespace, name }] });
    await bench.turn('first');
    const living = await preview();
    expect(living.plan.steps).toEqual([]);
    expect(living.plan.refusals).toMatchObject([
      { because: expect.stringContaining(`cannot be taken over because it belongs to Bundle ${namespace}/first`) },
    ]);

    await client.patch(Bundle, first.metadata, { type: 'merge', value: { metadata: { finalizers: null } } });
    await client.delete(Bundle, first.metadata);
    expect(brief((await preview()).plan.steps)).toEqual([`change Namespace ${name}`]);
  });

  it('says what the API server would refuse, but not that what the plan makes first is missing', async () => {
    const place = `${namespace}-new`;
    bench.rules = () =>
      apply({
        objects: [
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place } },
          { ...configMap('web'), metadata: { name: 'web', namespace: place } },
          { ...deployment('nginx'), spec: { replicas: -1 } },
        ],
      });
    const { plan, faults } = await preview();
    expect(plan.steps).toHaveLength(3);
    expect(faults).toMatchObject([
      { step: { kind: { kind: 'Deployment' } }, message: expect.stringContaining('spec.replicas') },
    ]);
  });

  it('shows problems of the instance, and a decision that is not to apply', async () => {
    expect(await preview(bundle({ replicas: -1 }))).toMatchObject({
      problems: [{ path: 'spec.replicas' }],
      plan: { steps: [] },
    });
    bench.rules = () => wait({ reason: 'NoDatabase', message: 'waiting', recheckAfter: '1m' });
    expect(await preview()).toMatchObject({ decision: { kind: 'wait', reason: 'NoDatabase' }, plan: { steps: [] } });
  });

  it('sees related objects as the operator would', async () => {
    await client.create(Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'svc', namespace },
      spec: { ports: [{ port: 80 }] },
    });
    bench.rules = ({ related }) =>
      apply({ objects: related.list(Service as Kind).map(({ metadata }) => configMap(metadata.name)) });
    expect(brief((await preview()).plan.steps)).toContain('create ConfigMap svc');
  });

  it('sees of related objects what their watch holds', async () => {
    await client.create(Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'svc', namespace },
      spec: { ports: [{ port: 80, targetPort: 8080 }] },
    });
    let seen: unknown;
    const operator = defineOperator({
      name: 'narrow',
      resource: Bundle,
      owns: [],
      watches: [{ kind: Service, relate: () => [{ name: 'svc' }], fields: ['spec.ports.port'] }],
      reconcile: ({ related }) => {
        seen = related.get(Service, 'svc')?.spec;
        return apply({ objects: [] });
      },
    });
    await previewInstance({ operator, client, object: bundle(), namespace });
    expect(seen).toEqual({ ports: [{ port: 80 }] });
  });

  it('takes a file as kubectl apply does: what others set stays, what the last file said and this one does not goes', async () => {
    const kubectlApply = (spec: unknown) =>
      env.kubectl(['apply', '-n', namespace, '-f', '-'], { stdin: JSON.stringify(bundle(spec)) });
    const textOf = async (spec: unknown) => {
      let seen: unknown;
      bench.rules = ({ self }) => {
        seen = { ...self.spec };
        return apply({ objects: [] });
      };
      const { problems } = await preview(bundle(spec));
      expect(problems).toEqual([]);
      return seen;
    };
    await kubectlApply({ text: 'one' });
    await client.patch(Bundle, { name: 'web', namespace }, { type: 'merge', value: { spec: { replicas: 3 } } });
    expect(await textOf({ text: 'two' })).toMatchObject({ text: 'two', replicas: 3 });
    expect(await textOf({})).not.toHaveProperty('text');
    await kubectlApply({ text: 'one', replicas: 2 });
    expect(await textOf({ text: 'one' })).not.toMatchObject({ replicas: 2 });
  });

  it('tells what only the API server knows to refuse', async () => {
    const { problems, plan } = await previewInstance({
      operator: bench.operator,
      client,
      object: bundle(),
      namespace: 'nowhere',
    });
    expect(problems[0]?.message).toMatch(/namespace "nowhere" does not exist; create it first/);
    expect(plan.steps).toEqual([]);
  });

  it('plans for a namespace and a Secret that come with the instance, and says what it could not ask', async () => {
    await bench.close();
    bench = await startWorkbench({
      kubeconfig: env.kubeconfig,
      namespace,
      owns: [ConfigMap],
      definition: {
        reads: [{ kind: Secret, why: 'a login' }],
        observe: async ({ read }) => Object.keys((await read.find(Secret, { name: 'login' }))?.data ?? {}),
      },
    });
    bench.rules = ({ external }) => apply({ objects: [configMap('web', { keys: String(external) })] });
    const beside: KubeObject[] = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'to-come' } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'login', namespace: 'to-come' },
        stringData: { user: 'me' },
      },
    ];
    const object = { ...bundle(), metadata: { name: 'web', namespace: 'to-come' } };
    const { problems, warnings, plan, faults } = await previewInstance({
      operator: bench.operator,
      client,
      object,
      beside,
    });
    expect({ problems, warnings, faults }).toEqual({
      problems: [],
      warnings: ['the API server was not asked whether it takes this: namespace to-come does not exist yet'],
      faults: [],
    });
    expect(plan.steps).toMatchObject([{ action: 'create', object: { data: { keys: 'user' } } }]);
  });
});
