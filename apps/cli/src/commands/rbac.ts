import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface RbacOptions extends GlobalOptions {
  readonly namespace?: string;
  readonly watchNamespace?: string;
  readonly apply?: boolean;
  readonly output?: Format;
}

/** `keelson rbac`: the permissions that the operators need, and no others. */
export function rbacCommand(shell: Shell): Command {
  return new Command('rbac')
    .description('print the ServiceAccount, roles and bindings that the operators need, or install them')
    .option(
      '-n, --namespace <name>',
      'namespace that the operators run in (default: that of the config, else keelson-system)',
    )
    .option('--watch-namespace <name>', 'permissions for the instances of this namespace only')
    .option('--apply', 'install them into the cluster, with the namespace')
    .addOption(formatOption())
    .addHelpText('after', examples('keelson', ['rbac', 'rbac -n my-operators --apply']))
    .action(async (_: unknown, command: Command) => {
      const { rbac } = await import('../install/rbac.ts');
      await rbac(command.optsWithGlobals<RbacOptions>(), shell);
    });
}
