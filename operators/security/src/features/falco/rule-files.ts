/**
 * Files of rules that users bring. Falco refuses to start on a file that it cannot read, on every node at once: so all that can be
 * known without Falco is checked before.
 */
import type { Problem } from '@keelson/schema';
import { parseAllDocuments } from 'yaml';

export type RuleFiles = Readonly<Record<string, unknown>>;

/** A ConfigMap holds a mebibyte; names and labels need some of it. */
const ROOM = 1_000_000;

/** What an item of a file may be. */
const heads = ['rule', 'macro', 'list', 'required_engine_version', 'required_plugin_versions'];

/** Whether there are files of the user at all. */
export function hasRules({ rules = {} }: { readonly rules?: RuleFiles | undefined }): boolean {
  return Object.keys(rules).length > 0;
}

/** The files as Falco reads them: text as it was written, lists with an item a line, so that the lines of its errors count items. */
export function ruleTexts(files: RuleFiles): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, textOf(file)]));
}

function textOf(file: unknown): string {
  if (!Array.isArray(file)) return String(file);
  // JSON is YAML, and is made in no time: half a megabyte of rules is written at every look at an agent.
  return file.map((item) => `- ${JSON.stringify(item)}\n`).join('');
}

/** Everything that would keep Falco from reading these files, as far as it shows without Falco. */
export function checkRuleFiles(files: RuleFiles, path: string): readonly Problem[] {
  const problems = Object.entries(files).flatMap(([name, file]) =>
    checkFile(name, file).map(({ at, message }) => ({ path: `${path}[${JSON.stringify(name)}]${at}`, message })),
  );
  if (problems.length > 0) return problems;
  const size = Object.values(ruleTexts(files)).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return size <= ROOM ? [] : [{ path, message: `must not exceed ${ROOM} bytes together, got ${size}: leave some out` }];
}

interface Flaw {
  /** Below the file: `[3]`. */
  readonly at: string;
  readonly message: string;
}

function checkFile(name: string, file: unknown): readonly Flaw[] {
  // Falco passes over files with other endings in silence.
  if (!/^[A-Za-z0-9][-._A-Za-z0-9]{0,200}\.ya?ml$/.test(name))
    return [
      { at: '', message: "must be named like 'mine.yaml': letters, digits, '-', '_' and '.', ending in .yaml or .yml" },
    ];
  if (typeof file !== 'string') return checkItems(file);
  const [flaw, documents] = read(file);
  if (flaw !== undefined) return [flaw];
  return documents.length === 0 ? checkItems(undefined) : documents.flatMap(checkItems);
}

function read(text: string): [flaw: Flaw | undefined, documents: readonly unknown[]] {
  const documents = parseAllDocuments(text);
  if (!Array.isArray(documents)) return [undefined, []];
  for (const { errors } of documents) {
    const [error] = errors;
    // The first line says what and where; those after it show the place.
    if (error !== undefined) return [{ at: '', message: `is not YAML: ${error.message.split('\n', 1)[0]}` }, []];
  }
  try {
    return [undefined, documents.map((document) => document.toJS() as unknown)];
  } catch (error) {
    // Aliases that multiply without end.
    return [{ at: '', message: `is not YAML that can be read: ${(error as Error).message}` }, []];
  }
}

function checkItems(items: unknown): readonly Flaw[] {
  if (!Array.isArray(items) || items.length === 0)
    return [{ at: '', message: "must be a list of rules, macros and lists, e.g. '- macro: …'" }];
  return items.flatMap((item: unknown, index) => {
    const message = itemFlaw(item);
    return message === undefined ? [] : [{ at: `[${index}]`, message }];
  });
}

type Item = Readonly<Record<string, unknown>>;

/** What Falco demands of an item: userspace/engine/rule_loader_reader.cpp of its sources. What conditions mean is Falco's own affair. */
function itemFlaw(item: unknown): string | undefined {
  const head = typeof item === 'object' && item !== null ? heads.find((one) => Object.hasOwn(item, one)) : undefined;
  if (head === undefined) return `must be an object with one of ${heads.join(', ')}`;
  const fields = item as Item;
  if (head === 'list')
    return flawOfName(fields, head) ?? (Array.isArray(fields.items) ? undefined : 'a list needs items, a list');
  if (head === 'macro') return flawOfName(fields, head) ?? missing(fields, head, ['condition']);
  return head === 'rule' ? (flawOfName(fields, head) ?? ruleFlaw(fields)) : undefined;
}

function flawOfName(item: Item, head: string): string | undefined {
  return isText(item[head]) ? undefined : `the name of a ${head} must be a text`;
}

const required = ['condition', 'output', 'desc', 'priority'];
const priorities = 'emergency alert critical error warning notice informational info debug'.split(' ');

/** A rule is whole, or changes one that was there before: by `override`, by `append`, or by `enabled` alone. */
function ruleFlaw(rule: Item): string | undefined {
  const { override, priority } = rule;
  const isChange = (typeof override === 'object' && override !== null) || rule.append === true;
  const isSwitch = Object.hasOwn(rule, 'enabled') && required.every((name) => rule[name] === undefined);
  if (!isChange && !isSwitch) {
    const flaw = missing(rule, 'rule', required);
    if (flaw !== undefined) return `${flaw}; to change one that is there, say what by override`;
  }
  if (priority === undefined || priorities.includes(String(priority).toLowerCase())) return undefined;
  return `priority must be one of ${priorities.join(', ')}, got '${String(priority)}'`;
}

function missing(item: Item, head: string, names: readonly string[]): string | undefined {
  const left = names.filter((name) => !isText(item[name]));
  return left.length === 0 ? undefined : `a ${head} needs ${left.join(', ')}`;
}

/** What YAML writes as a word: Falco takes numbers for one. */
function isText(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && value !== '';
}
