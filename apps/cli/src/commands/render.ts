import { Command } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import { type Format, formatOption } from '../output/format-option.ts';
import type { Shell } from '../shell.ts';

export interface RenderOptions extends GlobalOptions {
  readonly filename: readonly string[];
  readonly output?: Format;
}

/** `keelson render`: what the operator would apply, with no cluster. */
export function renderCommand(shell: Shell): Command {
  return new Command('render')
    .description(
      'print exactly the objects that the operator would apply, in apply order; needs no cluster, so that the uid of their owner is shown as zeros (`keelson plan` compares with a cluster)',
    )
    .requiredOption(
      '-f, --filename <file...>',
      'instances, and objects that the operator watches; `-` is standard input',
    )
    .addOption(formatOption())
    .addHelpText('after', examples('keelson', ['render -f site.yaml', 'render -o json -f - < site.yaml']))
    .action(async (_: unknown, command: Command) => {
      const { render } = await import('../render/render.ts');
      await render(command.optsWithGlobals<RenderOptions>(), shell);
    });
}
