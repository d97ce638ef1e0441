import { Command } from 'commander';
import { examples } from '../global-options.ts';
import type { Shell } from '../shell.ts';

/** `keelson new operator NAME`: a project of its own, with tests that pass. */
export function newCommand(shell: Shell): Command {
  return new Command('new').description('start something new').addCommand(
    new Command('operator')
      .description('scaffold an operator in a new folder: resource, rules, tests, Makefile')
      .argument('<name>', 'its name, lower-case with hyphens: mail-box')
      .option('--group <domain>', 'API group of its resource', 'example.com')
      .option('--dir <folder>', 'where to put it (default: a folder of that name)')
      .addHelpText(
        'after',
        examples('keelson', ['new operator demo', 'new operator mail-box --group mail.example.com']),
      )
      .action(async (name: string, options: { group: string; dir?: string }) => {
        const { newOperator } = await import('../scaffold/new-operator.ts');
        await newOperator({ name, ...options }, shell);
      }),
  );
}
