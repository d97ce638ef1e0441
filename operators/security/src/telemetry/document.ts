/**
 * What is stored of an event: one document a log record, made in the gateway. The event itself stands under the name of its tool
 * (`falco.rule`); around it is what all tools have in common, by the names of the Elastic Common Schema, so that one query serves all.
 * A line that was no JSON is `message`, with `event.kind: pipeline_error`.
 */

/** Turns the body of each record into its document: statements of OTTL, in this order. */
export const documentProcessor = {
  // One record that a statement cannot handle is still stored, with what the others made of it.
  error_mode: 'ignore',
  log_statements: [
    // A record without a time of its own says 1970.
    'set(log.time, log.observed_time) where log.time_unix_nano == 0',
    'set(log.attributes["message"], log.body) where IsString(log.body)',
    'set(log.attributes["security_tool"], resource.attributes["security_tool"])',
    'set(log.attributes["kubernetes.node.name"], resource.attributes["k8s.node.name"])',
    'set(log.attributes["orchestrator.cluster.name"], resource.attributes["k8s.cluster.name"])',
    'set(log.attributes["@timestamp"], FormatTime(log.time, "%Y-%m-%dT%H:%M:%S.%sZ"))',
    'set(log.attributes["event.severity"], log.severity_number) where log.severity_number > 0',
    'set(log.attributes["log.level"], log.severity_text) where log.severity_text != ""',
    'set(log.body, log.attributes)',
  ],
};

/** The mapping of the exporter that takes the body as the document. The setting `mode` is ignored by this version of it. */
export const documentMapping = { allowed_modes: ['bodymap'] };
