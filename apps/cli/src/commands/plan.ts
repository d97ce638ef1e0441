import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface PlanOptions extends GlobalOptions {
  readonly filename: readonly string[];
  readonly namespace?: string;
  readonly exitCode?: boolean;
  readonly output?: Format;
}

/** `keelson plan`: what would change in the cluster. */
export function planCommand(shell: Shell): Command {
  return new Command('plan')
    .description(
      'show what the operator would create, change and delete in the cluster, field by field, and which pods restart; writes nothing. The file is taken as kubectl apply takes it',
    )
    .requiredOption('-f, --filename <file...>', 'instances as they should be; `-` is standard input')
    .option('-n, --namespace <name>', 'namespace of instances that name none (default: that of the kubeconfig context)')
    .option('--exit-code', 'exit with 4 when there are changes')
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples('keelson', ['plan -f site.yaml', 'plan -f site.yaml --exit-code', 'plan -o json -f - < site.yaml']),
    )
    .action(async (_: unknown, command: Command) => {
      const { plan } = await import('../plan/plan.ts');
      await plan(command.optsWithGlobals<PlanOptions>(), shell);
    });
}
