import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface ExplainOptions extends GlobalOptions {
  readonly output?: Format;
}

/** `keelson explain`: fields, rules, what an operator owns and what it may do; the same for its features. */
export function explainCommand(shell: Shell): Command {
  return new Command('explain')
    .description(
      'explain an operator: its fields with defaults and rules, what it owns, watches and reads, and its permissions with the reason for each; or a feature of one: what it installs, may do and needs, and its settings',
    )
    .argument('[what]', 'an operator, a kind, a field of it (website.spec.pages), or `feature`')
    .argument('[name]', 'of the feature; without it all are listed')
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples('keelson', ['explain', 'explain website', 'explain website.spec.pages', 'explain feature falco']),
    )
    .action(async (what: string | undefined, name: string | undefined, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<ExplainOptions>();
      if (what === 'feature' || what === 'features') {
        const { explainFeature } = await import('../explain/feature.ts');
        return explainFeature(name, options, shell);
      }
      const { explain } = await import('../explain/explain.ts');
      await explain(what, name, options, shell);
    });
}
