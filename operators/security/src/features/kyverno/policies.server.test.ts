/**
 * The policies before a real API server: taken by Kyverno's own CRDs, and, as ValidatingAdmissionPolicies (the same CEL, evaluated by
 * the server itself), right about pods.
 */
import { renderInstance } from '@keelson/runtime';
import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { upstreamCrds } from '../../testing/stage.ts';
import { type PolicyName, policyNames } from './catalogue.ts';
import { kyverno } from './feature.ts';
import type { ValidatingPolicy } from './kinds.ts';

type Fields = Record<string, unknown>;

const policiesIn = (mode: string) =>
  renderInstance(createSecurityOperator([kyverno]), agentOf([{ name: 'kyverno', config: { mode } }])).objects.filter(
    ({ kind }) => kind === 'ValidatingPolicy',
  ) as ValidatingPolicy[];
/** Those that refuse. */
const policies = policiesIn('Enforce');

let env: TestEnv;

beforeAll(async () => {
  env = await startTestEnv({ crds: await upstreamCrds('kyverno') });
  // Each policy rules a namespace of its own name, so that the others have no say there.
  for (const name of policyNames) {
    await env.createNamespace(name);
    await create(name, { ...bad[name], finalizers: ['example.com/held'] }, 'held');
    await env.adminRequest('DELETE', `/api/v1/namespaces/${name}/pods/held`);
  }
  await Promise.all(policyNames.map(rule));
});
afterAll(() => env.stop());

test.each([...policies, ...policiesIn('Audit')])(
  '$metadata.name is taken by the CRD of Kyverno, strictly',
  async (policy) => {
    const path = '/apis/policies.kyverno.io/v1/validatingpolicies?dryRun=All&fieldValidation=Strict';

    await expect(env.adminRequest('POST', path, policy)).resolves.toMatchObject({ spec: policy.spec });
  },
);

const secure = { privileged: false, allowPrivilegeEscalation: false, runAsNonRoot: true };
const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } };
const fine = { name: 'a', image: 'example.com/a:1', securityContext: secure, resources };

const container = (fields: Fields) => ({ containers: [{ ...fine, ...fields }] });
const context = (fields: Fields) => container({ securityContext: { ...secure, ...fields } });
const withInit = (fields: Fields) => ({ containers: [fine], initContainers: [{ ...fine, name: 'i', ...fields }] });

/** For each policy a pod that it is there to prevent. */
const bad: Record<PolicyName, Fields> = {
  'disallow-privileged': context({ privileged: true, allowPrivilegeEscalation: true }),
  'disallow-host-namespaces': { ...container({}), hostPID: true },
  'disallow-host-path': { ...container({}), volumes: [{ name: 'v', hostPath: { path: '/' } }] },
  'disallow-capabilities': context({ capabilities: { add: ['NET_BIND_SERVICE', 'SYS_ADMIN'] } }),
  'disallow-privilege-escalation': context({ allowPrivilegeEscalation: true }),
  'require-non-root': context({ runAsNonRoot: false }),
  'disallow-latest-tag': container({ image: 'example.com/a:latest' }),
  'require-resources': container({ resources: {} }),
};

describe.each(policyNames)('%s', (name) => {
  test('lets a careful pod pass', async () => {
    await expect(create(name, container({}))).resolves.toBeDefined();
  });

  test('refuses what it is there to prevent, and says what to do', async () => {
    await expect(create(name, bad[name])).rejects.toThrow(/must|needs/);
  });

  test('does not hold up what is on its way out', async () => {
    const free = env.adminRequest(
      'PATCH',
      `/api/v1/namespaces/${name}/pods/held`,
      { metadata: { finalizers: null } },
      {
        contentType: 'application/merge-patch+json',
      },
    );

    await expect(free).resolves.toBeDefined();
  });
});

const otherBad: readonly (readonly [PolicyName, string, Fields])[] = [
  ['disallow-privileged', 'an init container', withInit({ securityContext: { privileged: true } })],
  ['disallow-host-namespaces', 'the network', { ...container({}), hostNetwork: true }],
  ['disallow-host-namespaces', 'IPC', { ...container({}), hostIPC: true }],
  [
    'disallow-capabilities',
    'an init container',
    withInit({ securityContext: { capabilities: { add: ['SYS_PTRACE'] } } }),
  ],
  ['disallow-privilege-escalation', 'nothing said', container({ securityContext: {} })],
  ['require-non-root', 'nothing said', container({ securityContext: {} })],
  ['require-non-root', 'user 0', context({ runAsUser: 0 })],
  ['require-non-root', 'user 0 by the pod', { ...container({}), securityContext: { runAsUser: 0 } }],
  ['disallow-latest-tag', 'no tag', container({ image: 'example.com/a' })],
  ['disallow-latest-tag', 'no tag but a port', container({ image: 'example.com:5000/a' })],
  ['require-resources', 'no limit', container({ resources: { requests: resources.requests } })],
  ['require-resources', 'an init container', withInit({ resources: {} })],
];

test.each(otherBad)('%s refuses: %s', async (name, _, spec) => {
  await expect(create(name, spec)).rejects.toThrow(/denied request/);
});

const otherGood: readonly (readonly [PolicyName, string, Fields])[] = [
  ['disallow-privileged', 'nothing said', container({ securityContext: {} })],
  ['disallow-host-path', 'other volumes', { ...container({}), volumes: [{ name: 'v', emptyDir: {} }] }],
  ['disallow-capabilities', 'what is there anyway', context({ capabilities: { add: ['CHOWN'], drop: ['ALL'] } })],
  [
    'require-non-root',
    'by the pod',
    { ...container({ securityContext: {} }), securityContext: { runAsNonRoot: true } },
  ],
  ['disallow-latest-tag', 'a digest', container({ image: `example.com/a@sha256:${'0'.repeat(64)}` })],
  ['disallow-latest-tag', 'a port and a tag', container({ image: 'example.com:5000/a:1' })],
];

test.each(otherGood)('%s lets pass: %s', async (name, _, spec) => {
  await expect(create(name, spec)).resolves.toBeDefined();
});

const debuggers: readonly (readonly [PolicyName, Fields])[] = [
  ['disallow-privileged', { securityContext: { ...secure, privileged: true, allowPrivilegeEscalation: true } }],
  ['disallow-capabilities', { securityContext: { ...secure, capabilities: { add: ['SYS_ADMIN'] } } }],
  ['disallow-privilege-escalation', { securityContext: { ...secure, allowPrivilegeEscalation: true } }],
  ['require-non-root', { securityContext: { ...secure, runAsNonRoot: false } }],
  ['disallow-latest-tag', { image: 'example.com/debug:latest' }],
];

test.each(debuggers)('%s refuses a container that is added to a running pod', async (name, fields) => {
  await create(name, container({}), 'running');
  const add = (ephemeral: Fields) =>
    env.adminRequest(
      'PATCH',
      `/api/v1/namespaces/${name}/pods/running/ephemeralcontainers?dryRun=All`,
      { spec: { ephemeralContainers: [{ name: 'debugger', ...ephemeral }] } },
      { contentType: 'application/strategic-merge-patch+json' },
    );
  const { resources: _, ...careful } = { ...fine, name: 'debugger' };

  await expect(add(careful)).resolves.toBeDefined();
  await expect(add({ ...careful, ...fields })).rejects.toThrow(/denied request/);
});

/** As Kyverno would evaluate it, in the namespace of the same name only; waits until the server does. */
async function rule(name: PolicyName): Promise<void> {
  const policy = policies.find(({ metadata }) => metadata.name.startsWith(`${name}.`));
  if (policy === undefined) throw new Error(`no policy ${name}`);
  const { matchConstraints, variables, validations } = policy.spec;
  const group = '/apis/admissionregistration.k8s.io/v1';
  const object = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name } };
  await env.adminRequest('POST', `${group}/validatingadmissionpolicies`, {
    ...object,
    kind: 'ValidatingAdmissionPolicy',
    spec: { failurePolicy: 'Fail', matchConstraints, variables, validations },
  });
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': name } };
  await env.adminRequest('POST', `${group}/validatingadmissionpolicybindings`, {
    ...object,
    kind: 'ValidatingAdmissionPolicyBinding',
    spec: { policyName: name, validationActions: ['Deny'], matchResources: { namespaceSelector } },
  });
  await vi.waitFor(() => expect(create(name, bad[name])).rejects.toThrow(/denied request/), { timeout: 60_000 });
}

async function create(namespace: string, { finalizers, ...spec }: Fields, stored?: string): Promise<unknown> {
  const metadata = { name: stored ?? 'tried', ...(finalizers === undefined ? {} : { finalizers }) };
  const path = `/api/v1/namespaces/${namespace}/pods${stored === undefined ? '?dryRun=All' : ''}`;
  try {
    return await env.adminRequest('POST', path, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  } catch (error) {
    // A pod that the server finds wrong for other reasons would prove nothing.
    if (isApiError(error) && !error.message.includes('denied request'))
      throw new TypeError(`bad test: ${error.message}`);
    throw error;
  }
}
