/** What events say about changes by others, against a real API server: what was changed, and by whom. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ClusterRole, ConfigMap, Deployment, type Kind, type KubeObject, manifest, Secret } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../decision.ts';
import { clusterRole, configMap, deployment, type Stage, startStage } from './testing/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

async function begin(...objects: KubeObject[]): Promise<void> {
  await stage.bench.create('web');
  stage.bench.rules = () => apply({ objects });
  await stage.bench.turn('web');
}

const versionOf = async (kind: Kind, name: string) => (await stage.bench.find(kind, name))?.metadata.resourceVersion;

/** Waits until the cache has what the server has. */
async function caughtUp(kind: Kind, name: string): Promise<void> {
  const version = await versionOf(kind, name);
  await stage.bench.seen(kind, name, (live) => live?.object.metadata.resourceVersion === version);
}

async function patchAs(manager: string, kind: Kind, name: string, patch: unknown, type = 'merge'): Promise<void> {
  const place = kind.scope === 'Namespaced' ? ['-n', stage.namespace] : [];
  const what = ['patch', kind.plural, name, ...place, `--field-manager=${manager}`, `--type=${type}`];
  await stage.env.kubectl([...what, '-p', JSON.stringify(patch)]);
  await caughtUp(kind, name);
}

/** What the next turn tells, if anything. */
async function repair(): Promise<string | undefined> {
  const told = stage.bench.events.length;
  await stage.bench.turn('web');
  return stage.bench.events.slice(told).map(({ message }) => message)[0];
}
const web = (kind: string) => `${kind} ${stage.namespace}/web`;

describe('the event of a repair', () => {
  it('names who holds the field that was taken, and nobody who wrote something else', async () => {
    await begin(deployment('web', 2));
    await patchAs('alice', Deployment, 'web', { metadata: { labels: { theirs: 'x' } }, spec: { paused: true } });
    await patchAs('bob', Deployment, 'web', { spec: { replicas: 5 } });
    await patchAs('carol', Deployment, 'web', { metadata: { annotations: { later: 'y' } } });
    expect(await repair()).toBe(`changed ${web('Deployment')}: spec.replicas: 5 → 2 (set by bob)`);
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });

  it('tells an edit by hand, and a scaling through the subresource', async () => {
    await begin(deployment('web', 2));
    const [program = '', ...args] = stage.env.kubectlCommand;
    await promisify(execFile)(program, [...args, 'edit', 'deployment', 'web', '-n', stage.namespace], {
      env: { ...process.env, KUBE_EDITOR: 'sed -i s/nginx/evil/' },
    });
    await stage.env.kubectl(['scale', 'deployment', 'web', '-n', stage.namespace, '--replicas=7']);
    await caughtUp(Deployment, 'web');
    expect(await repair()).toBe(
      `changed ${web('Deployment')}: spec.replicas: 7 → 2 (set by kubectl); ` +
        'spec.template.spec.containers[name=web].image: evil → nginx (set by kubectl-edit)',
    );
  });

  it('says that a field was removed, but not by whom: nobody holds what is not there', async () => {
    const object = deployment('web', 2) as KubeObject & { spec: { template: { spec: Record<string, unknown> } } };
    object.spec.template.spec.hostPID = true;
    await begin(object);
    await patchAs('mallory', Deployment, 'web', { spec: { template: { spec: { hostPID: false } } } });
    expect(await repair()).toBe(
      `changed ${web('Deployment')}: spec.template.spec.hostPID: none → true (removed by somebody else)`,
    );
  });

  it('names the items that were added to a list which is ours as a whole', async () => {
    const name = `role-${stage.namespace}`;
    await begin(clusterRole(name));
    const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    await patchAs('mallory', ClusterRole, name, [{ op: 'add', path: '/rules/-', value: all }], 'json');
    expect(await repair()).toBe(
      `changed ClusterRole ${name}: rules[1]: ${JSON.stringify(all)} → none (set by mallory)`,
    );
    await patchAs('mallory', ClusterRole, name, [{ op: 'add', path: '/rules/0/verbs/-', value: '*' }], 'json');
    expect(await repair()).toBe(`changed ClusterRole ${name}: rules[0].verbs: ["get","*"] → ["get"] (set by mallory)`);
  });

  it('leaves alone what others add beside our own, where the server merges by key', async () => {
    await begin(deployment('web', 2));
    const sidecar = { spec: { template: { spec: { containers: [{ name: 'sidecar', image: 'x' }] } } } };
    await patchAs('alice', Deployment, 'web', sidecar, 'strategic');
    expect(await stage.writesDuring(repair)).toEqual([]);
  });

  it('names nobody when it is the wish that has changed, not even for a field that is new', async () => {
    await begin(configMap('web', { a: '1' }));
    await patchAs('alice', ConfigMap, 'web', { data: { theirs: 'x' } });
    stage.bench.rules = () => apply({ objects: [configMap('web', { a: '2', b: '1' })] });
    expect(await repair()).toBe(`changed ${web('ConfigMap')}: data.a: 1 → 2; data.b: none → 1`);
  });

  it('names who holds a field although a new process never saw it happen', async () => {
    await begin(configMap('web', { a: '1', b: '2' }));
    await patchAs('alice', ConfigMap, 'web', { data: { a: '9' } });
    await stage.bench.restart();
    expect(await repair()).toBe(`changed ${web('ConfigMap')}: data.a: 9 → 1 (set by alice)`);
  });

  it('names who set a value of a Secret, and not the value', async () => {
    await begin(manifest(Secret, { name: 'web' }, { stringData: { password: 'ours' } }));
    await patchAs('mallory', Secret, 'web', { stringData: { password: 'hunter2' } });
    expect(await repair()).toBe(`changed ${web('Secret')}: data.password: changed (set by mallory)`);
  });

  it('costs no request beside the write itself', async () => {
    await begin(configMap('web', { a: '1' }));
    await patchAs('alice', ConfigMap, 'web', { data: { a: '9' } });
    const reads: string[] = [];
    const find = stage.bench.client.find.bind(stage.bench.client);
    stage.bench.client.find = async (kind, ...rest) => {
      reads.push(kind.kind);
      return find(kind, ...rest) as never;
    };
    expect(await stage.writesDuring(repair)).toEqual(['patch configmaps web']);
    expect(reads).toEqual([]);
  });
});

describe('the event of an object that is made again', () => {
  it('says that somebody else deleted it', async () => {
    await begin(configMap('web'));
    await stage.admin.delete(ConfigMap, { namespace: stage.namespace, name: 'web' });
    await stage.bench.seen(ConfigMap, 'web', (live) => live === undefined);
    expect(await repair()).toBe(`created ${web('ConfigMap')} again: deleted by somebody else`);
  });

  it('does not say so when we deleted it ourselves: no longer wanted, or to be made anew', async () => {
    const selecting = (app: string): KubeObject => {
      const made = deployment('web', 1);
      const template = { metadata: { labels: { app } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
      return { ...made, spec: { selector: { matchLabels: { app } }, template } };
    };
    await stage.restartWith({ owns: [ConfigMap, { kind: Deployment, replace: true }] });
    await begin(configMap('web'), selecting('one'));
    stage.bench.rules = () => apply({ objects: [selecting('one')] });
    await stage.bench.turn('web');
    stage.bench.rules = () => apply({ objects: [configMap('web'), selecting('one')] });
    expect(await repair()).toBe(`created ${web('ConfigMap')}`);

    await patchAs('alice', Deployment, 'web', { metadata: { finalizers: ['test.io/hold'] } });
    stage.bench.rules = () => apply({ objects: [configMap('web'), selecting('two')] });
    expect(await repair()).toMatch(/^deleted Deployment .* to make it anew/);
    await stage.bench.turn('web');
    await stage.patch(Deployment, 'web', { metadata: { finalizers: null } });
    await stage.bench.seen(Deployment, 'web', (live) => live === undefined);
    expect(await repair()).toBe(`created ${web('Deployment')}`);
  });
});
