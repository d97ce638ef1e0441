/** Judgements: conditions on an object (allOf, anyOf, oneOf, not) that define nothing. The API server calls them value validations. */
import { toPattern } from './pattern.ts';
import { carry, childPath, fail, type Node, type Place, type StructuralSchema } from './schema.ts';

/** allOf, anyOf, oneOf and not beside the fields of an object: conditions on it, which may name fields but not define any. */
export function rewriteJudgements(node: Node, place: Place): StructuralSchema {
  const judge = (branch: unknown): StructuralSchema => rewriteJudgement(branch, place);
  return {
    ...(Array.isArray(node.allOf) ? { allOf: node.allOf.map(judge) } : {}),
    ...(Array.isArray(node.anyOf) ? { anyOf: node.anyOf.map(judge) } : {}),
    ...(Array.isArray(node.oneOf) ? { oneOf: node.oneOf.map(judge) } : {}),
    ...(node.not === undefined ? {} : { not: judge(node.not) }),
  };
}

function rewriteJudgement(branch: unknown, place: Place): StructuralSchema {
  const node = branch as Node;
  const known = [
    'required',
    'properties',
    'enum',
    'const',
    'pattern',
    'minLength',
    'maxLength',
    'minimum',
    'maximum',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'allOf',
    'anyOf',
    'oneOf',
    'not',
  ];
  const foreign = Object.keys(node).find((keyword) => !known.includes(keyword));
  if (foreign !== undefined) {
    fail(
      place,
      `a condition (allOf, anyOf, oneOf, not) cannot hold '${foreign}'`,
      'Define the fields on the object itself and let the condition speak of required, enum and the like only; or write a rule',
    );
  }
  const properties = Object.entries((node.properties ?? {}) as Node).map(
    ([name, field]) => [name, rewriteJudgement(field, { ...place, path: childPath(place.path, name) })] as const,
  );
  return {
    ...carry(node, [
      'required',
      'enum',
      'minLength',
      'maxLength',
      'minimum',
      'maximum',
      'minItems',
      'maxItems',
      'minProperties',
      'maxProperties',
    ]),
    ...('const' in node ? { enum: [node.const] } : {}),
    ...(node.pattern === undefined ? {} : { pattern: toPattern(node.pattern, place) }),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...rewriteJudgements(node, place),
  };
}
