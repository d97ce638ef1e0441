/** Sorts what the user handed in: instances of our operators, and objects that those operators look at. */
import type { Operator, Problem } from '@keelson/runtime';
import { apiVersionOf, type Kind, type KubeObject } from '@keelson/schema';
import { operatorFor } from '../config/operator-of.ts';
import { type Failure, failure } from '../failure.ts';
import type { Manifest } from './manifests.ts';

export interface Sorted {
  readonly instances: readonly { readonly operator: Operator; readonly manifest: Manifest }[];
  /** Objects of kinds that an operator watches: what `reconcile` is to see as related. */
  readonly related: readonly { readonly kind: Kind; readonly object: KubeObject }[];
}

/** Everything else is an unknown kind, which is a failure that lists the known ones. */
export function sortManifests(manifests: readonly Manifest[], operators: readonly Operator[]): Sorted {
  const watched = operators.flatMap(({ watches }) => watches.map(({ kind }) => kind));
  const instances: Sorted['instances'][number][] = [];
  const related: Sorted['related'][number][] = [];
  for (const manifest of manifests) {
    const { object, place } = manifest;
    const kind = watched.find((one) => one.kind === object.kind && apiVersionOf(one) === object.apiVersion);
    if (kind !== undefined) related.push({ kind, object });
    else instances.push({ manifest, operator: operatorFor(object, operators, place) });
  }
  return { instances, related };
}

/** The failure for an instance that its schema or its operator's admission refuses: every path, one a line. */
export function invalidInstance({ object, place }: Manifest, problems: readonly Problem[]): Failure {
  const lines = problems.map(({ path, message }) => `\n  ${path === '' ? '' : `${path}: `}${message}`);
  const kind = object.kind.toLowerCase();
  return failure(
    'usage',
    `${place}: ${kind}/${object.metadata.name} is not valid:${lines.join('')}`,
    `correct these fields; \`keelson explain ${kind}\` lists what is allowed`,
  );
}

/** `website/front`: how an instance is called in messages. */
export function nameOf(object: KubeObject): string {
  return `${object.kind.toLowerCase()}/${object.metadata.name}`;
}
