/** ServiceAccount, roles and bindings out of grants. */
import { manifest } from '../kind.ts';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding, ServiceAccount } from '../kinds.ts';
import type { KubeObject } from '../object.ts';
import { type Grant, type MergedRule, mergeGrants } from './grant.ts';

/** Annotation of a generated role: a line a rule, with the reasons for it. */
export const whyAnnotation = 'keelson.io/why';

export interface RbacOptions {
  /** Name of the roles and bindings. */
  readonly name: string;
  /** Where the operator runs. */
  readonly namespace: string;
  /** Name of its ServiceAccount; default `name`. */
  readonly serviceAccount?: string;
  /** Confines grants on namespaced kinds to these namespaces, instead of the whole cluster. */
  readonly namespaces?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Rbac {
  readonly serviceAccount: ServiceAccount;
  /** Absent when nothing is granted across the cluster. */
  readonly clusterRole?: ClusterRole;
  readonly clusterRoleBinding?: ClusterRoleBinding;
  /** One a namespace. */
  readonly roles: readonly Role[];
  readonly roleBindings: readonly RoleBinding[];
  /** All of them, in the order in which they are applied. */
  readonly objects: readonly KubeObject[];
}

/** The RBAC objects that give a ServiceAccount exactly what the grants ask for. */
export function toRbac(grants: readonly Grant[], options: RbacOptions): Rbac {
  const { name, namespace, serviceAccount = name } = options;
  const labels = options.labels === undefined ? {} : { labels: { ...options.labels } };
  const subjects = [{ kind: 'ServiceAccount', name: serviceAccount, namespace }];
  const roleRef = (kind: string): RoleBinding['roleRef'] => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  const account = manifest(ServiceAccount, { name: serviceAccount, namespace, ...labels }, {});
  const rules = mergeGrants(grants.flatMap((grant) => confine(grant, options.namespaces)));
  const wide = rules.filter((rule) => rule.namespace === '');
  const roles: Role[] = [];
  const roleBindings: RoleBinding[] = [];
  for (const place of new Set(rules.filter((rule) => rule.namespace !== '').map((rule) => rule.namespace))) {
    const own = rules.filter((rule) => rule.namespace === place);
    roles.push(
      manifest(
        Role,
        { name, namespace: place, ...labels, annotations: { [whyAnnotation]: whyOf(own) } },
        { rules: own.map(toPolicyRule) },
      ),
    );
    roleBindings.push(
      manifest(RoleBinding, { name, namespace: place, ...labels }, { roleRef: roleRef('Role'), subjects }),
    );
  }
  if (wide.length === 0)
    return { serviceAccount: account, roles, roleBindings, objects: [account, ...roles, ...roleBindings] };
  const clusterRole = manifest(
    ClusterRole,
    { name, ...labels, annotations: { [whyAnnotation]: whyOf(wide) } },
    { rules: wide.map(toPolicyRule) },
  );
  const clusterRoleBinding = manifest(
    ClusterRoleBinding,
    { name, ...labels },
    { roleRef: roleRef('ClusterRole'), subjects },
  );
  return {
    serviceAccount: account,
    clusterRole,
    clusterRoleBinding,
    roles,
    roleBindings,
    objects: [account, clusterRole, ...roles, clusterRoleBinding, ...roleBindings],
  };
}

/** A grant on a namespaced kind, once for each namespace that the operator is confined to. */
function confine(grant: Grant, namespaces: readonly string[] | undefined): readonly Grant[] {
  if (namespaces === undefined || grant.namespace !== undefined || grant.kind.scope !== 'Namespaced') return [grant];
  return namespaces.map((namespace) => ({ ...grant, namespace }));
}

function toPolicyRule(rule: MergedRule): NonNullable<ClusterRole['rules']>[number] {
  return {
    apiGroups: [rule.group],
    resources: [...rule.resources],
    ...(rule.names.length > 0 ? { resourceNames: [...rule.names] } : {}),
    verbs: [...rule.verbs],
  };
}

function whyOf(rules: readonly MergedRule[]): string {
  return rules
    .map(
      (rule) =>
        `${rule.resources.join(', ')}${rule.group === '' ? '' : ` (${rule.group})`} [${rule.verbs.join(' ')}]: ${rule.why.join('; ')}`,
    )
    .join('\n');
}
