import process from 'node:process';
import { Command } from 'commander';
import { type Format, formatOption } from '../output/format-option.ts';
import { ownVersion } from '../own-version.ts';
import type { Shell } from '../shell.ts';

/** `keelson version`: of the CLI and of the Node it runs on. */
export function versionCommand(shell: Shell): Command {
  return new Command('version')
    .description('print the version of keelson and of Node')
    .addOption(formatOption())
    .action(async (options: { output?: Format }) => {
      const version = { keelson: ownVersion(), node: process.versions.node };
      if (options.output === undefined) return shell.out(`keelson ${version.keelson} (Node ${version.node})\n`);
      const { format } = await import('../output/format.ts');
      shell.out(format(version, options.output));
    });
}
