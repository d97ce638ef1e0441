/**
 * What is kept of a document that the store refuses: the document as one text, which nothing can be wrong with, and why, for which index
 * and under which id it was refused. Names are those of the Elastic Common Schema where it has one. Pure.
 *
 * Its id is derived from the document: refused again, after a retry or a crash, it meets itself.
 */
import { createHash } from 'node:crypto';
import type { Operation } from './bulk.ts';
import type { Refusal } from './refusal.ts';

export interface DeadLetter {
  readonly id: string;
  readonly document: {
    readonly '@timestamp': string;
    readonly event: { readonly kind: 'pipeline_error'; readonly original: string };
    readonly error: { readonly type: string; readonly message: string };
    readonly http: { readonly response: { readonly status_code: number } };
    readonly dead_letter: {
      readonly index: string;
      readonly id?: string;
      readonly bytes: number;
      /** Whether `event.original` is only how it begins. */
      readonly cut: boolean;
    };
    readonly [shared: string]: unknown;
  };
}

/** What the pipeline puts into every document: kept beside it, so that one query finds what is missing of a tool or a node. */
const SHARED = ['security_tool', 'kubernetes.node.name', 'orchestrator.cluster.name'];
/** As long as a reason may be; stores quote what they refuse. */
const LONGEST_REASON = 2000;
/** What is kept of a document that is too large for the store as a whole. */
const CUT_CHARACTERS = 32_768;

export function deadLetter({ action, source }: Operation, refusal: Refusal, path: string, now: Date): DeadLetter {
  const { _index: index = indexOf(path), _id: id } = targetOf(action);
  const hash = createHash('sha256')
    .update([index, id ?? '', source].join('\n'))
    .digest('hex');
  return {
    id: hash.slice(0, 32),
    document: {
      '@timestamp': now.toISOString(),
      ...sharedOf(source),
      event: { kind: 'pipeline_error', original: source },
      error: { type: refusal.type, message: refusal.message.slice(0, LONGEST_REASON) },
      http: { response: { status_code: refusal.status } },
      dead_letter: { index, ...(id === undefined ? {} : { id }), bytes: Buffer.byteLength(source), cut: false },
    },
  };
}

/** The same with no more than the beginning of the document. */
export function cutLetter({ id, document }: DeadLetter): DeadLetter {
  const { event, dead_letter } = document;
  return {
    id,
    document: {
      ...document,
      event: { ...event, original: event.original.slice(0, CUT_CHARACTERS) },
      dead_letter: { ...dead_letter, cut: true },
    },
  };
}

export function toOperation({ id, document }: DeadLetter, index: string): Operation {
  return { action: JSON.stringify({ create: { _index: index, _id: id } }), source: JSON.stringify(document) };
}

function targetOf(action: string): { readonly _index?: string; readonly _id?: string } {
  const [target] = Object.values(JSON.parse(action) as Readonly<Record<string, { _index?: string; _id?: string }>>);
  return target ?? {};
}

/** The index that a request is for as a whole: `/security-events/_bulk`. */
export function indexOf(path: string): string {
  return decodeURIComponent(/^\/([^/]+)\/_bulk/.exec(path)?.[1] ?? '');
}

function sharedOf(source: string): Readonly<Record<string, string>> {
  try {
    const document = JSON.parse(source) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      SHARED.flatMap((name) => {
        const value = document[name];
        return typeof value === 'string' ? [[name, value.slice(0, 1024)]] : [];
      }),
    );
  } catch {
    return {};
  }
}
