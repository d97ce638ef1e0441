/** Events in the real formats of tools, and what must become of them. */
export interface RecordedEvent {
  /** What is special about it. */
  readonly kind: string;
  /** As the tool writes it, on one line. */
  readonly event: object;
  /** Its own time, as `@timestamp` begins; without it `2026-05-01T10:00:00.123456789Z`. */
  readonly at?: string;
  /** Every field of the document that comes out of the event, but for the event itself. */
  readonly shared: Readonly<Record<string, unknown>>;
}

/** What an event that says nothing else happened at. */
export const RECORDED_AT = '2026-05-01T10:00:00.123456789Z';
