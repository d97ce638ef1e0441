import { Command } from 'commander';
import { examples } from '../global-options.ts';
import type { Shell } from '../shell.ts';

/** `keelson new`: an operator as a project of its own, or a feature of the security operator, each with tests that pass. */
export function newCommand(shell: Shell): Command {
  return new Command('new')
    .description('start something new')
    .addCommand(operatorCommand(shell))
    .addCommand(featureCommand(shell));
}

function operatorCommand(shell: Shell): Command {
  return new Command('operator')
    .description('scaffold an operator in a new folder: resource, rules, tests, Makefile')
    .argument('<name>', 'its name, lower-case with hyphens: mail-box')
    .option('--group <domain>', 'API group of its resource', 'example.com')
    .option('--dir <folder>', 'where to put it (default: a folder of that name)')
    .addHelpText('after', examples('keelson', ['new operator demo', 'new operator mail-box --group mail.example.com']))
    .action(async (name: string, options: { group: string; dir?: string }) => {
      const { newOperator } = await import('../scaffold/new-operator.ts');
      await newOperator({ name, ...options }, shell);
    });
}

function featureCommand(shell: Shell): Command {
  return new Command('feature')
    .description(
      'add a feature to the security operator of this checkout: a folder with settings, manifests, tests and README, and its line in the list of features',
    )
    .argument('<name>', 'its name, lower-case with hyphens: port-scan')
    .addHelpText('after', examples('keelson', ['new feature demo', 'new feature port-scan']))
    .action(async (name: string) => {
      const { newFeature } = await import('../scaffold/new-feature.ts');
      await newFeature(name, shell);
    });
}
