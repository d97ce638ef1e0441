/** Tells users what happened to their object, as events.k8s.io/v1 Events: the same note again within a while is counted as a series, not written anew. */
import type { KubeObject, Ref } from '@keelson/schema';
import type { EventNote } from '../decision.ts';

export interface RecordedNote extends EventNote {
  /** What we did when it happened, one CamelCase word. Default `Reconcile`. */
  readonly action?: string;
  readonly related?: Ref & { readonly apiVersion: string; readonly kind: string };
}

export interface Recorder {
  /** Never throws and never blocks; what cannot be written is counted. */
  record(regarding: KubeObject, note: RecordedNote): void;
  /** Writes what is pending. */
  flush(signal?: AbortSignal): Promise<void>;
}
