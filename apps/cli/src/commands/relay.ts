import { Command, InvalidArgumentError, Option } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import type { Shell } from '../shell.ts';

export interface RelayOptions extends GlobalOptions {
  readonly url: string;
  readonly deadLetters: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly statusPort: number;
  readonly caFile?: string;
  readonly insecureSkipVerify?: boolean;
}

/** `keelson relay`: between a collector and the store, keeps what the store refuses. */
export function relayCommand(shell: Shell): Command {
  return new Command('relay')
    .description(
      'pass _bulk requests of a collector on to Elasticsearch or OpenSearch, and keep each document that the store refuses in an index of dead letters, with the reason; SIGTERM or Ctrl-C ends it when the work at hand is done',
    )
    .requiredOption(
      '--url <url>',
      'the store: https://elasticsearch:9200. Credentials are those of each request',
      storeUrl,
    )
    .option('--dead-letters <index>', 'index for what the store refuses', 'security-dead-letters')
    .addOption(
      new Option('--listen <host:port>', 'where the collector sends its requests; port 0 for any free one')
        .default({ host: '127.0.0.1', port: 9210 }, '127.0.0.1:9210')
        .argParser(hostAndPort),
    )
    .addOption(
      new Option('--status-port <port>', 'port of /healthz and /metrics; 0 for any free one')
        .default(9211)
        .argParser(portOf),
    )
    .option('--ca-file <file>', 'PEM of the certificates that the one of the store is checked against')
    .option('--insecure-skip-verify', 'trust any certificate of the store; for trials only')
    .addHelpText('after', examples('keelson', ['relay --url https://elasticsearch:9200 --ca-file ca.crt']))
    .action(async (_: unknown, command: Command) => {
      const { relay } = await import('../relay/relay.ts');
      await relay(command.optsWithGlobals<RelayOptions>(), shell);
    });
}

function storeUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new InvalidArgumentError('Use an http or https URL, e.g. https://elasticsearch:9200.');
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Leave credentials out of it: they come with each request.');
  return text;
}

function hostAndPort(text: string): RelayOptions['listen'] {
  const [, host, port = ''] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (host === undefined) throw new InvalidArgumentError('Use a host and a port, e.g. 127.0.0.1:9210.');
  return { host, port: portOf(port) };
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('Use a number from 0 to 65535.');
  return port;
}
