/** What all commands have in common: the options they understand, and how their examples look in the help. */

/** Options of every command, before or after its name. */
export interface GlobalOptions {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly verbose?: boolean;
}

/** The block of examples that every help ends with. */
export function examples(name: string, lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${name} ${line}`).join('\n')}`;
}
