#!/usr/bin/env node
/** Command line of the testbed: `ensure PART...`, `list`, `clean`. */
import { cacheDirectory, cleanParts, listParts } from './cache.ts';
import { ensurePart } from './ensure.ts';
import { findPart, parts } from './parts.ts';

const standard = parts.filter((part) => part.standard).map((part) => part.name);

const usage = `usage: keelson-testbed ensure [PART...]   build what is missing and print the paths (default: ${standard.join(', ')})
       keelson-testbed list               show the parts and whether they are built
       keelson-testbed clean              remove everything built
parts: ${parts.map((part) => part.name).join(', ')}`;

const [command, ...names] = process.argv.slice(2);
try {
  process.exitCode = await run(command, names);
} catch (error) {
  console.error(`keelson-testbed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function run(verb: string | undefined, wanted: readonly string[]): Promise<number> {
  switch (verb) {
    case 'ensure': {
      const chosen = wanted.length > 0 ? wanted.map((name) => findPart(name).name) : standard;
      for (const name of chosen) {
        // Progress goes to stderr so that stdout holds the paths alone.
        const { path } = await ensurePart(name, { onProgress: (line) => console.error(line) });
        console.log(path);
      }
      return 0;
    }
    case 'list':
      for (const part of await listParts()) {
        const state = part.size === undefined ? 'not built' : `${Math.round(part.size / 1e6)} MB  ${part.path}`;
        console.log(`${part.name.padEnd(14)}${part.version.padEnd(10)}${state}`);
      }
      return 0;
    case 'clean':
      await cleanParts();
      console.log(`removed the built parts in ${cacheDirectory()}`);
      return 0;
    default:
      console.error(usage);
      return 2;
  }
}
