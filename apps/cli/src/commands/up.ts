import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import type { Shell } from '../shell.ts';

export interface UpOptions extends GlobalOptions {
  readonly nodes: string;
  readonly samples: boolean;
}

/** `keelson up`: a cluster with the operators in it, to play with. */
export function upCommand(shell: Shell): Command {
  return new Command('up')
    .description(
      'start a real Kubernetes on this machine with simulated nodes, run the operators in it, apply the samples and show how they are; Ctrl-C ends it all. With --kubeconfig or --context, use that cluster instead',
    )
    .option('--nodes <number>', 'simulated nodes', '3')
    .option('--no-samples', 'do not apply the samples of the project')
    .addHelpText('after', examples('keelson', ['up', 'up --nodes 10', 'up --kubeconfig ~/.kube/kind']))
    .action(async (_: unknown, command: Command) => {
      const { up } = await import('../up/up.ts');
      await up(command.optsWithGlobals<UpOptions>(), shell);
    });
}
