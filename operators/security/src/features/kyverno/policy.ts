/** A rule of the catalogue as Kyverno takes it. */
import { hash } from 'node:crypto';
import { manifest } from '@keelson/schema';
import type { FeatureContext } from '../../feature.ts';
import { catalogue, type PolicyName, variables } from './catalogue.ts';
import type { Config } from './config.ts';
import { ValidatingPolicy } from './kinds.ts';

/** Never looked at: what runs there is not the user's. */
const systemNamespaces = ['kube-node-lease', 'kube-public', 'kube-system'];

/** The policy for this agent. Its own namespace is left out: the tools there need what policies forbid. */
export function policy(
  name: PolicyName,
  { mode, excludeNamespaces }: Config,
  context: FeatureContext,
): ValidatingPolicy {
  const { title, category, severity, description, expression, message } = catalogue[name];
  const excluded = [...new Set([...systemNamespaces, context.namespace, ...excludeNamespaces])].sort();
  const isEnforced = mode === 'Enforce';
  return manifest(
    ValidatingPolicy,
    {
      name: policyName(context.scopedName(name), name),
      annotations: {
        'policies.kyverno.io/title': title,
        'policies.kyverno.io/category': category,
        'policies.kyverno.io/severity': severity,
        'policies.kyverno.io/description': description,
      },
    },
    {
      spec: {
        validationActions: [isEnforced ? 'Deny' : 'Audit'],
        // A watcher must not stop the cluster when it is away; a guard must.
        failurePolicy: isEnforced ? 'Fail' : 'Ignore',
        evaluation: { admission: { enabled: true }, background: { enabled: true } },
        matchConstraints: {
          namespaceSelector: {
            matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: excluded }],
          },
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: resourcesOf(mode) },
          ],
        },
        variables,
        validations: [{ expression: `variables.isGoing || (${expression})`, message }],
      },
    },
  );
}

/**
 * Pods alone, and in one rule: so Kyverno (from 1.19) covers everything that makes pods by itself, and reports on it. A guard
 * must see more: containers are added to a running pod by a subresource, which no rule about pods matches. It needs no more than the pods.
 */
function resourcesOf(mode: Config['mode']): string[] {
  return mode === 'Enforce' ? ['pods', 'pods/ephemeralcontainers'] : ['pods'];
}

/** Kyverno writes the name of a policy into labels of its reports, which end at 63 characters; beyond that it could not report. */
function policyName(scoped: string, name: PolicyName): string {
  return scoped.length <= 63 ? scoped : `${name}.${hash('sha256', scoped, 'hex').slice(0, 16)}`;
}
