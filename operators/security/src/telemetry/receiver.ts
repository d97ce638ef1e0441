/** How the file of one tool is read on a node: every line once, with the time and severity of the event itself, and none left out. */
import { lenient, optional, sharedFields } from './shared-fields.ts';
import type { LogSource } from './source.ts';

/** The environment variable that holds the name of the node. */
export const NODE_NAME_VARIABLE = 'K8S_NODE_NAME';

/** The id of the receiver of a tool. */
export function receiverId({ tool }: Pick<LogSource, 'tool'>): string {
  return `filelog/${tool}`;
}

/** Reads the file of a tool, and those that it was rotated to. */
export function filelogReceiver(source: LogSource): object {
  const include = [`${source.path}*`, ...(source.rotated === undefined ? [] : [source.rotated])];
  return {
    include,
    // What was compressed had been read, and would be read again as lines without sense.
    exclude: include.flatMap((pattern) => [`${pattern}.gz`, `${pattern}.zst`]),
    start_at: 'beginning',
    // Two files that begin alike are one file to the collector, and one of them is not read. With the default of 1000 bytes that happens:
    // osquery writes the time of a snapshot after its rows.
    fingerprint_size: '16KiB',
    // With every look at the files what is known of them is written to disk. A second is short beside the 5 s that a batch may take.
    poll_interval: '1s',
    include_file_path: true,
    include_file_name: false,
    // Two like lines in one file are two events: where each began tells them apart.
    include_file_record_offset: true,
    // Some tools write a whole table in one line. What is longer yet is cut, kept and marked.
    max_log_size: '4MiB',
    // A line without its end is still being written; after this long its writer has died, and what there is of it counts.
    force_flush_period: '30s',
    // A file that was copied and cut is read anew from its start; by default it is left alone until it is as long as before.
    on_truncate: 'read_whole_file',
    storage: 'file_storage',
    // Refused by what follows (no memory, no space), a line waits in its file: the receiver would otherwise drop it.
    retry_on_failure: { enabled: true, max_elapsed_time: '0s' },
    resource: { security_tool: source.tool, 'k8s.node.name': `\${env:${NODE_NAME_VARIABLE}}` },
    operators: operatorsOf(source),
  };
}

/**
 * The event becomes the attribute named after its tool, so that no two tools can disagree about the type of a field. A line that is not
 * a JSON object stays what it is, the body, and is marked the way the Elastic Common Schema marks what a pipeline could not read.
 */
function operatorsOf(source: LogSource): readonly object[] {
  const { tool, time } = source;
  const event = `attributes.${tool}`;
  return [
    // Without parse_ints a process id of 12345 arrives as 12345.0.
    { type: 'json_parser', parse_to: event, parse_ints: true, ...lenient },
    ...(time === undefined
      ? []
      : [
          {
            type: 'time_parser',
            if: `${optional(event, time.field)} != nil`,
            parse_from: `${event}.${time.field}`,
            layout_type: time.layoutType,
            layout: time.layout,
            // Times without a zone are those of the tool, and tools run in UTC.
            ...(time.layoutType === 'epoch' ? {} : { location: 'UTC' }),
            ...lenient,
          },
        ]),
    ...sharedFields(source, event),
    { type: 'add', if: `${event} == nil`, field: 'attributes["event.kind"]', value: 'pipeline_error' },
  ];
}
