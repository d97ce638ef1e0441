/**
 * Makes what an operator decided into what is applied: kinds known, namespaces filled in, marks and owner reference put on,
 * and everything dropped that an apply must not carry. A decision that cannot be carried out is a bug in the operator and says so.
 */
import { apiVersionOf, type Kind, type KubeObject, resourceNameOf } from '@keelson/schema';
import { operatorBug } from '../bug.ts';
import { isReachable, marks, type Owner, ownerLabels, ownerReference, ownerText } from '../marks.ts';
import type { Owned } from '../operator.ts';
import { compareApplyOrder } from './order.ts';
import { withoutNulls } from './value.ts';

/** An object as it will be applied. */
export interface Wanted {
  readonly kind: Kind;
  readonly object: KubeObject;
  /** Garbage collection removes it with its owner; anything else needs the finalizer. */
  readonly reachable: boolean;
}

/** One name for one object of any kind: `deployments.apps/shop/web`. */
export function objectKey(
  kind: Kind,
  object: { readonly name: string; readonly namespace?: string | undefined },
): string {
  const place = kind.scope === 'Namespaced' ? `${object.namespace ?? ''}/` : '';
  return `${resourceNameOf(kind)}/${place}${object.name}`;
}

/** One object as people call it: `Deployment shop/web`. */
export function objectText(kind: Pick<Kind, 'kind'>, object: KubeObject): string {
  const { name, namespace } = object.metadata;
  return namespace === undefined ? `${kind.kind} ${name}` : `${kind.kind} ${namespace}/${name}`;
}

/** The objects of a decision, ready to be applied and in apply order. */
export function toWanted(
  operator: { readonly name: string; readonly owns: readonly Owned[] },
  owner: Owner,
  objects: readonly KubeObject[],
): Wanted[] {
  const seen = new Set<string>();
  const wanted = objects.map((object) => {
    const owned = ownedKind(operator, object);
    const one = prepare(operator.name, owned, owner, object);
    const key = objectKey(one.kind, one.object.metadata);
    if (seen.has(key)) {
      throw operatorBug(
        `operator ${operator.name} wants ${objectText(one.kind, one.object)} twice: merge the two into one object`,
      );
    }
    seen.add(key);
    return one;
  });
  return wanted.sort((a, b) => compareApplyOrder(placed(a), placed(b)));
}

function placed(wanted: Wanted) {
  return { kind: wanted.kind, name: wanted.object.metadata.name, namespace: wanted.object.metadata.namespace };
}

function ownedKind(operator: { readonly name: string; readonly owns: readonly Owned[] }, object: KubeObject): Owned {
  const owned = operator.owns.find(({ kind }) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion);
  if (owned !== undefined) return owned;
  throw operatorBug(
    `operator ${operator.name} wants a ${object.kind} (${object.apiVersion}) but does not own that kind: ` +
      `add it to owns, which now has ${operator.owns.map(({ kind }) => `${kind.kind} (${apiVersionOf(kind)})`).join(', ') || 'nothing'}`,
  );
}

function prepare(operatorName: string, { kind, anywhere, names }: Owned, owner: Owner, object: KubeObject): Wanted {
  const { apiVersion, kind: kindName, metadata, status: _, ...body } = withoutNulls(object) as KubeObject;
  const { name, labels, annotations, finalizers, ownerReferences = [] } = metadata ?? {};
  if (typeof name !== 'string' || name === '') {
    throw operatorBug(
      `operator ${operatorName} wants a ${kind.kind} without metadata.name: give it one that is derived from its owner's ` +
        'name (generateName would make another object on every run)',
    );
  }
  if (names?.includes(name) === false) {
    throw operatorBug(
      `operator ${operatorName} wants ${kind.kind} ${name}, but may write ${names.join(', ')} alone: add it to names in owns`,
    );
  }
  const namespace = kind.scope === 'Namespaced' ? (metadata.namespace ?? owner.namespace) : undefined;
  const text = namespace === undefined ? `${kind.kind} ${name}` : `${kind.kind} ${namespace}/${name}`;
  if (kind.scope === 'Namespaced' && namespace === undefined) {
    throw operatorBug(
      `operator ${operatorName} wants ${text} without a namespace: its owner ${ownerText(owner)} has none to inherit, set metadata.namespace`,
    );
  }
  if (owner.namespace !== undefined && namespace !== undefined && namespace !== owner.namespace && anywhere !== true) {
    throw operatorBug(
      `operator ${operatorName} wants ${text} outside the namespace of its owner ${ownerText(owner)}: ` +
        `declare it as { kind: ${kind.kind}, anywhere: true } in owns`,
    );
  }
  const reachable = isReachable(owner, kind, namespace);
  const references = [...ownerReferences, ...(reachable ? [ownerReference(owner)] : [])];
  return {
    kind,
    reachable,
    object: {
      apiVersion,
      kind: kindName,
      metadata: {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        labels: { ...labels, ...ownerLabels(owner) },
        annotations: { ...annotations, [marks.owner]: ownerText(owner) },
        ...(references.length === 0 ? {} : { ownerReferences: references }),
        ...(finalizers === undefined ? {} : { finalizers }),
      },
      ...(kind.group === '' && kind.kind === 'Secret' ? encodeSecret(body) : body),
    },
  };
}

/** The server never gives stringData back, so it is sent in the form in which it is stored: then it can be compared. */
function encodeSecret(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { stringData, ...rest } = body;
  if (stringData === undefined) return rest;
  const encoded = Object.entries(stringData as Record<string, string>).map(([key, text]) => [
    key,
    Buffer.from(text, 'utf8').toString('base64'),
  ]);
  return { ...rest, data: { ...(rest.data as Record<string, string> | undefined), ...Object.fromEntries(encoded) } };
}
