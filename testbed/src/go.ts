/**
 * Builds a Go recipe into one file, and says what the toolchain lacks before it starts.
 *
 * The build is reproducible: `-trimpath`, no cgo, no workspace, and a go.sum that already lists every module, so that
 * nothing is resolved at build time. It reports each package that the compiler finishes; the caller turns that into progress.
 */
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { GoRecipe } from './parts.ts';
import type { Activity } from './recipe.ts';

/**
 * Settings that make a build the same everywhere. readonly: a build must never edit the recipe; no workspace: a go.work of
 * the user's must not change it; no cgo: no C compiler is needed and the binary runs on any libc.
 */
export const goEnvironment = { GOFLAGS: '-mod=readonly', GOWORK: 'off', CGO_ENABLED: '0' } as const;

/** The arguments of `go build` for a recipe, without the output file; they are part of the cache key. */
export function goBuildArguments(recipe: GoRecipe): string[] {
  const variables = Object.entries(recipe.variables).map(([name, value]) =>
    // go splits -ldflags at spaces unless the word is quoted.
    /\s/.test(value) ? `-X '${name}=${value}'` : `-X ${name}=${value}`,
  );
  return ['build', '-trimpath', '-v', `-ldflags=${['-s', '-w', ...variables].join(' ')}`];
}

/** Builds the recipe in `directory` to `output`; rejects with the compiler's last words and the command. */
export async function buildGo(recipe: GoRecipe, directory: string, output: string, activity: Activity): Promise<void> {
  await checkGo(directory);
  activity('the Go toolchain looks up what its own cache has');
  const arguments_ = [...goBuildArguments(recipe), '-o', output, recipe.package];
  const environment = { ...process.env, ...goEnvironment };
  const child = spawn('go', arguments_, { cwd: directory, env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  const lastLines: string[] = [];
  let compiled = 0;
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastLines.push(line);
    if (lastLines.length > 20) lastLines.shift();
    const download = /^go: downloading (\S+) (\S+)/.exec(line);
    if (download) return activity(`downloading ${download[1]} ${download[2]}`);
    compiled += 1;
    // `go build -v` names a package when it starts on it, and the main package is always last.
    activity(
      line.startsWith('keelson.dev/') || line === recipe.package
        ? 'linking'
        : `compiled ${compiled} packages, now ${line}`,
    );
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    const settings = Object.entries(goEnvironment)
      .map(([name, value]) => `${name}=${value}`)
      .join(' ');
    throw new Error(
      `go build failed with exit code ${code} in ${directory}:\n  ${lastLines.join('\n  ')}\n` +
        `to see all of it: cd ${directory} && ${settings} go ${arguments_.map((word) => JSON.stringify(word)).join(' ')}`,
    );
  }
}

/** Rejects unless `go` is on the PATH and at least as new as the recipe's go.mod asks for. */
export async function checkGo(directory: string, go = 'go'): Promise<void> {
  const needed = /^go (\d+\.\d+)/m.exec(await readFile(join(directory, 'go.mod'), 'utf8'))?.[1] ?? '1.21';
  const remedy = `install Go ${needed} or newer (https://go.dev/dl/) and put its bin folder on the PATH`;
  const found = await promisify(execFile)(go, ['env', 'GOVERSION'], {
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT'
        ? `Go is needed to build test parts, but there is no "${go}" on the PATH: ${remedy}`
        : `"${go} env GOVERSION" failed (${error.message.trim()}): ${remedy}`,
    );
  });
  const version = found.stdout.trim().replace(/^go/, '');
  if (!isAtLeast(version, needed)) {
    throw new Error(`Go ${needed} or newer is needed to build test parts, but "${go}" is ${version}: ${remedy}`);
  }
}

function isAtLeast(version: string, needed: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((n) => Number.parseInt(n, 10));
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map((n) => Number.parseInt(n, 10));
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}
