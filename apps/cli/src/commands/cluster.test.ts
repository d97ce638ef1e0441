/** The commands that work on a cluster, as one story: install, run, apply, look, plan a change, stop. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { keelson, startKeelson, whenPrinted } from '../testing/keelson.ts';

const samples = resolve(import.meta.dirname, '../../../../examples/website/samples');
const shop = join(samples, 'shop.yaml');

describe('keelson on a cluster', () => {
  let env: TestEnv;
  let running: ChildProcessWithoutNullStreams | undefined;

  beforeAll(async () => {
    env = await startTestEnv({ level: 'cluster', nodes: 1 });
  });
  afterAll(async () => {
    running?.kill('SIGKILL');
    await env?.stop();
  });

  const admin = (args: readonly string[], stdin = '') => keelson([...args, '--kubeconfig', env.kubeconfig], { stdin });

  const holder = () =>
    env.kubectl(['get', 'lease', 'keelson', '-n', 'default', '-o', 'jsonpath={.spec.holderIdentity}']);

  it('given an empty cluster, when CRDs and RBAC are applied twice, then they are created, then unchanged', async () => {
    expect(await admin(['crds', '--apply'])).toEqual({
      code: 0,
      stderr: '',
      stdout: 'customresourcedefinition/websites.example.keelson.io created\n',
    });
    const first = await admin(['rbac', '--apply', '-n', 'ops']);
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^namespace\/ops created\nserviceaccount\/keelson created\n/),
    });
    const again = await admin(['rbac', '--apply', '-n', 'ops']);
    expect(again.stdout).toBe(first.stdout.replaceAll(' created', ' unchanged'));
  });

  it('given no instance, when asked for status, then it says that there is none', async () => {
    expect(await admin(['status', '-A'])).toEqual({ code: 0, stdout: '', stderr: 'No Website in any namespace.\n' });
    expect(await admin(['status'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No Website in namespace default; `keelson status -A` looks in all namespaces.\n',
    });
  });

  it('given a new Website, when planned, then everything is to be created, nothing is written, and the exit code says so if asked', async () => {
    const planned = await admin(['plan', '-f', shop]);
    expect(planned.code).toBe(0);
    expect(planned.stdout).toContain(
      'website/shop in default (new)\n  + create ConfigMap shop\n  + create PriorityClass default.shop.website\n',
    );
    expect(planned.stdout).toContain('Plan: 4 to create, 0 to change, 0 to delete; 0 pods restart.\n');
    expect((await admin(['plan', '-f', shop, '--exit-code'])).code).toBe(4);
    expect(await env.kubectl(['get', 'websites,configmaps', '-n', 'default', '-o', 'name'])).not.toContain('shop');
  });

  it('given a file that brings the namespace of its Website, when planned, then everything is to be created', async () => {
    const text = `apiVersion: v1\nkind: Namespace\nmetadata: {name: to-come}\n---\n${(await readFile(shop, 'utf8')).replace('namespace: default', 'namespace: to-come')}`;
    const { code, stdout, stderr } = await admin(['plan', '-f', '-'], text);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('namespace to-come does not exist yet'),
    });
    expect(stdout).toContain('website/shop in to-come (new)\n  + create ');
    expect(stdout).toContain('Plan: 4 to create, 0 to change, 0 to delete; 0 pods restart.\n');
    const nowhere = await admin(['plan', '-f', '-'], text.slice(text.indexOf('---')));
    expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('remedy: create the namespace first') });
  });

  it('given the operator runs under its ServiceAccount, when samples are applied, then status shows them Ready', async () => {
    const kubeconfig = await env.kubeconfigFor({ serviceAccount: { namespace: 'ops', name: 'keelson' } });
    running = startKeelson([
      'run',
      '--kubeconfig',
      kubeconfig,
      '--health-port',
      '0',
      '--metrics-port',
      '0',
      '--log-format',
      'json',
    ]);
    await whenPrinted(running, '"message":"started"');
    await env.kubectl(['apply', '-f', samples]);
    await vi.waitFor(async () => expect((await admin(['status', '-A', '--exit-code'])).code).toBe(0), 60_000);
    const { stdout } = await admin(['status', '-n', 'default']);
    expect(stdout).toMatch(/^NAME +READY +REASON +CHILDREN +AGE +MESSAGE\n/);
    expect(stdout).toMatch(/\nwebsite\/shop +True +Ready +4 +\d+s /);
  });

  it('given a Ready Website, when its details are asked for, then conditions, children and events are told', async () => {
    const { stdout, code } = await admin(['status', 'website/shop']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Website\/shop in default {3}True Ready\n/);
    expect(stdout).toContain('url: http://shop.default.svc');
    expect(stdout).toMatch(/\n {2}PriorityClass +default\.shop\.website\n/);
    expect(stdout).toMatch(/Normal +Created +created 4 objects: .*Deployment default\/shop/);
  });

  it('given -o json, when asked for status, then it is data', async () => {
    const { stdout } = await admin(['status', 'website/shop', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      instances: [
        {
          kind: 'Website',
          name: 'shop',
          ready: 'True',
          status: { readyReplicas: 3 },
          children: expect.arrayContaining([
            { kind: 'Service', name: 'shop', namespace: 'default', deleting: false, created: expect.any(String) },
          ]),
        },
      ],
    });
  });

  it('given a user who may list Websites but not what they own, when asked for status, then it says what is not counted', async () => {
    await env.kubectl(['create', 'clusterrole', 'reader', '--verb=get,list', '--resource=websites.example.keelson.io']);
    await env.kubectl(['create', 'clusterrolebinding', 'reader', '--clusterrole=reader', '--user=jane']);
    const kubeconfig = await env.kubeconfigFor({ user: 'jane' });
    const { code, stdout, stderr } = await keelson(['status', '-A', '--kubeconfig', kubeconfig]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      'note: not allowed to list configmaps, deployments.apps, services, priorityclasses.scheduling.k8s.io: such children are not counted\n',
    );
    expect(stdout).toMatch(/website\/shop +True +Ready +0 /);
  });

  it('given an instance that does not exist, when asked for, then it says where it looked', async () => {
    expect(await admin(['status', 'website/nope'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('no website named nope in namespace default'),
    });
  });

  it('given what is applied already, when planned, then there is nothing to do', async () => {
    expect(await admin(['plan', '-f', shop, '--exit-code'])).toEqual({
      code: 0,
      stderr: '',
      stdout: 'website/shop in default: nothing to do\n\nPlan: nothing to do.\n',
    });
  });

  it('given a change, when planned, then fields, pods that restart and deletions are told, also as data', async () => {
    const text = (await readFile(shop, 'utf8'))
      .replace('public: true', 'public: false')
      .replace('Open all night', 'Closed');
    const { stdout, code } = await admin(['plan', '-f', '-'], text);
    expect(code).toBe(0);
    expect(stdout).toContain('data[index.html]: "<h1>Open all night.</h1>\\n" → "<h1>Closed.</h1>\\n"');
    expect(stdout).toMatch(
      /spec\.template\.metadata\.annotations\S*example\.keelson\.io\/content\S*: "[0-9a-f]+" → "[0-9a-f]+"/,
    );
    const pods = (
      await env.kubectl(['get', 'pods', '-n', 'default', '-l', 'app.kubernetes.io/instance=shop', '-o', 'name'])
    )
      .trim()
      .split('\n')
      .map((name) => name.replace('pod/', ''));
    expect(pods).toHaveLength(3);
    expect(stdout).toContain(`restarts pods: ${pods.sort().join(', ')}\n`);
    expect(stdout).toMatch(/- delete PriorityClass default\.shop\.website: /);
    expect(stdout).toContain('Plan: 0 to create, 2 to change, 1 to delete; 3 pods restart.\n');
    const data = JSON.parse((await admin(['plan', '-f', '-', '-o', 'json'], text)).stdout) as {
      plans: { steps: { action: string; restarts?: boolean; pods?: string[] }[] }[];
    };
    expect(data.plans[0]?.steps.map(({ action }) => action).sort()).toEqual(['change', 'change', 'delete']);
    expect(data.plans[0]?.steps.find(({ restarts }) => restarts)?.pods).toEqual(pods);
  });

  it('given an object that somebody else owns, when planned, then it is refused and said so', async () => {
    await env.kubectl(['create', 'service', 'clusterip', 'taken', '--tcp=80:80', '-n', 'default']);
    const text = (await readFile(shop, 'utf8')).replace('name: shop', 'name: taken');
    const { stdout, stderr, code } = await admin(['plan', '-f', '-', '--exit-code'], text);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: expect.stringContaining('! refuse Service taken: '),
      stderr: expect.stringContaining('error: website/taken is refused an object\n'),
    });
  });

  it('given an instance that its operator rejects, when planned, then the exit code is that of render', async () => {
    const text =
      'apiVersion: example.keelson.io/v1alpha1\nkind: Website\nmetadata: {name: a}\nspec: {pages: {index.html: "", a/b: ""}}\n';
    const { stdout, stderr, code } = await admin(['plan', '-f', '-'], text);
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: expect.stringContaining(': rejected: BadFileName: '),
      stderr: expect.stringContaining('error: website/a is rejected: BadFileName: '),
    });
  });

  it('given an instance that fails validation, when planned, then every path is told', async () => {
    const invalid = (await readFile(shop, 'utf8')).replace('replicas: 3', 'replicas: 30');
    expect(await admin(['plan', '-f', '-'], invalid)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('spec.replicas: must be at most 20, got 30'),
    });
  });

  it('given SIGTERM, when the work at hand is done, then it ends with 0', async () => {
    if (running === undefined) throw new Error('it is not running');
    const child = running;
    const closed = once(child, 'close');
    running = undefined;
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
  });

  it('given a port that is taken, when run, then the port and the option are named', async () => {
    const server = createServer().listen(0);
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    try {
      const { code, stderr } = await admin(['run', '--health-port', String(port), '--metrics-port', '0']);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(
          new RegExp(
            `error: health cannot listen on \\*:${port}: another process has this port[\\s\\S]*remedy: .*--health-port`,
          ),
        ),
      });
    } finally {
      server.close();
    }
  });

  it('given --leader-elect, when run, then it takes the lease of the project before it works, and gives it back', async () => {
    const child = startKeelson([
      'run',
      '--leader-elect',
      '--lease-namespace',
      'default',
      '--kubeconfig',
      env.kubeconfig,
      '--health-port',
      '0',
      '--metrics-port',
      '0',
      '--log-format',
      'json',
    ]);
    running = child;
    await vi.waitFor(async () => expect(await holder()).not.toBe(''), 30_000);
    const closed = once(child, 'close');
    child.kill('SIGINT');
    expect(await closed).toEqual([0, null]);
    expect(await holder()).toBe('');
    running = undefined;
  });

  it('given it cannot finish because the API server hangs, when a second signal comes, then it ends at once with 130', async () => {
    const child = startKeelson([
      'run',
      '--leader-elect',
      '--lease-namespace',
      'default',
      '--kubeconfig',
      env.kubeconfig,
      '--health-port',
      '0',
      '--metrics-port',
      '0',
      '--log-format',
      'json',
    ]);
    running = child;
    await vi.waitFor(async () => expect(await holder()).not.toBe(''), 30_000);
    env.parts.apiserver.pause();
    try {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await whenPrinted(child, 'a second signal ends at once');
      child.kill('SIGTERM');
      expect(await closed).toEqual([130, null]);
    } finally {
      env.parts.apiserver.resume();
    }
  });
});

describe('keelson run before its CRD is there', () => {
  it('given no CRD, when run, then it waits and says so, and goes to work once it is installed', async () => {
    await using env = await startTestEnv();
    const child = startKeelson([
      'run',
      '--kubeconfig',
      env.kubeconfig,
      '--health-port',
      '0',
      '--metrics-port',
      '0',
      '--log-format',
      'json',
    ]);
    try {
      await whenPrinted(child, 'websites.example.keelson.io');
      expect(child.exitCode).toBeNull();
      await keelson(['crds', '--apply', '--kubeconfig', env.kubeconfig]);
      await env.kubectl(['apply', '-f', join(samples, 'front.yaml')]);
      await vi.waitFor(
        async () => expect(await env.kubectl(['get', 'deployments', '-n', 'default', '-o', 'name'])).toContain('front'),
        60_000,
      );
    } finally {
      child.kill('SIGKILL');
    }
  });
});
