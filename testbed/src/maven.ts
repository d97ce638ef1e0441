/**
 * Makes a part out of published Java artifacts and one small main class: `lib/` with the jars, `classes/` with the class.
 *
 * Maven resolves the recipe's pom.xml; every jar is then compared with the recipe's checksums.txt (the format of sha256sum),
 * so neither a jar that was tampered with nor one that nobody has listed gets into a part.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { MavenRecipe } from './parts.ts';
import type { Activity } from './recipe.ts';

/** The arguments of Maven without those that differ from call to call; they are part of the cache key. */
export const mavenArguments = [
  '--batch-mode',
  '-Dstyle.color=never',
  'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies',
  '-DincludeScope=runtime',
] as const;

/** Fills the folder `output` with the jars and the compiled class of the recipe in `directory`. */
export async function buildMaven(
  recipe: MavenRecipe,
  directory: string,
  output: string,
  activity: Activity,
): Promise<void> {
  await checkJava(recipe.jdk);
  const lib = join(output, 'lib');
  activity('Maven resolves the artifacts');
  await runMaven(['--file', join(directory, 'pom.xml'), ...mavenArguments, `-DoutputDirectory=${lib}`], activity);
  await verifyJars(lib, join(directory, 'checksums.txt'));
  activity('compiling');
  const main = join(directory, `${recipe.mainClass}.java`);
  const classes = join(output, 'classes');
  await promisify(execFile)('javac', ['--release', String(recipe.jdk), '-cp', join(lib, '*'), '-d', classes, main]);
}

/** Rejects unless a JDK that is new enough and Maven are on the PATH. */
export async function checkJava(jdk: number, javac = 'javac', mvn = 'mvn'): Promise<void> {
  const remedy =
    `install JDK ${jdk} or newer and Maven and put them on the PATH ` +
    `(Debian, Ubuntu: apt-get install --no-install-recommends default-jdk-headless maven; macOS: brew install openjdk@${jdk} maven)`;
  const output = async (command: string) => {
    const { stdout, stderr } = await promisify(execFile)(command, ['-version']).catch(
      (error: NodeJS.ErrnoException) => {
        throw new Error(
          error.code === 'ENOENT'
            ? `Java and Maven are needed for this test part, but there is no "${command}" on the PATH: ${remedy}`
            : `"${command} -version" failed (${error.message.trim()}): ${remedy}`,
        );
      },
    );
    return `${stdout}${stderr}`.trim();
  };
  const version = /^javac (\d+)/m.exec(await output(javac))?.[1] ?? '0';
  if (Number(version) < jdk) throw new Error(`JDK ${jdk} is needed, but "${javac}" is version ${version}: ${remedy}`);
  await output(mvn);
}

async function runMaven(arguments_: readonly string[], activity: Activity): Promise<void> {
  const child = spawn('mvn', arguments_, { stdio: ['ignore', 'pipe', 'pipe'] });
  const lastLines: string[] = [];
  const read = (line: string) => {
    const download = /^\[INFO\] Downloading from .*\/(\S+)$/.exec(line);
    if (download) return activity(`downloading ${download[1]}`);
    if (line.startsWith('[INFO]')) return;
    lastLines.push(line);
    if (lastLines.length > 15) lastLines.shift();
  };
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', read);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) {
    throw new Error(`Maven failed with exit code ${code}: mvn ${arguments_.join(' ')}\n  ${lastLines.join('\n  ')}`);
  }
}

/** Rejects unless the jars of a folder are exactly those that the file lists. */
export async function verifyJars(lib: string, checksums: string): Promise<void> {
  const listed = new Map(
    (await readFile(checksums, 'utf8')).split('\n').map((line) => {
      const [sum = '', file = ''] = line.split(/\s+/);
      return [file, sum];
    }),
  );
  listed.delete('');
  const wrong: string[] = [];
  for (const jar of (await readdir(lib)).sort()) {
    const sum = createHash('sha256')
      .update(await readFile(join(lib, jar)))
      .digest('hex');
    if (sum !== listed.get(jar)) wrong.push(`${jar} ${listed.has(jar) ? 'differs' : 'is not listed'}`);
    listed.delete(jar);
  }
  wrong.push(...[...listed.keys()].map((jar) => `${jar} is missing`));
  if (wrong.length > 0) {
    throw new Error(`what Maven brought is not what ${checksums} lists: ${wrong.join(', ')}`);
  }
}
