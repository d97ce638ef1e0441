import { Command, InvalidArgumentError, Option } from 'commander';
import { examples, type GlobalOptions } from '../global-options.ts';
import type { Shell } from '../shell.ts';

export interface ReportOptions extends GlobalOptions {
  readonly url?: string;
  readonly index: string;
  readonly clusterName?: string;
  readonly namespace?: string;
  readonly pageSize: number;
  readonly caFile?: string;
  readonly insecureSkipVerify?: boolean;
  readonly dryRun?: boolean;
}

/** `keelson report vulnerabilities`: what trivy-operator found, into Elasticsearch or OpenSearch. */
export function reportCommand(shell: Shell): Command {
  const shown = [
    'report vulnerabilities --url https://elasticsearch:9200 --cluster-name prod',
    'report vulnerabilities --dry-run -n shop',
  ];
  const report = new Command('report').description('bring what the cluster knows to a search store');
  return report.addHelpText('after', examples('keelson', shown)).addCommand(
    new Command('vulnerabilities')
      .description(
        'store what trivy-operator has found in Elasticsearch or OpenSearch, one document a vulnerability, and mark what is gone as resolved; prints a summary in JSON',
      )
      .option(
        '--url <url>',
        'the store: https://elasticsearch:9200. Credentials come from ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD, or ELASTICSEARCH_API_KEY',
      )
      .option('--index <name>', 'index that the documents go to', 'security-vuln')
      .option(
        '--cluster-name <name>',
        'how this cluster is called in the documents (default: the uid of its namespace kube-system, which no other has)',
      )
      .option('-n, --namespace <name>', 'the reports of this namespace only (default: all)')
      .addOption(
        new Option('--page-size <number>', 'most reports to read at once; large ones are read in smaller pages')
          .default(100)
          .argParser((text) => {
            const size = Number(text);
            if (!/^\d+$/.test(text) || size < 1 || size > 1000)
              throw new InvalidArgumentError('Use a number from 1 to 1000.');
            return size;
          }),
      )
      .option('--ca-file <file>', 'PEM of the certificates that the one of the store is checked against')
      .option('--insecure-skip-verify', 'trust any certificate of the store; for trials only')
      .option('--dry-run', 'print the documents instead of storing them')
      .addHelpText('after', examples('keelson', shown))
      .action(async (_: unknown, command: Command) => {
        const { reportVulnerabilities } = await import('../report/vulnerabilities.ts');
        await reportVulnerabilities(command.optsWithGlobals<ReportOptions>(), shell);
      }),
  );
}
