import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface StatusOptions extends GlobalOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly exitCode?: boolean;
  readonly output?: Format;
}

/** `keelson status`: every instance of every operator, or one in detail. */
export function statusCommand(shell: Shell): Command {
  return new Command('status')
    .description('show every instance of every operator: ready or why not, and what it owns')
    .argument('[instance]', 'one instance in detail: website/front, or a kind: website')
    .option('-n, --namespace <name>', 'namespace (default: that of the kubeconfig context)')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('--exit-code', 'exit with 7 when an instance is not Ready')
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples('keelson', ['status -A', 'status website/front -n default', 'status -A --exit-code -o json']),
    )
    .action(async (instance: string | undefined, _: unknown, command: Command) => {
      const { showStatus } = await import('../status/show.ts');
      await showStatus(instance, command.optsWithGlobals<StatusOptions>(), shell);
    });
}
