/** Finds an operator by any word that people use for it. */
import type { Operator } from '@keelson/runtime';
import { apiVersionOf, closest, type KubeObject } from '@keelson/schema';
import { failure } from '../failure.ts';

/** By operator name, kind, plural, singular or short name; a failure lists what there is. */
export function operatorOf(word: string, operators: readonly Operator[]): Operator {
  const lower = word.toLowerCase();
  const found = operators.find(({ name, resource }) =>
    [
      name,
      resource.kind,
      resource.plural,
      resource.singular,
      `${resource.plural}.${resource.group}`,
      ...resource.shortNames,
    ].some((known) => known.toLowerCase() === lower),
  );
  if (found !== undefined) return found;
  const known = operators.map(({ resource }) => resource.kind.toLowerCase());
  const meant = closest(word, known);
  throw failure(
    'usage',
    `no operator or kind '${word}'`,
    `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${known.join(', ')}`,
  );
}

/** The operator of an object; a failure says where the object stands and lists the kinds that are known. */
export function operatorFor(object: KubeObject, operators: readonly Operator[], place: string): Operator {
  const found = operators.find(
    ({ resource }) =>
      resource.kind === object.kind &&
      resource.versions.some(({ name }) => `${resource.group}/${name}` === object.apiVersion),
  );
  if (found !== undefined) return found;
  const known = operators.flatMap(({ resource }) =>
    resource.versions.map(({ name }) => `${resource.kind} (${apiVersionOf({ group: resource.group, version: name })})`),
  );
  throw failure(
    'usage',
    `${place}: no operator for ${object.kind} (${object.apiVersion})`,
    `known kinds: ${known.join(', ')}; choose another project with --config`,
  );
}
