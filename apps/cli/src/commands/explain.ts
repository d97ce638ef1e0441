import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface ExplainOptions extends GlobalOptions {
  readonly output?: Format;
}

/** `keelson explain`: fields, rules, what an operator owns and what it may do. */
export function explainCommand(shell: Shell): Command {
  return new Command('explain')
    .description(
      'explain an operator: its fields with defaults and rules, what it owns, watches and reads, and its permissions with the reason for each',
    )
    .argument('[what]', 'an operator, a kind, or a field of it: website.spec.pages')
    .addOption(formatOption())
    .addHelpText('after', examples('keelson', ['explain', 'explain website', 'explain website.spec.pages']))
    .action(async (what: string | undefined, _: unknown, command: Command) => {
      const { explain } = await import('../explain/explain.ts');
      await explain(what, command.optsWithGlobals<ExplainOptions>(), shell);
    });
}
