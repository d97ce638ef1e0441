/**
 * The permissions of operators, out of what they declare: exactly what the engine uses, no more. `toRbac` of @keelson/schema makes
 * roles of them; the tests run every operator under those roles, so that a grant too few fails and a grant too many shows.
 */
import { Event, type Grant, type Kind, Lease, type Verb } from '@keelson/schema';
import { isReachable } from './marks.ts';
import type { Operator, Owned } from './operator.ts';

export interface PermissionOptions {
  /** The Lease by which replicas agree on a leader; without it there is no leader election. */
  readonly leaderElection?: { readonly namespace: string; readonly name: string };
}

/** Everything that a process with these operators may do. */
export function permissions(operators: readonly Operator[], options: PermissionOptions = {}): Grant[] {
  return [...operators.flatMap(grantsOf), ...eventGrants(operators), ...leaseGrants(options.leaderElection)];
}

function grantsOf(operator: Operator): Grant[] {
  const { resource, name } = operator;
  const own: Grant[] = [
    { kind: resource, verbs: ['list', 'watch'], why: `${name} follows its instances` },
    { kind: resource, verbs: ['patch'], why: `${name} holds an instance until what it made is cleaned up` },
    { kind: resource, subresource: 'status', verbs: ['patch'], why: `${name} tells how an instance does` },
  ];
  if (operator.expires === true)
    own.push({ kind: resource, verbs: ['delete'], why: `${name} ends instances whose time has come` });
  // A cluster that checks owner references asks for this right before it lets a child block its owner's deletion
  // (admission plugin OwnerReferencesPermissionEnforcement).
  if (operator.owns.some(({ kind }) => isReachable(ownerOf(resource), kind, 'any'))) {
    own.push({
      kind: resource,
      subresource: 'finalizers',
      verbs: ['update'],
      why: `${name} sets owner references that block deletion`,
    });
  }
  const owned = operator.owns.map((one) => grantOfOwned(one, name));
  const watched = operator.watches.map(({ kind, scope }): Grant => {
    const verbs: Verb[] = ['list', 'watch'];
    const grant = { kind, verbs, why: `${name} follows ${kind.plural} that its instances refer to` };
    return scope?.namespace === undefined ? grant : { ...grant, namespace: scope.namespace };
  });
  const read = operator.reads.map(
    ({ kind, names, namespace, why }): Grant => ({
      kind,
      verbs: ['get'],
      ...(names === undefined ? {} : { names }),
      ...(namespace === undefined ? {} : { namespace }),
      why: `${name} reads them: ${why}`,
    }),
  );
  return [...own, ...owned, ...watched, ...read, ...(operator.grants ?? [])];
}

function grantOfOwned({ kind, anywhere, names }: Owned, operator: string): Grant {
  const what = anywhere === true ? everywhere(kind) : kind;
  return {
    kind: what,
    // A name cannot be checked when an object is posted, but it can when it is applied, and nothing is posted.
    ...(names === undefined ? {} : { names }),
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: `${operator} makes and keeps ${kind.plural} for its instances`,
  };
}

function eventGrants(operators: readonly Operator[]): Grant[] {
  if (operators.length === 0) return [];
  return [{ kind: Event, verbs: ['create', 'patch'], why: 'tell in events what was done for an instance' }];
}

function leaseGrants(lease: PermissionOptions['leaderElection']): Grant[] {
  if (lease === undefined) return [];
  const { namespace, name } = lease;
  const why = 'agree with other replicas on who leads';
  return [
    // A name cannot be checked when an object is posted.
    { kind: Lease, namespace, verbs: ['create'], why },
    { kind: Lease, namespace, names: [name], verbs: ['get', 'update'], why },
  ];
}

/** Without its scope a kind is not confined to the namespaces that the operator is installed for. */
function everywhere(kind: Kind): Grant['kind'] {
  return { group: kind.group, plural: kind.plural };
}

function ownerOf(resource: Kind): { namespace?: string } {
  return resource.scope === 'Namespaced' ? { namespace: 'any' } : {};
}
