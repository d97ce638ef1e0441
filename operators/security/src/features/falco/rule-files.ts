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
  return items.flatMap((item: unknown, index) =>
    isItem(item) ? [] : [{ at: `[${index}]`, message: `must be an object with one of ${heads.join(', ')}` }],
  );
}

function isItem(item: unknown): boolean {
  return typeof item === 'object' && item !== null && heads.some((head) => Object.hasOwn(item, head));
}
