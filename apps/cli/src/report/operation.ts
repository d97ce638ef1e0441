/** One line pair of `_bulk`: a change of one document, as text, so that its size is known before it is sent. Pure. */
import type { VulnerabilityDocument } from './documents.ts';

export interface Operation {
  readonly id: string;
  /** Action and source, each with its line break. */
  readonly lines: string;
  readonly bytes: number;
}

/** The version of a document that a change is based on. */
export interface Version {
  readonly seqNo: number;
  readonly primaryTerm: number;
}

/**
 * Stores what was seen: a new document keeps this run as `event.created` for ever, one that exists gets the present fields.
 * What it had and is no longer known is set to null, because an update merges.
 */
export function sighted({ id, fields }: VulnerabilityDocument): Operation {
  const doc = JSON.stringify(fields, (_, value: unknown) => (value === undefined ? null : value));
  const upsert = JSON.stringify({ ...fields, event: { ...fields.event, created: fields.event.ingested } });
  return operation(id, { retry_on_conflict: 3 }, `{"doc":${doc},"upsert":${upsert}}`);
}

/** Marks a document as resolved, unless somebody has changed it since it was read: then the store answers 409. */
export function resolved(id: string, { seqNo, primaryTerm }: Version, at: string): Operation {
  const doc = { vulnerability: { status: 'resolved' }, event: { end: at } };
  return operation(id, { if_seq_no: seqNo, if_primary_term: primaryTerm }, JSON.stringify({ doc }));
}

function operation(id: string, options: object, source: string): Operation {
  const lines = `${JSON.stringify({ update: { _id: id, ...options } })}\n${source}\n`;
  return { id, lines, bytes: Buffer.byteLength(lines) };
}

export interface BatchLimits {
  readonly bytes: number;
  readonly count: number;
}

/** Well below the 100 MB that a store takes by default, and large enough that the number of requests does not matter. */
export const batchLimits: BatchLimits = { bytes: 4 * 1024 * 1024, count: 1000 };

/** Operations in batches that stay within both limits; one that is too large by itself goes alone. */
export async function* inBatches(
  operations: AsyncIterable<Operation>,
  limits: BatchLimits = batchLimits,
): AsyncGenerator<Operation[], void, void> {
  let batch: Operation[] = [];
  let bytes = 0;
  for await (const one of operations) {
    if (batch.length > 0 && (batch.length === limits.count || bytes + one.bytes > limits.bytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(one);
    bytes += one.bytes;
  }
  if (batch.length > 0) yield batch;
}
