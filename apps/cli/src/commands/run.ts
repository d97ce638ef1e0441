import { Command, InvalidArgumentError, Option } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import type { Shell } from '../shell.ts';

export interface RunOptions extends GlobalOptions {
  readonly namespace?: string;
  readonly leaderElect?: boolean;
  readonly leaseNamespace?: string;
  readonly healthPort: number;
  readonly metricsPort: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat?: 'json' | 'human';
  readonly webhookService?: string;
  readonly webhookUrl?: string;
  readonly webhookPort: number;
}

/** `keelson run`: the operators of the project, until a signal ends it. */
export function runCommand(shell: Shell): Command {
  return new Command('run')
    .description('run the operators: SIGTERM or Ctrl-C ends it when the work at hand is done, a second one at once')
    .option('-n, --namespace <name>', 'look after the instances of this namespace only (default: all)')
    .option('--leader-elect', 'let one of several replicas write (default in a cluster)')
    .option('--no-leader-elect', 'write without asking (default elsewhere)')
    .option('--lease-namespace <name>', 'namespace of the lease (default: that of the pod, else that of the config)')
    .addOption(portOption('--health-port <port>', 'port of /healthz and /readyz; 0 for any free one', 8081))
    .addOption(portOption('--metrics-port <port>', 'port of /metrics; 0 for any free one', 8080))
    .addOption(
      new Option('--log-level <level>', 'least severe messages to log')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('info'),
    )
    .addOption(
      new Option('--log-format <format>', 'default: human on a terminal, else json').choices(['json', 'human']),
    )
    .option(
      '--webhook-service <namespace/name>',
      'serve the admission and conversion webhooks, reached through this Service',
    )
    .option('--webhook-url <url>', 'serve the webhooks, reached at this https URL (for a process outside the cluster)')
    .addOption(portOption('--webhook-port <port>', 'port of the webhooks', 9443))
    .addHelpText(
      'after',
      examples('keelson', ['run', 'run -n staging --log-level debug', 'run --webhook-service keelson-system/keelson']),
    )
    .action(async (_: unknown, command: Command) => {
      const { run } = await import('../run/run.ts');
      await run(command.optsWithGlobals<RunOptions>(), shell);
    });
}

function portOption(flags: string, description: string, fallback: number): Option {
  return new Option(flags, description).default(fallback).argParser((text) => {
    const port = Number(text);
    if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('Use a number from 0 to 65535.');
    return port;
  });
}
