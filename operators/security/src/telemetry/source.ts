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
    readonly field: EventPath;
    /** As the collector's time parser takes it. */
    readonly layout: string;
    readonly layoutType: 'gotime' | 'strptime' | 'epoch';
  };
  /** Where an event holds its severity, and which words mean which level of OpenTelemetry. */
  readonly severity?: {
    /** The first that is there counts: a word, or a list that has one of the words among others. */
    readonly fields: readonly EventPath[];
    readonly levels: Readonly<Record<string, readonly string[]>>;
  };
  /** What of an event goes into fields that all tools share: the first path that holds a text counts. */
  readonly shared?: Readonly<Partial<Record<SharedField, readonly EventPath[]>>>;
  /** Words that a tool puts where it knows nothing; the empty text is one of them for all. */
  readonly nothing?: readonly string[];
  /** Lists of labels; those that are ids of techniques of MITRE ATT&CK (`T1059.004`) become `threat.technique.id`. */
  readonly techniques?: readonly EventPath[];
}

/** Within an event: `process.binary`; a key that has dots in brackets, `output_fields["k8s.ns.name"]`. */
export type EventPath = string;

/** Fields of the Elastic Common Schema and of Elastic's Kubernetes integration that one query asks all tools by. */
export type SharedField =
  | 'rule.name'
  | 'event.action'
  | 'process.executable'
  | 'kubernetes.namespace'
  | 'kubernetes.pod.name'
  | 'kubernetes.container.name'
  | 'container.id';

/** The levels of syslog as OpenTelemetry's data model maps them, for tools that use these words. */
export const syslogLevels = {
  fatal: ['Emergency'],
  error3: ['Alert'],
  error2: ['Critical'],
  error: ['Error'],
  warn: ['Warning'],
  info2: ['Notice'],
  info: ['Informational'],
  debug: ['Debug'],
} as const;

/** The folder on every node that tools write into and the collectors read from. */
export const LOG_ROOT = '/var/log/security';
