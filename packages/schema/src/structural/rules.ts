/**
 * Checks on CEL rules that need no CEL compiler: that the fields they speak of exist. The API server compiles rules when the
 * CRD is applied; a misspelt field should fail earlier, where the rule is written.
 */
import { fail, type Place, type Rule, type StructuralSchema } from './schema.ts';

const rootFields: Readonly<Record<string, StructuralSchema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
};

/** Refuses rules that cannot hold at this schema. */
export function checkRules(schema: StructuralSchema, rules: readonly Rule[], place: Place): void {
  const self = place.path === '' ? { ...schema, properties: { ...schema.properties, ...rootFields } } : schema;
  for (const rule of rules) {
    if (rule.rule.trim() === '') fail(place, 'a rule is empty', 'Write a CEL expression about self');
    const at = `the rule ${quote(rule.rule)}`;
    if (rule.message.trim() === '' || /[\r\n]/.test(rule.message)) {
      fail(place, `${at} has no message of one line`, 'Say in one line what the user must change');
    }
    const expression = withoutStrings(rule.rule);
    const usesOldSelf = /\boldSelf\b/.test(expression);
    if (usesOldSelf && !place.correlatable) {
      fail(
        place,
        `${at} uses oldSelf inside a list or map whose entries cannot be matched with their old selves`,
        'Make every list above it a listMap, or move the rule above the list',
      );
    }
    if (rule.optionalOldSelf !== undefined && !usesOldSelf)
      fail(place, `${at} sets optionalOldSelf but does not use oldSelf`, 'Leave optionalOldSelf out');
    for (const chain of memberChains(expression)) {
      const missing = firstMissing(self, chain);
      if (missing !== undefined) {
        fail(
          place,
          `${at} speaks of ${chain.root}.${missing}, which is not in the schema`,
          'Correct the name, or add the field',
        );
      }
    }
    if (rule.fieldPath !== undefined && !isFieldPath(self, rule.fieldPath)) {
      fail(
        place,
        `${at} blames the field ${rule.fieldPath}, which is not in the schema`,
        "Write it relative to the rule's own place, for example .replicas",
      );
    }
  }
}

interface Chain {
  readonly root: string;
  readonly members: readonly string[];
}

/** `self.a.b.size()` → a, b. A member that is called is a CEL function, not a field. */
function memberChains(expression: string): Chain[] {
  const chains: Chain[] = [];
  for (const match of expression.matchAll(/(?<![\w.])(self|oldSelf)((?:\s*\.\s*\??\s*[A-Za-z_]\w*)+)(\s*\()?/g)) {
    const members = (match[2] ?? '').split('.').map((member) => unescapeMember(member.replace(/[\s?]/g, '')));
    chains.push({
      root: match[1] ?? 'self',
      members: match[3] === undefined ? members.slice(1) : members.slice(1, -1),
    });
  }
  return chains;
}

function firstMissing(schema: StructuralSchema, chain: Chain): string | undefined {
  let at: StructuralSchema | undefined = schema;
  const seen: string[] = [];
  for (const member of chain.members) {
    // Maps, free-form values and optionals take any member; lists are reached through macros that name their own variable.
    if (at?.properties === undefined || at['x-kubernetes-preserve-unknown-fields'] === true) return undefined;
    seen.push(member);
    at = Object.hasOwn(at.properties, member) ? at.properties[member] : undefined;
    if (at === undefined) return seen.join('.');
  }
  return undefined;
}

function isFieldPath(schema: StructuralSchema, path: string): boolean {
  const parts = path.match(/\.[^.[\]]+|\['(?:[^'\\]|\\.)+'\]/g);
  if (parts === null || parts.join('') !== path) return false;
  let at: StructuralSchema | undefined = schema;
  for (const part of parts) {
    const name: string = part.startsWith('.') ? part.slice(1) : part.slice(2, -2).replace(/\\(.)/g, '$1');
    at =
      at?.properties === undefined
        ? at?.additionalProperties
        : Object.hasOwn(at.properties, name)
          ? at.properties[name]
          : undefined;
    if (at === undefined) return false;
  }
  return true;
}

/** CEL string literals may hold anything, also text that looks like a field. */
function withoutStrings(expression: string): string {
  return expression.replace(/[rR]?('''[\s\S]*?'''|"""[\s\S]*?"""|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")/g, "''");
}

const reserved =
  'true|false|null|in|as|break|const|continue|else|for|function|if|import|let|loop|package|namespace|return';

/** A field name as CEL writes it (Kubernetes docs, "Validation rules": escaping). */
export function escapeMember(name: string): string {
  if (new RegExp(`^(${reserved})$`).test(name)) return `__${name}__`;
  return name
    .replace(/__/g, '__underscores__')
    .replace(/\./g, '__dot__')
    .replace(/-/g, '__dash__')
    .replace(/\//g, '__slash__');
}

/** The field name behind a CEL identifier. */
export function unescapeMember(name: string): string {
  const keyword = new RegExp(`^__(${reserved})__$`).exec(name)?.[1];
  const signs: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' };
  return keyword ?? name.replace(/__(underscores|dot|dash|slash)__/g, (_, word: string) => signs[word] ?? '');
}

function quote(rule: string): string {
  return `'${rule.length > 60 ? `${rule.slice(0, 57)}…` : rule}'`;
}
