/** What the engine makes of answers it did not expect, on a real API server: policies that rewrite, and others who are faster. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { isFault } from '@keelson/kube';
import { ClusterRole, ConfigMap, type Kind, type KubeObject, MutatingWebhookConfiguration } from '@keelson/schema';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { issueAuthority, issueCertificate } from '../certificates/issue.ts';
import { apply } from '../decision.ts';
import { marks } from '../marks.ts';
import { clusterRole, configMap, deployment, type Stage, startStage } from '../reconciler/testing/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
beforeEach(() => stage.begin());
afterEach(() => stage.end());
afterAll(() => stage?.stop());

/** Registers a policy that sets one label on everything of this resource that somebody writes. */
async function policy(label: string, value: string, apiGroup: string, resource: string) {
  const now = Date.now();
  const authority = await issueAuthority({ now, lifetimeMs: 3_600_000 });
  const serving = await issueCertificate(authority, { now, lifetimeMs: 3_600_000, names: ['127.0.0.1'] });
  const path = `/metadata/labels/${label.replaceAll('/', '~1')}`;
  const server: Server = createServer(
    { cert: serving.certificate.pem, key: serving.keyPem },
    async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { request: asked } = JSON.parse(Buffer.concat(chunks).toString()) as {
        request: { uid: string; object: KubeObject };
      };
      const isThere = asked.object.metadata.labels?.[label] !== undefined;
      const patch = Buffer.from(JSON.stringify(isThere ? [{ op: 'replace', path, value }] : [])).toString('base64');
      const answer = { uid: asked.uid, allowed: true, patchType: 'JSONPatch', patch };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const name = `relabel-${stage.namespace}`;
  await stage.admin.create(MutatingWebhookConfiguration, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'relabel.example.io',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(authority.certificate.pem).toString('base64'),
        },
        rules: [{ apiGroups: [apiGroup], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
      },
    ],
  } as KubeObject as MutatingWebhookConfiguration);
  await untilRelabelled(label, value, apiGroup);
  return {
    async [Symbol.asyncDispose]() {
      await stage.admin.delete(MutatingWebhookConfiguration, { name });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The API server takes note of a policy a moment after it is made. */
async function untilRelabelled(label: string, value: string, apiGroup: string): Promise<void> {
  const probe = apiGroup === '' ? configMap('probe') : clusterRole(`probe-${stage.namespace}`);
  const kind: Kind = apiGroup === '' ? ConfigMap : ClusterRole;
  const metadata = { ...probe.metadata, namespace: stage.namespace, labels: { [label]: 'unset' } };
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    const answer = await stage.admin.create(kind, { ...probe, metadata }, { dryRun: true });
    if (answer.metadata.labels?.[label] === value) return;
  }
  throw new Error('the API server never called the policy');
}

describe('a policy that rewrites labels', () => {
  it('does not hide a child from us when the labels are those for other tools', async () => {
    await using _ = await policy(marks.managedBy, 'platform', '', 'configmaps');
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web')] });

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 1 });
    expect((await stage.bench.find(ConfigMap, 'web'))?.metadata.labels?.[marks.managedBy]).toBe('platform');
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
    // What a new process knows of it comes from the watch alone.
    await stage.bench.restart();
    stage.bench.rules = () => apply({ objects: [] });
    await stage.bench.turn('web');
    expect(await stage.bench.find(ConfigMap, 'web')).toBeUndefined();
  });

  it.each([
    { what: 'a child with an owner reference', kind: ConfigMap, group: '', plural: 'configmaps' },
    {
      what: 'a child beyond owner references',
      kind: ClusterRole,
      group: 'rbac.authorization.k8s.io',
      plural: 'clusterroles',
    },
  ])(
    'is named when it takes our own mark from $what, every time and without a storm',
    async ({ kind, group, plural }) => {
      await using _ = await policy(marks.operator, 'platform', group, plural);
      await stage.bench.create('web');
      const child = kind === ConfigMap ? configMap('web') : clusterRole(`web-${stage.namespace}`);
      stage.bench.rules = () => apply({ objects: [child] });

      for (let round = 0; round < 3; round += 1) {
        const outcome = await stage.bench.turn('web').catch((error: unknown) => ({ fault: error }));
        expect(outcome).toMatchObject({ fault: expect.objectContaining({ code: 'MarksChanged', retry: 'slow' }) });
        expect(isFault((outcome as { fault: unknown }).fault)).toBe(true);
      }
      expect(await stage.condition('web', 'Applied')).toMatchObject({
        status: 'False',
        reason: 'MarksChanged',
        message: expect.stringContaining(
          "the API server stored it, but its label keelson.io/operator is 'platform' instead of 'bench-operator' (Keelson knows its " +
            'objects by this label, and a mutating webhook or policy of the cluster changes it: exempt labels of keelson.io from it)',
        ),
      });
    },
  );
});

describe('an apply that changes nothing', () => {
  it('is no news: what the server fills into an empty value is settled once in a process, without an event', async () => {
    await stage.bench.create('web');
    const child = deployment('web', 1);
    stage.bench.rules = () => apply({ objects: [{ ...child, spec: { ...(child.spec as object), strategy: {} } }] });
    await stage.bench.turn('web');
    await stage.bench.restart();
    const before = stage.bench.events.length;

    expect(await stage.bench.turn('web')).toMatchObject({ result: 'applied', steps: 0 });
    expect(stage.bench.events.slice(before)).toEqual([]);
    expect(await stage.writesDuring(() => stage.bench.turn('web'))).toEqual([]);
  });
});

describe('somebody who makes the same object between our look and our write', () => {
  const theirs = { a: 'theirs' };
  /** Runs one turn in which somebody makes the object right after we were told that it is not there. */
  async function raced(adopt: boolean) {
    await using proxy = await stage.env.faultProxy();
    const kubeconfig = await proxy.kubeconfigFor({ user: 'bench-operator', groups: ['system:masters'] });
    await stage.restartWith({ kubeconfig, admin: stage.admin });
    await stage.bench.create('web');
    const object = { ...configMap('web', theirs), metadata: { name: 'web', namespace: stage.namespace } } as ConfigMap;
    let made: KubeObject | undefined;
    proxy.onResponse(async ({ method, path }, code) => {
      if (method !== 'GET' || code !== 404 || !path.includes('/configmaps/web') || made !== undefined) return;
      made = await stage.admin.create(ConfigMap, object, { fieldManager: 'helm' });
    });
    stage.bench.rules = () =>
      apply({
        objects: [configMap('web', { b: 'ours' })],
        ...(adopt ? { adopt: [{ kind: ConfigMap, name: 'web' }] } : {}),
      });
    const outcome = await stage.bench.turn('web');
    const again = await stage.bench.turn('web');
    await stage.end();
    return { made, outcome, again, live: await stage.admin.find(ConfigMap, object.metadata) };
  }

  it('keeps it as they made it, and we are refused', async () => {
    const { made, outcome, again, live } = await raced(false);
    expect(outcome).toMatchObject({ result: 'waiting' });
    expect(again).toMatchObject({ result: 'waiting', steps: 0 });
    expect(live?.data).toEqual(theirs);
    expect(live?.metadata.uid).toBe(made?.metadata.uid);
    expect(live?.metadata.labels ?? {}).toEqual({});
    expect(live?.metadata.annotations ?? {}).toEqual({});
    expect(live?.metadata.ownerReferences ?? []).toEqual([]);
  });

  it('shares it with us when it was named for adoption', async () => {
    const { outcome, live } = await raced(true);
    expect(outcome).toMatchObject({ result: 'applied' });
    expect(live?.data).toEqual({ ...theirs, b: 'ours' });
    expect(live?.metadata.labels).toMatchObject({ [marks.operator]: 'bench-operator' });
  });

  it('is not seen in a child of ours that others wrote to before we heard that it is made', async () => {
    await using proxy = await stage.env.faultProxy();
    const kubeconfig = await proxy.kubeconfigFor({ user: 'bench-operator', groups: ['system:masters'] });
    await stage.restartWith({ kubeconfig, admin: stage.admin });
    await stage.bench.create('web');
    stage.bench.rules = () => apply({ objects: [configMap('web', { b: 'ours' })] });
    // Our write is done, its answer is lost, and somebody adds to the child before we ask or try again.
    const path = /\/configmaps\/web/;
    const lost = proxy.rule({ match: { write: true, path }, times: 1, fault: { kind: 'reset', at: 'response' } });
    let added: Promise<unknown> | undefined;
    proxy.onRequest(async (request) => {
      if (lost.hits === 0 || !path.test(request.path) || added !== undefined) return;
      added = stage.patch(ConfigMap, 'web', { data: { c: 'added' } });
      await added;
    });
    await stage.bench.turn('web');

    expect((await stage.bench.find(ConfigMap, 'web'))?.data).toEqual({ b: 'ours', c: 'added' });
    expect(await stage.condition('web', 'Applied')).toMatchObject({ status: 'True' });
    await stage.end();
  });
});
