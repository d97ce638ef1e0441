/** Tetragon's policies as a kind. They belong to the whole cluster: every Tetragon loads every one of them. */
import { hash } from 'node:crypto';
import { defineKind, type KubeObject } from '@keelson/schema';
import type { FeatureContext } from '../../feature.ts';

export interface TracingPolicy extends KubeObject {
  readonly spec: object;
}

export const TracingPolicy = defineKind<TracingPolicy>({
  group: 'cilium.io',
  version: 'v1alpha1',
  kind: 'TracingPolicy',
  plural: 'tracingpolicies',
  scope: 'Cluster',
});

/** We make none; the agent follows them, and does not start without the kind. */
export const TracingPolicyNamespaced = defineKind({
  group: 'cilium.io',
  version: 'v1alpha1',
  kind: 'TracingPolicyNamespaced',
  plural: 'tracingpoliciesnamespaced',
  scope: 'Namespaced',
});

/**
 * The name of a policy of this agent. Tetragon makes a folder of this name in the BPF file system, which refuses dots: a policy with
 * one in its name is never loaded. Without dots names could meet, so a hash tells them apart.
 */
export function policyName(name: string, context: Pick<FeatureContext, 'scopedName'>): string {
  const scoped = context.scopedName(name);
  return `${scoped.replaceAll('.', '-').slice(0, 200)}-${hash('sha256', scoped, 'hex').slice(0, 8)}`;
}
