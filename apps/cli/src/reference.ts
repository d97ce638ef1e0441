/** The reference of the CLI as Markdown, out of the commands themselves and the table of exit codes. */
import type { Argument, Command, Option } from 'commander';
import { exitCodes } from './exit-codes.ts';
import { markdownFile } from './generate/files.ts';
import { createProgram } from './program.ts';
import { processShell } from './shell.ts';

/** The Markdown file of the whole command line. */
export function cliReference(): string {
  const program = createProgram(processShell(), 'keelson');
  const leaves = program.commands.flatMap((command) => leavesOf(command, 'keelson'));
  const lines = [
    '# keelson, the command line',
    '',
    'Also a kubectl plugin: as `kubectl-keelson` on the PATH it is `kubectl keelson …`.',
    '',
    ...leaves.map(({ path, command }) => `- [\`${path}\`](#${anchor(path)}): ${command.description()}`),
    '',
    '## Options of every command',
    '',
    ...optionLines(program.options),
    '',
    ...leaves.flatMap(({ path, command }) => section(path, command)),
    '## Exit codes',
    '',
    '| code | meaning |',
    '|---:|---|',
    ...Object.values(exitCodes).map(({ code, meaning }) => `| ${code} | ${meaning} |`),
  ];
  return markdownFile(lines.join('\n'));
}

function leavesOf(command: Command, parent: string): { path: string; command: Command }[] {
  if (command.name() === 'exit-codes') return [];
  const path = `${parent} ${command.name()}`;
  return command.commands.length === 0 ? [{ path, command }] : command.commands.flatMap((sub) => leavesOf(sub, path));
}

function section(path: string, command: Command): string[] {
  const lines = [
    `## ${path}`,
    '',
    capital(command.description()),
    '',
    '```',
    `${path} ${command.usage()}`.trim(),
    '```',
    '',
  ];
  if (command.registeredArguments.length > 0)
    lines.push('| argument | |', '|---|---|', ...command.registeredArguments.map(argumentLine), '');
  if (command.options.length > 0) lines.push(...optionLines(command.options), '');
  const help = exampleLines(command);
  if (help.length > 0) lines.push('```sh', ...help, '```', '');
  return lines;
}

function argumentLine(argument: Argument): string {
  return `| \`${argument.required ? `<${argument.name()}>` : `[${argument.name()}]`}\` | ${cell(argument.description)} |`;
}

function optionLines(options: readonly Option[]): string[] {
  const visible = options.filter(({ hidden }) => !hidden);
  return [
    '| option | |',
    '|---|---|',
    ...visible.map((option) => `| \`${option.flags}\` | ${cell(describe(option))} |`),
  ];
}

function describe(option: Option): string {
  const choices = option.argChoices === undefined ? '' : ` (${option.argChoices.join(', ')})`;
  const fallback =
    option.defaultValue === undefined || option.defaultValue === false
      ? ''
      : `; default ${option.defaultValueDescription ?? String(option.defaultValue)}`;
  return `${option.description}${choices}${fallback}`;
}

/** The examples stand in the text after the help: the one place where they are written. */
function exampleLines(command: Command): string[] {
  let text = '';
  const output = { ...command.configureOutput() };
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  command.configureOutput(output);
  const [, block = ''] = text.split('\nExamples:\n');
  return block
    .split('\n')
    .filter((line) => line.startsWith('  '))
    .map((line) => line.trim());
}

const cell = (text: string): string => text.replaceAll('|', '\\|');
const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
const anchor = (path: string): string => path.toLowerCase().replaceAll(' ', '-');
