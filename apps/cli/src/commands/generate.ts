import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import type { Shell } from '../shell.ts';

export interface GenerateOptions extends GlobalOptions {
  readonly check?: boolean;
}

/** `keelson generate`: deploy/ and docs/reference out of the operators. */
export function generateCommand(shell: Shell): Command {
  return new Command('generate')
    .description('write the CRDs, RBAC and reference docs of the project’s operators')
    .option('--check', 'write nothing; exit with 4 and list the files that are stale')
    .addHelpText('after', examples('keelson', ['generate', 'generate --check']))
    .action(async (_: unknown, command: Command) => {
      const { generate } = await import('../generate/generate.ts');
      await generate(command.optsWithGlobals<GenerateOptions>(), shell);
    });
}
