/**
 * One document a vulnerability, with the field names of the Elastic Common Schema. Pure.
 *
 * Invariant: the id is derived from what the finding *is* (cluster, workload, container, image, vulnerability, package) and from
 * nothing that a scan or a run changes, so that the same finding is always the same document and no run can double it.
 */
import { createHash } from 'node:crypto';
import { type Subject, subjectOf, type Vulnerability, type VulnerabilityReport } from './vulnerability-report.ts';

export interface VulnerabilityDocument {
  readonly id: string;
  /** Absent values are `undefined`. */
  readonly fields: Readonly<Record<string, unknown>> & { readonly event: Readonly<Record<string, unknown>> };
}

export interface Sighting {
  readonly cluster: string;
  /** When this run began. */
  readonly seen: string;
}

/** Every vulnerability of a report; one that it lists twice comes once. */
export function documentsOf(report: VulnerabilityReport, sighting: Sighting): VulnerabilityDocument[] {
  const subject = subjectOf(report);
  const documents = new Map<string, VulnerabilityDocument>();
  for (const vulnerability of report.report.vulnerabilities ?? []) {
    const id = idOf(report, subject, vulnerability, sighting.cluster);
    documents.set(id, { id, fields: fieldsOf(report, subject, vulnerability, sighting) });
  }
  return [...documents.values()];
}

function idOf({ report }: VulnerabilityReport, subject: Subject, found: Vulnerability, cluster: string): string {
  const image = text(report.artifact?.digest) ?? `${imageOf(report)}:${report.artifact?.tag ?? ''}`;
  const parts = [
    cluster,
    subject.namespace,
    subject.kind,
    subject.name,
    subject.container,
    image,
    found.vulnerabilityID,
    found.resource,
    found.installedVersion,
    // One package can stand at several places of one image.
    text(found.packagePath) ?? text(found.target),
  ];
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? '')))
    .digest('base64url');
}

function fieldsOf(
  { metadata, report }: VulnerabilityReport,
  subject: Subject,
  found: Vulnerability,
  { cluster, seen }: Sighting,
): VulnerabilityDocument['fields'] {
  const { scanner, artifact } = report;
  return {
    '@timestamp': date(report.updateTimestamp) ?? seen,
    event: {
      kind: 'state',
      category: ['vulnerability'],
      type: ['info'],
      module: 'trivy',
      dataset: 'trivy.vulnerability',
      ingested: seen,
      // A finding that comes back is open again.
      end: undefined,
    },
    security_tool: 'trivy',
    observer: { vendor: text(scanner?.vendor), product: text(scanner?.name), version: text(scanner?.version) },
    vulnerability: {
      id: found.vulnerabilityID,
      status: 'open',
      enumeration: found.vulnerabilityID.split('-')[0],
      classification: found.score === undefined ? undefined : 'CVSS',
      severity: text(found.severity),
      score: { base: found.score },
      title: text(found.title),
      description: text(found.description),
      reference: text(found.primaryLink),
      published_date: date(found.publishedDate),
      report_id: metadata.uid,
      scanner: { vendor: text(scanner?.vendor) },
    },
    package: {
      name: found.resource,
      version: text(found.installedVersion),
      fixed_version: text(found.fixedVersion),
      type: text(found.packageType) ?? text(found.class),
      path: text(found.packagePath) ?? text(found.target),
      purl: text(found.packagePURL),
    },
    orchestrator: {
      type: 'kubernetes',
      cluster: { name: cluster },
      namespace: subject.namespace,
      resource: { type: subject.kind?.toLowerCase(), name: subject.name },
    },
    kubernetes: {
      namespace: subject.namespace,
      owner: { kind: subject.kind, name: subject.name },
      container: { name: subject.container },
    },
    container: {
      name: subject.container,
      image: {
        name: imageOf(report),
        tag: list(artifact?.tag),
        hash: { all: list(artifact?.digest) },
      },
    },
  };
}

function imageOf({ artifact, registry }: VulnerabilityReport['report']): string {
  return [text(registry?.server), text(artifact?.repository)].filter((part) => part !== undefined).join('/');
}

/** An empty text means that nobody knows: no value, which a store can tell apart. */
function text(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function list(value: string | undefined): string[] | undefined {
  const known = text(value);
  return known === undefined ? undefined : [known];
}

/** One date that a store cannot read would cost the whole document. */
function date(value: string | undefined): string | undefined {
  return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : value;
}
