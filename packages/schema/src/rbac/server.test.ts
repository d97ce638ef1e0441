import { isApiError, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigMap, Secret } from '../kinds.ts';
import { toRbac } from './rbac.ts';

let env: TestEnv;
let namespace: string;
let kubeconfig: string;

beforeAll(async () => {
  env = await startTestEnv();
  namespace = await env.createNamespace();
  const rbac = toRbac(
    [
      {
        kind: Secret,
        verbs: ['get', 'list', 'watch', 'create', 'patch'],
        names: ['certificate'],
        namespace,
        why: 'keeps its certificate',
      },
      { kind: ConfigMap, verbs: ['get', 'list'], why: 'reads settings' },
    ],
    { name: 'operator', namespace },
  );
  for (const object of rbac.objects) await env.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
  kubeconfig = await env.kubeconfigFor({ serviceAccount: { namespace, name: 'operator' } });
});

afterAll(async () => {
  await env?.stop();
});

/** What kubectl says under the generated ServiceAccount. */
async function kubectl(args: readonly string[], object?: object): Promise<string> {
  return env
    .kubectl([...args, '-n', namespace], {
      kubeconfig,
      ...(object === undefined ? {} : { stdin: JSON.stringify(object) }),
    })
    .then(
      (output) => output.trim(),
      (error: Error) => error.message,
    );
}

const secret = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData: { key: 'value' },
});

describe('under its generated ServiceAccount', () => {
  test('a Secret that is granted by name can be made by server-side apply, not by posting it', async () => {
    expect(await kubectl(['create', '-f', '-'], secret('certificate'))).toMatch(/cannot create resource "secrets"/);
    expect(await kubectl(['apply', '--server-side', '-f', '-'], secret('certificate'))).toBe(
      'secret/certificate serverside-applied',
    );
  });

  test('it is read by name, and listed with a selector for its name', async () => {
    await kubectl(['apply', '--server-side', '-f', '-'], secret('certificate'));

    expect(await kubectl(['get', 'secret', 'certificate', '-o', 'name'])).toBe('secret/certificate');
    expect(await kubectl(['get', 'secrets', '-o', 'name', '--field-selector', 'metadata.name=certificate'])).toBe(
      'secret/certificate',
    );
  });

  test('no other Secret is within reach', async () => {
    expect(await kubectl(['get', 'secret', 'other'])).toMatch(/cannot get resource "secrets"/);
    expect(await kubectl(['get', 'secrets'])).toMatch(/cannot list resource "secrets"/);
    expect(await kubectl(['apply', '--server-side', '-f', '-'], secret('other'))).toMatch(
      /cannot (patch|get|create) resource "secrets"/,
    );
  });

  test('what is granted across the cluster works in every namespace, and only with its verbs', async () => {
    expect(await kubectl(['get', 'configmaps', '-A', '-o', 'name'])).toContain('configmap/');
    expect(await kubectl(['create', 'configmap', 'new'])).toMatch(/cannot create resource "configmaps"/);
    await expect(env.adminRequest('GET', `/api/v1/namespaces/${namespace}/configmaps/new`)).rejects.toSatisfy((error) =>
      isApiError(error, 404),
    );
  });
});
