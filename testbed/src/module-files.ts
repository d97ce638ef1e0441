/**
 * Copies files out of published Go modules, for what upstream ships as source only: manifests, not programs.
 *
 * The recipe folder is an empty module whose go.sum has the checksums of every module that is read, so the Go toolchain
 * refuses a download that is not the one we pinned. Nothing is compiled and nothing of upstream's is kept in this repository.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { checkGo, goEnvironment } from './go.ts';
import type { ModuleFilesRecipe } from './parts.ts';
import type { Activity } from './recipe.ts';

/** Fills the folder `output` with a subfolder for each source; rejects when a source has no such files. */
export async function copyModuleFiles(
  recipe: ModuleFilesRecipe,
  directory: string,
  output: string,
  activity: Activity,
): Promise<void> {
  await checkGo(directory);
  for (const { to, module, folders } of recipe.sources) {
    activity(`downloading ${module}`);
    const source = await downloadModule(module, directory);
    await mkdir(join(output, to), { recursive: true });
    for (const folder of folders) {
      const files = (await readdir(join(source, folder)).catch(() => [])).filter((file) => file.endsWith('.yaml'));
      if (files.length === 0) {
        throw new Error(
          `${module} has no *.yaml in ${folder}: correct the folder in the entry in testbed/src/parts.ts`,
        );
      }
      // Written anew rather than copied: files of the module cache are read-only, which `clean` would stumble over.
      for (const file of files) {
        await writeFile(join(output, to, basename(file)), await readFile(join(source, folder, file)), { flag: 'wx' });
      }
    }
  }
}

async function downloadModule(module: string, directory: string): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
    cwd: directory,
    env: { ...process.env, ...goEnvironment },
  }).catch((error: { stdout?: string; stderr?: string; message: string }) => {
    // A module that cannot be had is told in the JSON on stdout, a checksum that does not match on stderr.
    const told = error.stdout ? (JSON.parse(error.stdout) as { Error?: string }).Error : undefined;
    throw new Error(`go mod download ${module} failed in ${directory}: ${told ?? error.stderr ?? error.message}`);
  });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}
