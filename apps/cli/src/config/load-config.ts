/** Finds and loads the project's config; without one, the operators that come with the CLI. */
import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { failure } from '../failure.ts';
import type { Shell } from '../shell.ts';
import type { KeelsonConfig } from './define-config.ts';

export interface Project extends Required<Pick<KeelsonConfig, 'operators' | 'features' | 'name' | 'namespace'>> {
  /** Paths in the config are from here. */
  readonly root: string;
  /** Absent when the built-in operators are used. */
  readonly file?: string;
  readonly samples: readonly string[];
  readonly deploy: string;
  readonly reference: string;
  readonly up: NonNullable<KeelsonConfig['up']>;
  readonly extra: NonNullable<NonNullable<KeelsonConfig['generate']>['extra']>;
}

const names = ['keelson.config.ts', 'keelson.config.mts', 'keelson.config.js', 'keelson.config.mjs'];

/** The project of `--config`, of the current folder, or the built-in one. */
export async function loadProject(options: { config?: string }, shell: Shell): Promise<Project> {
  const file = options.config === undefined ? await find(shell.cwd) : resolve(shell.cwd, options.config);
  if (file === undefined) return project(await builtIn(), fileURLToPath(new URL('../..', import.meta.url)));
  return project(await load(file), dirname(file), file);
}

function project(config: KeelsonConfig, root: string, file?: string): Project {
  const samples =
    config.samples === undefined ? [] : typeof config.samples === 'string' ? [config.samples] : config.samples;
  return {
    root,
    ...(file === undefined ? {} : { file }),
    operators: config.operators,
    features: config.features ?? (() => []),
    name: config.name ?? 'keelson',
    namespace: config.namespace ?? 'keelson-system',
    samples: samples.map((path) => resolve(root, path)),
    up: config.up ?? {},
    deploy: config.generate?.deploy ?? 'deploy',
    reference: config.generate?.reference ?? 'docs/reference',
    extra: config.generate?.extra ?? (async () => []),
  };
}

async function builtIn(): Promise<KeelsonConfig> {
  const { website, samples } = await import('@keelson/example-website');
  return { operators: [website], samples: fileURLToPath(samples) };
}

async function find(folder: string): Promise<string | undefined> {
  for (const name of names) {
    const file = join(folder, name);
    if (await exists(file)) return file;
  }
  return undefined;
}

async function load(file: string): Promise<KeelsonConfig> {
  if (!(await exists(file))) {
    throw failure(
      'usage',
      `no config at ${file}`,
      'check --config, or leave it out to use keelson.config.ts of this folder',
    );
  }
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    throw failure(
      'usage',
      `${file} cannot be loaded: ${placeOf(error, dirname(file))}${error instanceof Error ? error.message : String(error)}`,
      'run it with --verbose to see where; `npm install` if a package is missing',
      error,
    );
  }
  const config = module.default as Partial<KeelsonConfig> | undefined;
  if (
    config === null ||
    typeof config !== 'object' ||
    !Array.isArray(config.operators) ||
    config.operators.length === 0
  ) {
    throw failure(
      'usage',
      `${file} names no operators`,
      'write `export default defineConfig({ operators: [yourOperator] })`',
    );
  }
  for (const [index, operator] of config.operators.entries()) {
    if (typeof operator?.reconcile !== 'function') {
      throw failure(
        'usage',
        `${file}: operators[${index}] is not an operator`,
        'put what `defineOperator` returned into the list',
      );
    }
  }
  return config as KeelsonConfig;
}

/** `FILE:LINE: ` of the user's code that cannot be loaded, or nothing where Node does not tell. */
function placeOf(error: unknown, root: string): string {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  // For a syntax error the first line of the stack is the place alone; for one that was thrown it stands in the frames.
  const places = [...stack.matchAll(/(?:^|\(|at )(?:file:\/\/)?(\/[^\s():]+):(\d+)(?::\d+)?\)?$/gm)];
  const own = places.find(([, path = '']) => path.startsWith(`${root}/`) && !path.includes('/node_modules/'));
  return own === undefined ? '' : `${own[1]}:${own[2]}: `;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
