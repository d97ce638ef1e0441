/** A full list in pages, each transformed before the next is read, so that the untransformed whole is never in memory. */
import type { Kind, KubeObject } from '@keelson/schema';
import type { KubeClient, Page, Selection } from '../client.ts';
import { isFault } from '../fault.ts';

export interface ListPagesOptions extends Selection {
  readonly metadataOnly?: boolean;
  readonly pageSize: number;
  readonly transform: (object: KubeObject) => KubeObject;
  readonly signal: AbortSignal;
}

/**
 * Every object of one consistent snapshot. When its continue token expires half way (410), the rest would be of another
 * snapshot: it begins anew, in one piece, which cannot expire.
 */
export async function listPages<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: ListPagesOptions,
): Promise<Page<T>> {
  const { pageSize, transform, ...selection } = options;
  try {
    return await readPages(client, kind, { ...selection, limit: pageSize }, transform);
  } catch (error) {
    if (!isFault(error, 'Expired', 'Gone')) throw error;
    return readPages(client, kind, selection, transform);
  }
}

async function readPages<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: Selection & { limit?: number; signal: AbortSignal },
  transform: ListPagesOptions['transform'],
): Promise<Page<T>> {
  const items: T[] = [];
  let page = await client.list(kind, options);
  for (;;) {
    for (const item of page.items) items.push(transform(item) as T);
    if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion };
    page = await client.list(kind, { ...options, continue: page.continue });
  }
}
