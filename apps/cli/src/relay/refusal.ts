/**
 * Whose fault it is that a document is not taken. A status alone does not say: with 400 a store answers both for a document that does not fit
 * its mapping and for an index that it cannot make, because the cluster is at its limit of shards. So the type of the error decides. Pure.
 *
 * Types: https://github.com/elastic/elasticsearch/blob/v8.17.0/server/src/main/java/org/elasticsearch/ElasticsearchException.java, and what real
 * ones were seen to answer (operators/security/src/telemetry/dead-letters.parts.test.ts).
 */
import type { Item } from './bulk.ts';

/** What a store said of a document, or of a request. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** `unclear`: the type is one that we do not know. Such a document need not be in the way, and must not be given up. */
export type Blame = 'nobody' | 'store' | 'document' | 'unclear';

/** What a later attempt may cure, of a document or a request; the exporter repeats these (telemetry/exporter.ts, and a test there). */
export const CURABLE: readonly number[] = [401, 403, 404, 408, 429, 500, 502, 503, 504];
/** It is there already. */
const CONFLICT = 409;

/** Whatever their status: the index cannot be made, or takes nothing as it is. */
const STORES_OWN: readonly string[] = [
  // The limit of shards.
  'validation_exception',
  'cluster_block_exception',
  'index_closed_exception',
  'index_create_block_exception',
  'invalid_index_name_exception',
  'invalid_index_template_exception',
  // Two requests made one index at the same time.
  'resource_already_exists_exception',
  'es_rejected_execution_exception',
  'rejected_execution_exception',
  'circuit_breaking_exception',
  'process_cluster_event_timeout_exception',
  'unavailable_shards_exception',
  'security_exception',
];
/** An `illegal_argument_exception` is either: of an alias it is the store's, of a value that is too long the document's. */
const ALIAS = /no write index is defined for alias|has more than one ind(ex|ices) associated/;
const IMMENSE_TERM = /immense term/;
const DOCUMENTS_OWN = /^(strict_dynamic_mapping_exception|.*_pars(ing|e)_exception)$/;

export function blameOf(item: Item): Blame {
  const { status } = item;
  if (status < 300 || status === CONFLICT) return 'nobody';
  const { type, message } = refusalOf(item);
  if (CURABLE.includes(status) || STORES_OWN.includes(type)) return 'store';
  if (DOCUMENTS_OWN.test(type)) return 'document';
  if (type !== 'illegal_argument_exception') return 'unclear';
  if (ALIAS.test(message)) return 'store';
  return IMMENSE_TERM.test(message) ? 'document' : 'unclear';
}

export function refusalOf({ status, error }: Pick<Item, 'status' | 'error'>): Refusal {
  const { type = `status_${status}`, reason, caused_by } = error ?? {};
  const told = [reason, caused_by?.reason].filter((text) => text !== undefined);
  return { status, type, message: told.length === 0 ? `the store answered ${status}` : told.join(': ') };
}

/** The field that a store names in its reason. */
export function fieldOf({ message }: Refusal): string | undefined {
  const [, name] = /\bfield \[([\w.@-]{1,200})\]/.exec(message) ?? [];
  if (name !== undefined) return name;
  const [, leaf, parent] = /introduction of \[([\w@-]{1,100})\] within \[([\w.@-]{1,100})\]/.exec(message) ?? [];
  return leaf === undefined ? undefined : parent === '_doc' ? leaf : `${parent}.${leaf}`;
}

/** Of a request as a whole; undefined where it is no store that speaks, such as the page of a proxy. */
export function wholeRefusalOf({
  status,
  body,
}: {
  readonly status: number;
  readonly body: string;
}): Refusal | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: { type?: string; reason?: string } };
    return error?.type === undefined ? undefined : refusalOf({ status, error });
  } catch {
    return undefined;
  }
}
