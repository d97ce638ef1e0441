/**
 * How the store reads our documents. Data only.
 *
 * Invariant: no event adds fields without end, and none is refused for the types of what its tool wrote into it. (What remains: nesting deeper than
 * the store allows, and on OpenSearch a value above 32,766 bytes. Those become dead letters.) So the event of a tool, whose
 * shape is not ours to promise, is *one* field that holds any object, and each value in it is found by its path
 * (`falco.output_fields.user.name: root`); how such a field is called is a matter of the store (dialect.ts). Only the fields that we fill
 * ourselves have types of their own.
 */

/** Longer ones are stored, and not found by this field: Lucene refuses terms above 32 KiB, and with them the document. */
const keyword = { type: 'keyword', ignore_above: 1024 };
const text = { type: 'text', norms: false };
/** Of a value that is none, the document is kept and this field is not found. */
const tolerant = { ignore_malformed: true };
const date = { type: 'date', ...tolerant };
const long = { type: 'long', ...tolerant };
const float = { type: 'float', ...tolerant };
/**
 * Set by ourselves, so never malformed. Elasticsearch before 8.11 refuses a data stream whose `@timestamp` may be, also where an index-wide
 * setting says so (https://github.com/elastic/elasticsearch/issues/71755, /pull/99346): so tolerance is said field by field.
 */
const timestamp = { type: 'date' };

function object(properties: object): { readonly properties: object } {
  return { properties };
}

/** The same value under another name that people ask by; it takes no space. */
function alias(path: string): object {
  return { type: 'alias', path };
}

/** A text that looks like a date or a number is a text, or the first document would decide for all that follow. */
const asWritten = { date_detection: false, numeric_detection: false };

/** Anything that is not listed: of a newcomer, or of a newer version. The limit of fields is for what slips through. */
const unlisted = [
  { texts: { match_mapping_type: 'string', mapping: keyword } },
  { numbers: { match_mapping_type: 'long', mapping: long } },
  { fractions: { match_mapping_type: 'double', mapping: float } },
];

/** What the pipeline stores: events of tools, and inventory. `anyObject` is the type of a field that holds any object. */
export const eventMappings = (anyObject: object) => ({
  ...asWritten,
  dynamic_templates: [
    // Every object of the first level that is not listed below is the event of a tool, whichever tools there will be.
    {
      events: {
        match_mapping_type: 'object',
        path_match: '*',
        path_unmatch: '*.*',
        mapping: anyObject,
      },
    },
    ...unlisted,
  ],
  properties: {
    '@timestamp': timestamp,
    security_tool: keyword,
    message: text,
    rule: object({ name: keyword }),
    event: object({ kind: keyword, action: keyword, severity: long }),
    threat: object({ technique: object({ id: keyword }) }),
    process: object({ executable: keyword }),
    container: object({ id: keyword, name: alias('kubernetes.container.name') }),
    host: object({ name: alias('kubernetes.node.name') }),
    kubernetes: object({
      namespace: keyword,
      node: object({ name: keyword }),
      pod: object({ name: keyword }),
      container: object({ name: keyword }),
    }),
    orchestrator: object({ cluster: object({ name: keyword }), namespace: alias('kubernetes.namespace') }),
    log: object({ level: keyword, file: object({ path: keyword, record_offset: long }) }),
  },
});

/** What `keelson report vulnerabilities` stores. */
export const vulnerabilityMappings = {
  ...asWritten,
  dynamic_templates: unlisted,
  properties: {
    '@timestamp': timestamp,
    security_tool: keyword,
    event: object({
      kind: keyword,
      category: keyword,
      type: keyword,
      module: keyword,
      dataset: keyword,
      ingested: date,
      end: date,
    }),
    observer: object({ vendor: keyword, product: keyword, version: keyword }),
    vulnerability: object({
      id: keyword,
      status: keyword,
      enumeration: keyword,
      classification: keyword,
      severity: keyword,
      score: object({ base: float }),
      title: text,
      description: text,
      reference: keyword,
      published_date: date,
      report_id: keyword,
      scanner: object({ vendor: keyword }),
    }),
    package: object({
      name: keyword,
      version: keyword,
      fixed_version: keyword,
      type: keyword,
      path: keyword,
      purl: keyword,
    }),
    orchestrator: object({
      type: keyword,
      cluster: object({ name: keyword }),
      namespace: keyword,
      resource: object({ type: keyword, name: keyword }),
    }),
    kubernetes: object({
      namespace: keyword,
      owner: object({ kind: keyword, name: keyword }),
      container: object({ name: keyword }),
    }),
    container: object({
      name: keyword,
      image: object({ name: keyword, tag: keyword, hash: object({ all: keyword }) }),
    }),
  },
};

/** What `keelson relay` keeps of documents that the store refuses: whatever is wrong with one, it is one text here. */
export const deadLetterMappings = {
  ...asWritten,
  dynamic_templates: unlisted,
  properties: {
    '@timestamp': timestamp,
    security_tool: keyword,
    // To be read and not searched, so that it may have any length.
    event: object({ kind: keyword, original: { type: 'keyword', index: false, doc_values: false } }),
    error: object({ type: keyword, message: text }),
    http: object({ response: object({ status_code: long }) }),
    dead_letter: object({ index: keyword, id: keyword, bytes: long, cut: { type: 'boolean' } }),
    kubernetes: object({ node: object({ name: keyword }) }),
    orchestrator: object({ cluster: object({ name: keyword }) }),
  },
};
