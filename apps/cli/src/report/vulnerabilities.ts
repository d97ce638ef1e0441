/**
 * `report vulnerabilities`: what trivy-operator has found in the cluster, into a search store. Reads VulnerabilityReports page by
 * page, stores one document a vulnerability in bounded batches, and marks as resolved what is no longer there. The CronJob of
 * the feature `trivy` runs it; so can anybody.
 *
 * Invariant: it ends with 0 only when every vulnerability that it read is stored, and its last line says how many are. What is in
 * memory is one page and one batch, however large the cluster is.
 */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Fault, KubeClient } from '@keelson/kube';
import { withCluster } from '../cluster/connect.ts';
import { faultToFailure, isAnyFault } from '../cluster/fault-to-failure.ts';
import type { ReportOptions } from '../commands/report.ts';
import { type Failure, failure } from '../failure.ts';
import { onInterrupt } from '../run/signals.ts';
import type { Shell } from '../shell.ts';
import { sendBulk } from './bulk.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { credentialOf } from './credential.ts';
import { documentsOf, type VulnerabilityDocument } from './documents.ts';
import { inBatches, sighted } from './operation.ts';
import { reportsOf } from './reports.ts';
import { resolveAbsent } from './resolve.ts';
import { Store } from './store.ts';
import { Tally } from './tally.ts';

export async function reportVulnerabilities(options: ReportOptions, shell: Shell): Promise<void> {
  const started = performance.now();
  const tally = new Tally();
  const interruption = onInterrupt(shell, () => shell.note('ending …\n'));
  const run: Run = { options, shell, tally, seen: new Date().toISOString(), signal: interruption.signal };
  let cluster = options.clusterName;
  // Before the cluster is asked: bad input should be told at once.
  const store = options.dryRun === true ? undefined : await openStore(run);
  try {
    await withCluster(options, shell, async ({ client }) => {
      cluster ??= await clusterIdentity(client, run.signal);
      await (store === undefined ? printDocuments(client, cluster, run) : storeDocuments(client, cluster, store, run));
    });
  } catch (error) {
    throw interruption.signal.aborted ? interrupted(error) : isAnyFault(error) ? clusterFailure(error) : error;
  } finally {
    const { index, namespace } = options;
    const about = {
      ...(cluster === undefined ? {} : { cluster }),
      index,
      ...(namespace === undefined ? {} : { namespace }),
    };
    const line = `${tally.summary(about, (performance.now() - started) / 1000, store !== undefined)}\n`;
    if (store === undefined) shell.note(line);
    else shell.out(line);
    await store?.close();
    interruption.release();
  }
  if (store !== undefined && tally.refused > 0) {
    throw failure(
      'undelivered',
      `the store refused ${tally.refused} of ${tally.documents} documents`,
      'the summary on stdout names the first of them with the reason; the others are stored',
    );
  }
}

function interrupted(cause: unknown): Failure {
  return failure('undelivered', 'interrupted before everything was stored', 'the next run stores the rest', cause);
}

function clusterFailure(fault: Fault): Failure {
  if (fault.code !== 'KindNotServed') return faultToFailure(fault);
  const remedy = 'trivy-operator writes them: install it (https://aquasecurity.github.io/trivy-operator)';
  return failure('missing', fault.message, remedy, fault);
}

interface Run {
  readonly options: ReportOptions;
  readonly shell: Shell;
  readonly tally: Tally;
  /** When it began. */
  readonly seen: string;
  readonly signal: AbortSignal;
}

async function openStore({ options, shell, tally, signal }: Run): Promise<Store> {
  const credential = credentialOf(shell.env);
  return new Store({
    url: storeUrl(options.url),
    insecureSkipVerify: options.insecureSkipVerify === true,
    signal,
    onRetry: (why, waitMs) => {
      tally.retries += 1;
      shell.note(`note: the store: ${why}; next attempt in ${(waitMs / 1000).toFixed(1)} s\n`);
    },
    ...(credential === undefined ? {} : { credential }),
    ...(options.caFile === undefined ? {} : { ca: await readCertificates(options.caFile, shell) }),
  });
}

function storeUrl(text: string | undefined): URL {
  if (text === undefined)
    throw failure('usage', '--url is missing', 'name the store: --url https://elasticsearch:9200');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw failure('usage', `--url ${text} is no http or https URL`, 'write it as https://elasticsearch:9200');
  }
  if (url.username !== '' || url.password !== '') {
    throw failure(
      'usage',
      '--url holds credentials, which everybody sees who may list processes or pods',
      'set ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD, or ELASTICSEARCH_API_KEY, instead',
    );
  }
  return url;
}

async function readCertificates(file: string, shell: Shell): Promise<string> {
  const pem = await readFile(resolve(shell.cwd, file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw failure('usage', `--ca-file ${file} cannot be read: ${error.code ?? error.message}`, 'check the path', error);
  });
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw failure('usage', `--ca-file ${file} holds no certificate`, 'it must be PEM: -----BEGIN CERTIFICATE-----');
  return pem;
}

async function storeDocuments(client: KubeClient, cluster: string, store: Store, run: Run): Promise<void> {
  const { options, tally, seen } = run;
  const { index, namespace } = options;
  const operations = map(documents(client, cluster, run), sighted);
  for await (const batch of inBatches(operations)) {
    await sendBulk(store, index, batch, (operation, outcome) => tally.stored(operation, outcome));
  }
  const except = tally.refusedIds();
  if (except === undefined) {
    tally.resolveSkipped = 'too many documents were refused to tell what is gone';
  } else {
    const absence = { index, cluster, seen, except, ...(namespace === undefined ? {} : { namespace }) };
    await resolveAbsent(store, absence, (operation, outcome) => tally.marked(operation, outcome));
  }
  tally.complete = true;
}

async function printDocuments(client: KubeClient, cluster: string, run: Run): Promise<void> {
  for await (const { id, fields } of documents(client, cluster, run))
    run.shell.out(`${JSON.stringify({ _id: id, ...fields })}\n`);
  run.tally.complete = true;
}

async function* documents(
  client: KubeClient,
  cluster: string,
  run: Run,
): AsyncGenerator<VulnerabilityDocument, void, void> {
  const { options, tally, seen, signal } = run;
  const { namespace, pageSize } = options;
  const selection = { pageSize, signal, ...(namespace === undefined ? {} : { namespace }) };
  for await (const report of reportsOf(client, selection)) {
    tally.reports += 1;
    for (const document of documentsOf(report, { cluster, seen })) {
      tally.documents += 1;
      yield document;
    }
  }
}

async function* map<A, B>(source: AsyncIterable<A>, to: (value: A) => B): AsyncGenerator<B, void, void> {
  for await (const value of source) yield to(value);
}
