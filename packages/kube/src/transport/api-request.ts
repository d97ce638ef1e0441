/** A request to the API and its answer, as the layers above the wire see them. */
import { resourceNameOf } from '@keelson/schema';
import type { Subject } from '../path.ts';
import type { AnswerHead } from './exchange.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  /** Path and query below the server's base URL. */
  readonly path: string;
  readonly subject: Subject;
  readonly accept: string;
  readonly contentType?: string;
  readonly body?: string;
  readonly ifNoneMatch?: string;
  /** May be carried out twice without harm. */
  readonly repeatable: boolean;
  /** Worth compressing: lists. */
  readonly large?: boolean;
  readonly urgent?: boolean;
  /** Answers of 400 and above are answers to the caller, not faults. */
  readonly anyStatus?: boolean;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly guard?: () => void;
}

export interface Answer extends AnswerHead {
  readonly body: Buffer;
}

/** `PATCH /apis/apps/v1/…`, for messages. */
export function nameOf(request: ApiRequest): string {
  return `${request.method} ${request.path}`;
}

/** What metrics and fairness go by. */
export function labelsOf(request: ApiRequest): { verb: string; resource?: string } {
  const { kind, verb } = request.subject;
  return kind === undefined ? { verb } : { verb, resource: resourceNameOf(kind) };
}
