/**
 * The program: every command in one list. A command's file defines its arguments and help, and loads what it needs only when
 * it runs, so that `keelson --help` stays quick whatever the commands pull in.
 */
import { Command } from 'commander';
import { commands } from './commands/index.ts';
import { exitCodesText } from './exit-codes.ts';
import { examples } from './global-options.ts';
import { ownVersion } from './own-version.ts';
import type { Shell } from './shell.ts';

export function createProgram(shell: Shell, name: string): Command {
  const program = new Command(name)
    .description('Run, render, plan and inspect Kubernetes operators written in TypeScript.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .option(
      '--config <file>',
      'project to work on (default: keelson.config.ts in this folder, else the built-in operators)',
    )
    .option('--kubeconfig <file>', 'cluster to work on (default: KUBECONFIG, the cluster we run in, or ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('-v, --verbose', 'show stacks with errors')
    .helpCommand('help [topic]', 'show help for a command, or for exit-codes')
    .showHelpAfterError(`remedy: \`${name} --help\` lists the commands`)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: true })
    .addHelpText(
      'after',
      examples(name, ['up', 'render -f site.yaml', 'plan -f site.yaml', 'status -A', 'new operator demo']),
    )
    .exitOverride();
  program.addCommand(
    new Command('exit-codes')
      .description('what the exit codes mean')
      .configureHelp({ formatHelp: () => `${exitCodesText()}\n` })
      .action(() => shell.out(`${exitCodesText()}\n`)),
    { hidden: true },
  );
  for (const define of commands) program.addCommand(prepare(define(shell), name));
  return program;
}

/** `exitOverride` and the hint after an error do not pass on to commands that were made elsewhere. */
function prepare(command: Command, name: string): Command {
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(`remedy: \`${name} ${command.name()} --help\` shows how it is used`);
  for (const sub of command.commands) prepare(sub, `${name} ${command.name()}`);
  return command;
}
