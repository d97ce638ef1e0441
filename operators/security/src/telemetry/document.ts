/**
 * What is stored of an event: one document a log record. The event itself stands under the name of its tool (`falco.rule`); around it
 * is what all tools have in common, by the names of the Elastic Common Schema, so that one query serves all (shared-fields.ts). A line
 * that was no JSON is `message`, with `event.kind: pipeline_error`.
 *
 * **Its id is derived from what it is**, so that an event which is sent or read again (a retry, a collector that was killed between
 * sending and ticking off) meets itself in the store and is refused there: cluster, node, tool, where the line began in its file, its
 * time, and the line itself.
 *
 * - Not the path of the file: it is another one after a rotation, while the offset stays.
 * - The offset, because two like lines in one file are two events.
 * - The time, because files begin anew: a line that tells its own time is never the same in two files. One that tells none has the
 *   time of its reading instead. So like lines at the same place of two files stay two, at the price that such a line comes twice if
 *   the collector is killed before it has ticked it off. Losing would be worse.
 * - A cryptographic hash, so that nobody can write a line that hides another. 128 bits of it are enough.
 */

/** The attribute that the exporter takes the id of the document from. */
const DOCUMENT_ID = 'elasticsearch.document_id';

/** On the node, the only place that sees the line as it was written: time and identity of each record. */
export const identityProcessor = {
  error_mode: 'ignore',
  log_statements: [
    // A record without a time of its own says 1970.
    'set(log.time, log.observed_time) where log.time_unix_nano == 0',
    // Once: what was refused behind here (no space on the disk) comes again as it left, and its line is gone by then.
    `set(log.attributes["${DOCUMENT_ID}"], Substring(SHA256(Concat([${[
      'resource.attributes["k8s.cluster.name"]',
      'resource.attributes["k8s.node.name"]',
      'resource.attributes["security_tool"]',
      'log.attributes["log.file.record_offset"]',
      'log.time_unix_nano',
      'log.body',
    ].join(', ')}], "\\n")), 0, 32)) where log.attributes["${DOCUMENT_ID}"] == nil`,
    // The event is there already, parsed: the line need not travel beside it.
    'set(log.body, "") where log.attributes["event.kind"] != "pipeline_error"',
  ],
};

/** In the gateway, turns the body of each record into its document: statements of OTTL, in this order. */
export const documentProcessor = {
  // One record that a statement cannot handle is still stored, with what the others made of it.
  error_mode: 'ignore',
  log_statements: [
    'set(log.attributes["message"], log.body) where log.body != ""',
    'set(log.attributes["security_tool"], resource.attributes["security_tool"])',
    'set(log.attributes["kubernetes.node.name"], resource.attributes["k8s.node.name"])',
    'set(log.attributes["orchestrator.cluster.name"], resource.attributes["k8s.cluster.name"])',
    'set(log.attributes["@timestamp"], FormatTime(log.time, "%Y-%m-%dT%H:%M:%S.%sZ"))',
    'set(log.attributes["event.severity"], log.severity_number) where log.severity_number > 0',
    'set(log.body, log.attributes)',
    `delete_key(log.body, "${DOCUMENT_ID}")`,
    // What is in the body need not wait in the queue a second time.
    `keep_keys(log.attributes, ["${DOCUMENT_ID}"])`,
  ],
};

/** How the exporter makes documents and names them: the body as it is, the id as it was derived; one that is there already is no error. */
export const documentSettings = {
  // The setting `mode` is ignored by this version of the exporter.
  mapping: { allowed_modes: ['bodymap'] },
  logs_dynamic_id: { enabled: true },
  suppress_conflict_errors: true,
};
