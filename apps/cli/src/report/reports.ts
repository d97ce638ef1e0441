/** Every VulnerabilityReport of a cluster or a namespace, one after the other, with one page of bounded size in memory at a time. */
import { isFault, type KubeClient, type Page } from '@keelson/kube';
import { VulnerabilityReport } from './vulnerability-report.ts';

export interface ReportSelection {
  /** All when left out. */
  readonly namespace?: string;
  /** At most; large reports make for smaller pages. */
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** Nothing is known yet of how large the reports are. */
const firstPage = 10;
/** Vulnerabilities in a page: about two megabytes, which become ten in memory. */
const pageGoal = 4000;

/** A page holds whole reports, which can be a megabyte each: it may take a while. */
const pageTimeoutMs = 60_000;

/**
 * Storing may take longer than the API server keeps a snapshot (five minutes). It then offers to go on with the present state
 * behind the last name, which is as good here: every report that exists during the whole run is read once.
 */
export async function* reportsOf(
  client: Pick<KubeClient, 'list'>,
  { namespace, pageSize, signal }: ReportSelection,
): AsyncGenerator<VulnerabilityReport, void, void> {
  let next: string | undefined;
  let limit = Math.min(firstPage, pageSize);
  do {
    const page = await readPage(client, {
      limit,
      signal,
      timeoutMs: pageTimeoutMs,
      ...(namespace === undefined ? {} : { namespace }),
      ...(next === undefined ? {} : { continue: next }),
    });
    yield* page.items;
    next = page.continue;
    limit = nextLimit(page.items, pageSize);
  } while (next !== undefined);
}

/** How many reports hold about `pageGoal` vulnerabilities, if the next ones are like these. */
function nextLimit(items: readonly VulnerabilityReport[], most: number): number {
  const found = items.reduce((sum, { report }) => sum + (report.vulnerabilities?.length ?? 0), 0);
  return Math.max(1, Math.min(most, Math.floor((pageGoal * items.length) / Math.max(1, found))));
}

async function readPage(
  client: Pick<KubeClient, 'list'>,
  options: NonNullable<Parameters<KubeClient['list']>[1]>,
): Promise<Page<VulnerabilityReport>> {
  try {
    return await client.list(VulnerabilityReport, options);
  } catch (error) {
    const token = isFault(error, 'Expired', 'Gone') ? error.details.continue : undefined;
    if (token === undefined) throw error;
    return client.list(VulnerabilityReport, { ...options, continue: token });
  }
}
