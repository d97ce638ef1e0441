import { createClient, loadConfig } from '@keelson/kube';
import { apply, defineOperator } from '@keelson/runtime';
import { defineKind, defineResource, Type, toCrd } from '@keelson/schema';
import { startTestEnv } from '@keelson/testenv';
import { describe, expect, it } from 'vitest';
import { gatherStatus } from './gather.ts';

const resource = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Guard',
  scope: 'Namespaced',
  description: 'A guard.',
  spec: Type.Object({}),
});
const Rule = defineKind({ group: 'other.io', version: 'v1', kind: 'Rule', plural: 'rules', scope: 'Cluster' });
const guards = defineOperator({
  name: 'guards',
  resource,
  owns: [{ kind: Rule }],
  reconcile: () => apply({ objects: [] }),
});

describe('gatherStatus', () => {
  it('given an operator that owns a kind of software that is not installed, when gathered, then its instances are told all the same', async () => {
    await using env = await startTestEnv({ crds: [toCrd(resource)] });
    const client = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
    await env.kubectl(['apply', '-f', '-'], {
      stdin: 'apiVersion: example.com/v1\nkind: Guard\nmetadata: {name: a, namespace: default}\nspec: {}\n',
    });
    const report = await gatherStatus(client, [guards], undefined);
    await client.close();
    expect(report).toMatchObject({
      instances: [{ name: 'a', ready: 'Unknown', reason: 'NotObserved', children: [] }],
      missing: [],
      hidden: [],
    });
  });
});
