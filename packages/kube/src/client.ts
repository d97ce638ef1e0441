/**
 * The client: every request that Keelson sends to a Kubernetes API goes through this interface.
 *
 * Contract: every call takes an AbortSignal and has a time-out; a failure is a `Fault` with a code from the one table in
 * fault.ts; what may be retried safely (429, 503 with Retry-After, a connection that broke before the request was sent,
 * any broken read) has been retried when a fault reaches the caller. Nothing here caches objects.
 */
import type { Kind, KubeObject, Ref } from '@keelson/schema';
import type { ServedKind } from './discovery/served-kind.ts';

export interface CallOptions {
  /** Ends the call at once; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For the whole call, with its waiting and retries (default 60 s). */
  timeoutMs?: number;
  /** Does not wait for its turn in flow control: for what must not be late, such as renewing a lease. */
  urgent?: boolean;
  /**
   * Asked right before each attempt goes to the wire, after all waiting (flow control, back-off, connecting): when it throws,
   * nothing is sent and the call rejects with that very error. For writes that must not happen once a lease is lost.
   */
  guard?: () => void;
}

export interface GetOptions extends CallOptions {
  /** Ask for PartialObjectMetadata: an object with apiVersion, kind and metadata only. */
  metadataOnly?: boolean;
  /** For example `scale`; what comes back then has the kind of the subresource. */
  subresource?: string;
}

export interface Selection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface ListOptions extends Selection, CallOptions {
  limit?: number;
  continue?: string;
  resourceVersion?: string;
  resourceVersionMatch?: 'NotOlderThan' | 'Exact';
  /** Ask for PartialObjectMetadata: objects with apiVersion, kind and metadata only. */
  metadataOnly?: boolean;
}

export interface Page<T> {
  items: T[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export type WatchEvent<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | {
      type: 'BOOKMARK';
      resourceVersion: string;
      /** Marks the end of the initial events of a streaming list. */
      initialEventsEnd: boolean;
    };

export interface WatchOptions extends Selection {
  signal?: AbortSignal;
  resourceVersion?: string;
  /** Streaming list (`sendInitialEvents`). */
  sendInitialEvents?: boolean;
  metadataOnly?: boolean;
  /** The server ends the watch after this long; the reflector randomises it. */
  timeoutSeconds?: number;
  /** No byte for this long means a dead connection: the stream throws a `StreamStalled` fault. */
  idleTimeoutMs?: number;
  /** Called when the server has accepted the watch, which may be long before its first event. */
  onOpen?: () => void;
}

export interface WriteOptions extends CallOptions {
  fieldManager?: string;
  dryRun?: boolean;
  subresource?: 'status' | 'scale' | (string & {});
}

export interface LogOptions {
  follow?: boolean;
  tailLines?: number;
  previous?: boolean;
  sinceSeconds?: number;
  timestamps?: boolean;
  signal?: AbortSignal;
}

export interface ApplyOptions extends WriteOptions {
  fieldManager: string;
  force?: boolean;
  /** Never sent again when the server may have carried it out: that is a fault with `maybeDone` then. */
  once?: boolean;
}

export interface DeleteOptions extends CallOptions {
  preconditions?: { uid?: string; resourceVersion?: string };
  propagation?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
  dryRun?: boolean;
}

export type PatchBody =
  | {
      type: 'json';
      operations: readonly {
        op: 'add' | 'remove' | 'replace' | 'test' | 'move' | 'copy';
        path: string;
        from?: string;
        value?: unknown;
      }[];
    }
  | { type: 'merge'; value: unknown }
  | { type: 'strategic'; value: unknown };

export interface KubeClient {
  /** Throws a `NotFound` fault when it does not exist. */
  get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: GetOptions): Promise<T>;
  /** Like `get`, but absence is a value. */
  find<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: GetOptions): Promise<T | undefined>;
  /** One page. */
  list<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Page<T>>;
  /** Every object, page after page (limit 500 unless told); restarts from a fresh list when a continue token expires. */
  listAll<T extends KubeObject>(kind: Kind<T>, options?: ListOptions): Promise<Page<T>>;
  /** One watch request. Ends when the server ends it; throws a fault when it breaks. Use a reflector to follow a kind. */
  watch<T extends KubeObject>(kind: Kind<T>, options?: WatchOptions): AsyncGenerator<WatchEvent<T>, void, void>;
  create<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  update<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: PatchBody, options?: WriteOptions): Promise<T>;
  /** Server-side apply. */
  apply<T extends KubeObject>(kind: Kind<T>, object: KubeObject, options: ApplyOptions): Promise<T>;
  /** The object as it is after the call: still there while finalizers or grace hold it, undefined once it is gone. */
  delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options?: DeleteOptions): Promise<T | undefined>;
  /** Log of a container, as text chunks. */
  logs(ref: Ref & { container?: string }, options?: LogOptions): AsyncGenerator<string, void, void>;
  /** Discovery: the kind that the server serves under this name, or undefined. Refreshed when a CRD may have appeared. */
  resolve(ref: { apiVersion: string; kind: string }, options?: CallOptions): Promise<Kind | undefined>;
  /** Discovery: everything that the server serves, newest version first within a kind. */
  kinds(options?: CallOptions): Promise<readonly ServedKind[]>;
  /** For paths that are no resource: /version, /readyz. Whatever the status is, it is a value; only no answer at all is a fault. */
  raw(
    path: string,
    options?: CallOptions & {
      method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
      body?: unknown;
    },
  ): Promise<{ status: number; body: string }>;
  /** Closes every connection. */
  close(): Promise<void>;
}
