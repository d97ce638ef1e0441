/**
 * What `status` shows, as data: every instance of every operator with its readiness and what it owns. Reads only, one list a
 * kind, however many instances there are.
 */
import type { KubeClient } from '@keelson/kube';
import { engineConditions, marks, type Operator, operatorSelector } from '@keelson/runtime';
import { type Condition, type Kind, type KubeObject, resourceNameOf } from '@keelson/schema';
import { isAnyFault } from '../cluster/fault-to-failure.ts';

export interface Child {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly created?: string;
  readonly deleting: boolean;
}

export interface InstanceReport {
  readonly operator: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly ready: Condition['status'];
  readonly reason: string;
  readonly message: string;
  readonly created?: string;
  readonly conditions: readonly Condition[];
  readonly children: readonly Child[];
  readonly object: KubeObject;
}

export interface StatusReport {
  readonly instances: readonly InstanceReport[];
  /** Kinds whose CRD the cluster does not have. */
  readonly missing: readonly Kind[];
  /** Kinds of children that the user may not list: those are not counted. */
  readonly hidden: readonly Kind[];
}

/** The state of all operators' instances, in one namespace or in all. */
export async function gatherStatus(
  client: KubeClient,
  operators: readonly Operator[],
  namespace: string | undefined,
): Promise<StatusReport> {
  const instances: InstanceReport[] = [];
  const missing: Kind[] = [];
  const hidden = new Set<Kind>();
  for (const operator of operators) {
    const objects = await listOrMissing(client, operator.resource as Kind, namespace);
    if (objects === undefined) missing.push(operator.resource);
    if (objects === undefined || objects.length === 0) continue;
    const children = await childrenByOwner(client, operator, namespace, (kind) => hidden.add(kind));
    instances.push(
      ...objects.map((object) => toReport(operator, object, children.get(object.metadata.uid ?? '') ?? [])),
    );
  }
  return { instances, missing, hidden: [...hidden] };
}

async function listOrMissing(
  client: KubeClient,
  kind: Kind,
  namespace: string | undefined,
): Promise<KubeObject[] | undefined> {
  try {
    return (await client.listAll(kind, namespace === undefined ? {} : { namespace })).items;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The cluster does not know the kind: an operator may own kinds of software that is not installed. */
function isMissing(error: unknown): boolean {
  return isAnyFault(error) && (error.code === 'KindNotServed' || error.code === 'NotFound');
}

async function childrenByOwner(
  client: KubeClient,
  operator: Operator,
  namespace: string | undefined,
  onHidden: (kind: Kind) => void,
): Promise<Map<string, Child[]>> {
  const byOwner = new Map<string, Child[]>();
  for (const { kind, anywhere } of operator.owns) {
    const everywhere = namespace === undefined || anywhere === true || kind.scope === 'Cluster';
    const selection = {
      labelSelector: operatorSelector(operator.fieldManager),
      metadataOnly: true,
      ...(everywhere ? {} : { namespace }),
    };
    const { items } = await client.listAll(kind, selection).catch((error: unknown) => {
      if (isMissing(error)) return { items: [] };
      // Whoever may look at instances need not be allowed to look at all that they own.
      if (!isAnyFault(error) || error.code !== 'Forbidden') throw error;
      onHidden(kind);
      return { items: [] };
    });
    for (const { metadata } of items) {
      const uid = metadata.labels?.[marks.ownerUid];
      if (uid === undefined) continue;
      const siblings = byOwner.get(uid) ?? [];
      byOwner.set(uid, siblings);
      siblings.push({
        kind: kind.kind,
        name: metadata.name,
        deleting: metadata.deletionTimestamp !== undefined,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        ...(metadata.creationTimestamp === undefined ? {} : { created: metadata.creationTimestamp }),
      });
    }
  }
  return byOwner;
}

function toReport(operator: Operator, object: KubeObject, children: Child[]): InstanceReport {
  const { metadata } = object;
  const status = object.status as { observedGeneration?: number; conditions?: Condition[] } | undefined;
  return {
    operator: operator.name,
    kind: object.kind,
    name: metadata.name,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    ...(metadata.creationTimestamp === undefined ? {} : { created: metadata.creationTimestamp }),
    ...readiness(object, status, children.length),
    conditions: status?.conditions ?? [],
    children,
    object,
  };
}

/** The Ready condition, unless it speaks of an older generation: then nobody knows yet. */
function readiness(
  object: KubeObject,
  status: { observedGeneration?: number; conditions?: Condition[] } | undefined,
  children: number,
): Pick<InstanceReport, 'ready' | 'reason' | 'message'> {
  const { generation, deletionTimestamp } = object.metadata;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (deletionTimestamp !== undefined) {
    return {
      ready: 'False',
      reason: 'Deleting',
      message: ready?.message ?? `being deleted since ${deletionTimestamp}`,
    };
  }
  if (ready === undefined) {
    return children === 0
      ? { ready: 'Unknown', reason: 'NotObserved', message: 'no operator has looked at it yet: is one running?' }
      : { ready: 'Unknown', reason: 'InProgress', message: 'an operator is making what it needs' };
  }
  const seen = ready.observedGeneration ?? status?.observedGeneration;
  if (generation !== undefined && seen !== undefined && seen < generation) {
    return {
      ready: 'Unknown',
      reason: 'Outdated',
      message: `the operator has seen generation ${seen}, the spec is at ${generation}`,
    };
  }
  return { ready: ready.status, reason: ready.reason, message: ready.message };
}

/** For messages about kinds that are not installed. */
export function namesOf(kinds: readonly Kind[]): string {
  return kinds.map(resourceNameOf).join(', ');
}

/** What the operator itself says, beside what the engine says of every instance. */
export function ownConditions({ conditions }: InstanceReport): readonly Condition[] {
  const engine: readonly string[] = Object.values(engineConditions);
  return conditions.filter(({ type }) => !engine.includes(type));
}
