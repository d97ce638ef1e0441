import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensurePart } from '@keelson/testbed';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi } from './cluster.ts';
import { startTestEnv, type TestEnv } from './index.ts';
import { findFreePort } from './ports.ts';
import { Reaper } from './reaper.ts';
import { furnish } from './start.ts';
import { connect } from './testing/client.ts';
import { isAlive } from './testing/process.ts';

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.test.example' },
  spec: {
    group: 'test.example',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

describe('an environment of level api', () => {
  let env: TestEnv;
  beforeAll(async () => {
    env = await startTestEnv({ crds: [widgets] });
  });
  afterAll(() => env.stop());

  test('serves the real Kubernetes API to kubectl', async () => {
    const namespaces = await env.kubectl(['get', 'namespaces', '-o', 'name']);
    expect(namespaces.split('\n')).toContain('namespace/kube-system');
  });

  test('kubectl reads standard input and its failure names command and cause', async () => {
    const namespace = await env.createNamespace();
    const manifest = JSON.stringify(configMap('from-stdin'));
    await env.kubectl(['apply', '-n', namespace, '-f', '-'], { stdin: manifest });
    expect(await env.kubectl(['get', 'configmaps', '-n', namespace, '-o', 'name'])).toContain('configmap/from-stdin');
    await expect(env.kubectl(['get', 'pod', 'nobody'])).rejects.toThrow(/kubectl get pod nobody.*"nobody" not found/);
  });

  test('serves the given CustomResourceDefinitions from the start', async () => {
    const widget = { apiVersion: 'test.example/v1', kind: 'Widget', metadata: { name: 'one' } };
    await env.adminRequest('POST', '/apis/test.example/v1/namespaces/default/widgets', widget);
    const list = await env.adminRequest<{ items: unknown[] }>('GET', '/apis/test.example/v1/widgets');
    expect(list.items).toHaveLength(1);
  });

  test('takes pods in a new namespace although nobody makes ServiceAccounts there', async () => {
    const namespace = await env.createNamespace();
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    await env.adminRequest('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
  });

  test('an error of the API server carries its code and reason', async () => {
    await expect(env.adminRequest('GET', '/api/v1/namespaces/nowhere')).rejects.toMatchObject({
      name: 'ApiError',
      code: 404,
      reason: 'NotFound',
      message: 'GET /api/v1/namespaces/nowhere was answered with 404: namespaces "nowhere" not found',
    });
  });

  test('RBAC refuses a user without rights and knows the groups of one with rights', async () => {
    const nobody = await connect(await env.kubeconfigFor({ user: 'nobody' }));
    expect((await nobody.send('GET', '/api/v1/namespaces')).code).toBe(403);
    const chief = await connect(await env.kubeconfigFor({ user: 'chief', groups: ['staff', 'system:masters'] }));
    expect((await chief.send('GET', '/api/v1/namespaces')).code).toBe(200);
    await Promise.all([nobody.close(), chief.close()]);
  });

  test('an expired client certificate is refused', async () => {
    const late = await connect(
      await env.kubeconfigFor({ user: 'late', groups: ['system:masters'], expiresInSeconds: -1 }),
    );
    expect((await late.send('GET', '/api/v1/namespaces')).code).toBe(401);
    await late.close();
  });

  test.each([
    ['a token from the TokenRequest API', undefined, 201],
    ['a token that is still valid for a few seconds', 30, 201],
    ['an expired token', 0, 401],
  ])('a ServiceAccount logs in with %s', async (_title, expiresInSeconds, code) => {
    const serviceAccount = { namespace: 'default', name: 'operator' };
    const identity = { serviceAccount, ...(expiresInSeconds !== undefined && { expiresInSeconds }) };
    const client = await connect(await env.kubeconfigFor(identity));
    const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const answer = await client.send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', whoAmI);
    expect(answer.code).toBe(code);
    if (code === 201) {
      expect(answer.body).toMatchObject({
        status: { userInfo: { username: 'system:serviceaccount:default:operator' } },
      });
    }
    await client.close();
  });

  test('parts and nodes of level cluster are refused with the remedy', async () => {
    const remedy = "only runs at level 'cluster': startTestEnv({ level: 'cluster' })";
    expect(() => env.parts.kwok).toThrow(`kwok ${remedy}`);
    await expect(env.addNode({ name: 'one' })).rejects.toThrow(`a simulated node ${remedy}`);
    await expect(env.removeNode('one')).rejects.toThrow(`a simulated node ${remedy}`);
  });
});

describe('restarting parts', () => {
  test('etcd and kube-apiserver keep address and data over kill -9, graceful restart and pause', async () => {
    await using env = await startTestEnv();
    await env.adminRequest('POST', '/api/v1/namespaces/default/configmaps', configMap('kept'));
    const firstPid = env.parts.apiserver.pid;

    await env.parts.apiserver.kill();
    expect(env.parts.apiserver.running).toBe(false);
    await expect(env.adminRequest('GET', '/api/v1/namespaces/default/configmaps/kept')).rejects.toThrow();
    await env.parts.etcd.kill('SIGKILL');
    await Promise.all([env.parts.etcd.start(), env.parts.apiserver.start()]);
    expect(env.parts.apiserver.pid).not.toBe(firstPid);
    await env.adminRequest('GET', '/api/v1/namespaces/default/configmaps/kept');

    await env.parts.etcd.restart();
    env.parts.apiserver.pause();
    const asked = env.adminRequest('GET', '/api/v1/namespaces/default/configmaps/kept');
    await expect(Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 300, 'silence'))])).resolves.toBe(
      'silence',
    );
    env.parts.apiserver.resume();
    await expect(asked).resolves.toMatchObject({ metadata: { name: 'kept' } });
    expect(await env.parts.apiserver.log(5)).not.toBe('');
  }, 90_000);
});

describe('bad circumstances', () => {
  test('a port that is taken is named, before anything is started', async () => {
    const port = await findFreePort();
    const squatter = createServer().listen(port, '127.0.0.1');
    await expect(startTestEnv({ port })).rejects.toThrow(`port ${port} on 127.0.0.1 is taken`);
    squatter.close();
  });

  test('a port that somebody takes between the look and the bind means another try', async () => {
    const { path } = await ensurePart('controlplane');
    const reaper = await Reaper.over(await mkdtemp(join(tmpdir(), 'keelson-testenv-')));
    const keyring = await furnish(reaper.dir, {});
    const taken = await findFreePort();
    const squatter = createServer().listen(taken, '127.0.0.1');
    const asked: number[] = [];
    const findPort = async () => {
      const port = asked.length === 0 ? taken : await findFreePort();
      asked.push(port);
      return port;
    };
    const api = await startApi(reaper, path, keyring, {}, findPort);
    expect(asked).toHaveLength(4);
    expect(await api.admin.answers('/readyz')).toBe(true);
    squatter.close();
    await Promise.all([api.admin.close(), reaper.end()]);
  });

  test('a part that crashes at start shows the end of its log and where all of it is', async () => {
    const failure = await startTestEnv({ apiServerFlags: { 'no-such-flag': '1' } }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toContain('kube-apiserver ended with exit code 1 before it was ready');
    expect(message).toContain('unknown flag: --no-such-flag');
    const logFile = /\((\/.*kube-apiserver\.log)\)/.exec(message)?.[1] ?? '';
    expect(existsSync(logFile)).toBe(true);
    const dir = dirname(dirname(logFile));
    expect(await readdir(dir)).toEqual(['log']);
    await rm(dir, { recursive: true });
  });
});

describe('several environments at once', () => {
  test('do not see each other, and stop leaves no process and no file', async () => {
    const [left, right] = await Promise.all([startTestEnv(), startTestEnv()]);
    await left.adminRequest('POST', '/api/v1/namespaces/default/configmaps', configMap('only-left'));
    await expect(right.adminRequest('GET', '/api/v1/namespaces/default/configmaps/only-left')).rejects.toMatchObject({
      code: 404,
    });
    const stranger = await connect(await left.kubeconfigFor({ user: 'x', groups: ['system:masters'] }));
    expect((await stranger.send('GET', '/api/v1/namespaces')).code).toBe(200);
    await stranger.close();

    const pids = [left, right].flatMap((env) => [env.parts.etcd.pid ?? 0, env.parts.apiserver.pid ?? 0]);
    expect(pids.every(isAlive)).toBe(true);
    await Promise.all([left.stop(), right.stop()]);
    expect(pids.filter(isAlive)).toEqual([]);
    expect([left.dir, right.dir].filter((dir) => existsSync(dir))).toEqual([]);
  }, 90_000);
});
