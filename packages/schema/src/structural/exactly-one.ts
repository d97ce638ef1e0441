/**
 * "Exactly one of these fields": the one rule that both sides evaluate. It is CEL on the server, where its message reaches the user
 * (oneOf would say nothing that a person understands), and it is recognised by its text offline.
 */

import { escapeMember, unescapeMember } from './rules.ts';
import type { Rule, StructuralSchema } from './schema.ts';

/** The rule that exactly one of the fields is set. */
export function exactlyOneRule(names: readonly string[]): Rule {
  const count = names.map((name) => `(has(self.${escapeMember(name)}) ? 1 : 0)`).join(' + ');
  return { rule: `${count} == 1`, message: `exactly one of ${names.join(', ')} must be set` };
}

/** The fields of every such rule on a schema. */
export function exactlyOneNames(schema: StructuralSchema): readonly (readonly string[])[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }) => {
    if (!/^\(has\(self\.\w+\) \? 1 : 0\)( \+ \(has\(self\.\w+\) \? 1 : 0\))* == 1$/.test(rule)) return [];
    return [[...rule.matchAll(/self\.(\w+)/g)].map((match) => unescapeMember(match[1] ?? ''))];
  });
}
