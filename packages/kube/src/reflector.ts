/**
 * The reflector: follows one kind for ever, as an async generator of states.
 *
 * Invariant: it never stops silently and never goes deaf. It ends only when its signal is aborted; everything else is a
 * state that it reports and recovers from. Between `synced` and the next `replaced`, the events are gapless: a consumer that
 * applies them holds what the server holds.
 */
import type { Kind, KubeObject } from '@keelson/schema';
import type { KubeClient, Selection } from './client.ts';
import type { Fault } from './fault.ts';

export type ReflectorState<T> =
  /** A full, consistent picture: whatever is not in it no longer exists. */
  | { state: 'replaced'; items: readonly T[]; resourceVersion: string }
  | { state: 'changed'; type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T; resourceVersion: string }
  /** No change, but proof that nothing was missed up to here. */
  | { state: 'progressed'; resourceVersion: string }
  /** A stream is open (again). */
  | { state: 'watching'; resourceVersion: string }
  /** Not connected; tries again after `retryInMs`. `fault` says why in words for a person. */
  | { state: 'interrupted'; fault: Fault; attempt: number; retryInMs: number };

export interface ReflectorOptions extends Selection {
  metadataOnly?: boolean;
  /** Applied to every object before it is handed out (drop managedFields, project). */
  transform?: (object: KubeObject) => KubeObject;
  pageSize?: number;
  /** Use the streaming list where the server has it (default: try, and fall back for good when it is refused). */
  streamingList?: boolean;
  backoff?: { initialMs: number; maxMs: number };
  idleTimeoutMs?: number;
  signal: AbortSignal;
}

export type Reflect = <T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: ReflectorOptions,
) => AsyncGenerator<ReflectorState<T>, void, void>;
