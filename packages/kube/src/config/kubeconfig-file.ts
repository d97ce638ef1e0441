/** Reads one kubeconfig file into its named clusters, users and contexts. Nothing is resolved or checked against others yet. */
import { readFile } from 'node:fs/promises';
import { parseDocument } from 'yaml';
import { Fault } from '../fault.ts';
import { Fields } from './fields.ts';

export interface KubeconfigFile {
  readonly file: string;
  readonly currentContext?: string;
  readonly clusters: ReadonlyMap<string, Fields>;
  readonly users: ReadonlyMap<string, Fields>;
  readonly contexts: ReadonlyMap<string, Fields>;
}

/** The parsed file, or undefined when there is none at that path. */
export async function readKubeconfigFile(file: string): Promise<KubeconfigFile | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    if (code === 'EISDIR') throw new Fault('BadConfig', `kubeconfig ${file} is a directory: name a file`, {}, error);
    throw new Fault('BadConfig', `kubeconfig ${file} cannot be read (${code}): check its permissions`, {}, error);
  }
  return parseKubeconfig(file, text);
}

/** Parses the text of a kubeconfig; `file` is only named in messages. */
export function parseKubeconfig(file: string, text: string): KubeconfigFile {
  const document = parseDocument(text, { prettyErrors: false });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const line = text.slice(0, problem.pos[0]).split('\n').length;
    throw new Fault('BadConfig', `kubeconfig ${file}, line ${line}: not valid YAML: ${problem.message}`, {}, problem);
  }
  const root = new Fields(file, '', document.toJS());
  const kind = root.string('kind');
  if (kind !== undefined && kind !== 'Config') {
    throw new Fault('BadConfig', `kubeconfig ${file}: kind is ${kind}, not Config: is it a kubeconfig at all?`);
  }
  const currentContext = root.string('current-context');
  return {
    file,
    ...(currentContext === undefined ? {} : { currentContext }),
    clusters: byName(root, 'clusters', 'cluster'),
    users: byName(root, 'users', 'user'),
    contexts: byName(root, 'contexts', 'context'),
  };
}

function byName(root: Fields, list: string, body: string): Map<string, Fields> {
  const named = new Map<string, Fields>();
  for (const entry of root.list(list)) {
    const name = entry.string('name');
    if (name === undefined) throw new Fault('BadConfig', `kubeconfig ${root.file}: ${entry.path} has no name`);
    if (named.has(name)) {
      throw new Fault('BadConfig', `kubeconfig ${root.file}: two ${list} are named "${name}": remove or rename one`);
    }
    named.set(name, entry.fields(body) ?? new Fields(root.file, entry.at(body), {}));
  }
  return named;
}

/**
 * Merges files as kubectl does: the first file that sets current-context, or that has a cluster, user or context of a name,
 * wins, with the whole entry.
 */
export function mergeKubeconfigs(files: readonly KubeconfigFile[]): Omit<KubeconfigFile, 'file'> {
  const currentContext = files.find((file) => file.currentContext !== undefined)?.currentContext;
  // Later entries of a Map constructor win, so the files go in from last to first.
  const merged = (part: 'clusters' | 'users' | 'contexts') =>
    new Map([...files].reverse().flatMap((f) => [...f[part]]));
  return {
    ...(currentContext === undefined ? {} : { currentContext }),
    clusters: merged('clusters'),
    users: merged('users'),
    contexts: merged('contexts'),
  };
}
