/** The whole operator on a real API server, and on a cluster with simulated nodes. */
import type { KubeClient } from '@keelson/kube';
import { ConfigMap, Deployment, type Kind, type KubeObject, PriorityClass, Service, toCrd } from '@keelson/schema';
import { startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Website } from './resource.ts';
import { account, eventually, type RunningWebsite, runWebsite } from './testing/run-website.ts';

const at = (name: string) => ({ name, namespace: 'default' });

/** The object, once it is there and as it should be. */
function whenSeen<T extends KubeObject>(
  admin: KubeClient,
  kind: Kind<T>,
  ref: { name: string; namespace?: string },
  check: (object: T) => void = () => {},
): Promise<T> {
  return eventually(async () => {
    const object = await admin.get(kind, ref);
    check(object);
    return object;
  });
}

function whenGone(admin: KubeClient, kind: Kind, ref: { name: string; namespace?: string }): Promise<void> {
  return eventually(async () => expect(await admin.find(kind, ref)).toBeUndefined());
}

describe('the Website operator on a real API server', () => {
  let env: TestEnv;
  let running: RunningWebsite;

  beforeAll(async () => {
    env = await startTestEnv({ crds: [toCrd(Website)] });
    running = await runWebsite(env);
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await env?.stop();
  });

  it('given a Website, when it is created, then its children are made, it owns them, and it says where it is reached', async () => {
    const { admin, site } = running;
    await site('front', { html: '<h1>It floats.</h1>', replicas: 2, port: 8080 });
    await whenSeen(admin, Service, at('front'), ({ spec }) => expect(spec.ports?.[0]?.port).toBe(8080));
    await whenSeen(admin, ConfigMap, at('front'), ({ data }) =>
      expect(data).toEqual({ 'index.html': '<h1>It floats.</h1>' }),
    );
    const deployment = await whenSeen(admin, Deployment, at('front'), ({ spec }) => expect(spec.replicas).toBe(2));
    const front = await whenSeen(admin, Website, at('front'), ({ status }) =>
      expect(status?.url).toBe('http://front.default.svc:8080'),
    );
    expect(deployment.metadata.ownerReferences).toMatchObject([
      { kind: 'Website', uid: front.metadata.uid, controller: true },
    ]);
    expect(front.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('Deployment front'),
    });
    expect(front.metadata.finalizers).toBeUndefined();
  });

  it('given a child that somebody deletes or edits, when the operator sees it, then it is as it was', async () => {
    const { admin, site } = running;
    await site('mended', { html: 'hi' });
    const { metadata } = await whenSeen(admin, Deployment, at('mended'));
    await admin.delete(Service, at('mended'));
    await admin.patch(Deployment, at('mended'), { type: 'merge', value: { spec: { replicas: 7 } } });
    await whenSeen(admin, Service, at('mended'));
    const mended = await whenSeen(admin, Deployment, at('mended'), ({ spec }) => expect(spec.replicas).toBe(1));
    expect(mended.metadata.uid).toBe(metadata.uid);
  });

  it('given a changed page, when it is applied, then the pod template changes too, so that it rolls out', async () => {
    const { admin, site } = running;
    const templateOf = (deployment: Deployment) => deployment.spec.template.metadata?.annotations;
    await site('rolled', { html: 'one' });
    const before = templateOf(await whenSeen(admin, Deployment, at('rolled')));
    await site('rolled', { html: 'two' });
    await whenSeen(admin, ConfigMap, at('rolled'), ({ data }) => expect(data).toEqual({ 'index.html': 'two' }));
    await whenSeen(admin, Deployment, at('rolled'), (deployment) => expect(templateOf(deployment)).not.toEqual(before));
  });

  it('given a public Website, when it is no longer public, then its PriorityClass goes', async () => {
    const { admin, site } = running;
    await site('shop', { html: 'hi', public: true });
    await whenSeen(admin, PriorityClass, { name: 'default.shop.website' });
    await site('shop', { html: 'hi', public: false });
    await whenGone(admin, PriorityClass, { name: 'default.shop.website' });
    await whenSeen(admin, Deployment, at('shop'), ({ spec }) =>
      expect(spec.template.spec?.priorityClassName).toBeUndefined(),
    );
  });

  it('given a public Website, when it is deleted, then its cluster-scoped child goes before it', async () => {
    const { admin, site } = running;
    await site('closing', { html: 'hi', public: true });
    await whenSeen(admin, PriorityClass, { name: 'default.closing.website' });
    await admin.delete(Website, at('closing'));
    await whenGone(admin, Website, at('closing'));
    expect(await admin.find(PriorityClass, { name: 'default.closing.website' })).toBeUndefined();
  });

  it('given a page that is no file name, when it is applied, then the status tells, and nothing is made', async () => {
    const { admin, site } = running;
    await site('misnamed', { pages: { 'index.html': '', 'a/b.html': '' } });
    const { status } = await whenSeen(admin, Website, at('misnamed'), (object) =>
      expect(object.status?.conditions).toBeDefined(),
    );
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'BadFileName',
    });
    expect(await admin.find(ConfigMap, at('misnamed'))).toBeUndefined();
  });

  it('given all of the above, when its requests are looked at, then none was forbidden', async () => {
    const user = `system:serviceaccount:${account.namespace}:${account.name}`;
    const mine = await env.audit.entries({ user });
    expect(mine.length).toBeGreaterThan(20);
    expect(mine.filter(({ code }) => code === 403)).toEqual([]);
  });
});

describe('the Website operator in a cluster', () => {
  let env: TestEnv;
  let running: RunningWebsite;

  beforeAll(async () => {
    env = await startTestEnv({ level: 'cluster', nodes: 3, crds: [toCrd(Website)] });
    running = await runWebsite(env);
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await env?.stop();
  });

  it('given a public Website, when its pods are ready, then it is Ready; when deleted, then nothing of it is left', async () => {
    const { admin, site } = running;
    await site('shop', { html: 'hi', public: true, replicas: 3 });
    const { status } = await whenSeen(admin, Website, at('shop'), (object) =>
      expect(object.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
        status: 'True',
        observedGeneration: object.metadata.generation,
      }),
    );
    expect(status?.readyReplicas).toBe(3);
    await admin.delete(Website, at('shop'));
    for (const kind of [Website, Deployment, Service, ConfigMap]) await whenGone(admin, kind, at('shop'));
    await whenGone(admin, PriorityClass, { name: 'default.shop.website' });
  });
});
