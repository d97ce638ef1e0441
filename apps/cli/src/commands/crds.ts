import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface CrdsOptions extends GlobalOptions {
  readonly apply?: boolean;
  readonly output?: Format;
}

/** `keelson crds`: the CustomResourceDefinitions of the operators. */
export function crdsCommand(shell: Shell): Command {
  return new Command('crds')
    .description('print the CRDs of the operators, or install them')
    .option('--apply', 'install them into the cluster and wait until they are served')
    .addOption(formatOption())
    .addHelpText('after', examples('keelson', ['crds | kubectl apply --server-side -f -', 'crds --apply']))
    .action(async (_: unknown, command: Command) => {
      const { crds } = await import('../install/crds.ts');
      await crds(command.optsWithGlobals<CrdsOptions>(), shell);
    });
}
