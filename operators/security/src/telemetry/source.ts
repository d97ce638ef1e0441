/** What a tool writes for the pipeline: one file of JSON lines on every node, and where its events belong. */

/** The indices of the store that events of tools go to, by the names that `spec.output.<store>.indices` has. */
export type EventIndex = 'events' | 'inventory';

export interface LogSource {
  /** The value of `security_tool`; the receiver is `filelog/<tool>`. */
  readonly tool: string;
  /** The file as the tool knows it; rotated ones beside it begin with the same name. */
  readonly path: string;
  /** Glob of rotated files, where the tool names them otherwise: read too, or what was written while no collector ran is lost. */
  readonly rotated?: string;
  readonly index: EventIndex;
  /** Where an event holds its own time; without it the time at which it was read counts. */
  readonly time?: {
    /** Dotted path within the event: `time`. */
    readonly field: string;
    /** As the collector's time parser takes it. */
    readonly layout: string;
    readonly layoutType: 'gotime' | 'strptime' | 'epoch';
  };
  /** Where an event holds its severity, and which of its words mean which level of OpenTelemetry. */
  readonly severity?: {
    readonly field: string;
    readonly levels: Readonly<Record<string, readonly string[]>>;
  };
}

/** The folder on every node that tools write into and the collectors read from. */
export const LOG_ROOT = '/var/log/security';
