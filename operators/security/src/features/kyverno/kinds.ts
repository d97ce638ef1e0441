/** What Kyverno calls its own: the policies that we make, and the reports that it answers with. */
import { type Condition, defineKind, type KubeObject } from '@keelson/schema';

/** A policy in CEL over resources of any namespace (https://kyverno.io/docs/policy-types/validating-policy). */
export interface ValidatingPolicy extends KubeObject {
  readonly spec: {
    readonly validationActions: readonly ('Audit' | 'Deny' | 'Warn')[];
    readonly failurePolicy: 'Ignore' | 'Fail';
    readonly evaluation: {
      readonly admission: { readonly enabled: boolean };
      readonly background: { readonly enabled: boolean };
    };
    readonly matchConstraints: {
      readonly namespaceSelector: {
        readonly matchExpressions: readonly {
          readonly key: string;
          readonly operator: string;
          readonly values: string[];
        }[];
      };
      readonly resourceRules: readonly {
        readonly apiGroups: readonly string[];
        readonly apiVersions: readonly string[];
        readonly operations: readonly string[];
        readonly resources: readonly string[];
      }[];
    };
    readonly variables: readonly { readonly name: string; readonly expression: string }[];
    readonly validations: readonly { readonly expression: string; readonly message: string }[];
  };
  readonly status?: {
    readonly conditionStatus?: {
      readonly ready?: boolean;
      readonly message?: string;
      readonly conditions?: readonly Condition[];
    };
  };
}

/** ClusterPolicy (kyverno.io/v1) is deprecated in its favour since Kyverno 1.17, which also brought this version. */
export const ValidatingPolicy = defineKind<ValidatingPolicy>({
  group: 'policies.kyverno.io',
  version: 'v1',
  kind: 'ValidatingPolicy',
  plural: 'validatingpolicies',
  scope: 'Cluster',
});

/** Where Kyverno writes what it found. */
export const PolicyReport = defineKind({
  group: 'wgpolicyk8s.io',
  version: 'v1alpha2',
  kind: 'PolicyReport',
  plural: 'policyreports',
  scope: 'Namespaced',
});
