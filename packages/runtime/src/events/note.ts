/** An event as the API takes it: within the limits of events.k8s.io/v1 (note 1 kB, reason and action 128 characters). */
import { Event, type KubeObject, manifest } from '@keelson/schema';
import { toMicroTime } from '../micro-time.ts';
import type { RecordedNote } from './recorder.ts';

const LONGEST_NOTE_BYTES = 1_024;
const LONGEST_WORD = 128;
const LONGEST_NAME = 253;

export interface EventSource {
  /** `keelson.io/website` */
  readonly controller: string;
  /** Which replica. */
  readonly instance: string;
}

/** The Event for the first time that something happens. */
export function toEvent(
  regarding: KubeObject,
  note: RecordedNote,
  source: EventSource,
  now: number,
  suffix: string,
): Event {
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  return manifest(
    Event,
    { name: `${name.slice(0, LONGEST_NAME - suffix.length - 1)}.${suffix}`, namespace: namespace ?? 'default' },
    {
      eventTime: toMicroTime(now),
      reportingController: source.controller,
      reportingInstance: source.instance.slice(0, LONGEST_WORD),
      action: (note.action ?? 'Reconcile').slice(0, LONGEST_WORD),
      reason: note.reason.slice(0, LONGEST_WORD),
      type: note.type,
      note: truncate(note.message, LONGEST_NOTE_BYTES),
      regarding: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      ...(note.related === undefined ? {} : { related: note.related }),
    },
  );
}

/** The same text in at most this many bytes, cut between characters. */
export function truncate(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  const ellipsis = '…';
  const room = bytes - Buffer.byteLength(ellipsis);
  const cut = new TextDecoder().decode(Buffer.from(text).subarray(0, room));
  return `${cut.replace(/\uFFFD+$/, '')}${ellipsis}`;
}
