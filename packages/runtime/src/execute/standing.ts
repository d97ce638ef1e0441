/** What stands on what: an object in a namespace on the namespace, a custom resource on its definition. Pure. */
import { resourceNameOf } from '@keelson/schema';
import type { ChangeStep, CreateStep } from '../plan/plan.ts';

type Write = CreateStep | ChangeStep;

/** The one among these steps, none of which was carried out, without which this step cannot be; undefined when there is none. */
export function foundationOf(step: Write, undone: readonly Write[]): Write | undefined {
  return undone.find((other) => isNamespaceOf(other, step) || isDefinitionOf(other, step));
}

/** A namespace that is there and could not be changed holds what it held before. */
function isNamespaceOf({ action, kind, object }: Write, step: Write): boolean {
  return (
    action === 'create' &&
    kind.group === '' &&
    kind.kind === 'Namespace' &&
    object.metadata.name === step.object.metadata.namespace
  );
}

function isDefinitionOf({ kind, object }: Write, step: Write): boolean {
  const isDefinition = kind.group === 'apiextensions.k8s.io' && kind.kind === 'CustomResourceDefinition';
  return isDefinition && object.metadata.name === resourceNameOf(step.kind);
}
