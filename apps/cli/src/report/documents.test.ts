import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentsOf } from './documents.ts';
import { vulnerability, vulnerabilityReport } from './testing/reports.ts';

const first = { cluster: 'prod', seen: '2026-01-02T00:00:00.000Z' };

function ids(report: Parameters<typeof documentsOf>[0], sighting = first): string[] {
  return documentsOf(report, sighting).map(({ id }) => id);
}

describe('documentsOf', () => {
  it('given a vulnerability, when turned into a document, then its fields have their ECS names', () => {
    const [document] = documentsOf(vulnerabilityReport('web-7d9', [vulnerability('CVE-2024-1')]), first);
    expect(document?.fields).toMatchObject({
      '@timestamp': '2026-01-01T10:00:00Z',
      event: { kind: 'state', category: ['vulnerability'], dataset: 'trivy.vulnerability', ingested: first.seen },
      security_tool: 'trivy',
      observer: { vendor: 'Aqua Security', product: 'Trivy', version: '0.66.0' },
      vulnerability: { id: 'CVE-2024-1', enumeration: 'CVE', status: 'open', severity: 'HIGH', score: { base: 7.5 } },
      package: { name: 'openssl', version: '3.0.11-1', fixed_version: '3.0.13-1', type: 'debian' },
      orchestrator: {
        cluster: { name: 'prod' },
        namespace: 'default',
        resource: { type: 'replicaset', name: 'web-7d9' },
      },
      kubernetes: {
        namespace: 'default',
        owner: { kind: 'ReplicaSet', name: 'web-7d9' },
        container: { name: 'web' },
      },
      container: { image: { name: 'index.docker.io/library/nginx', tag: ['1.25'], hash: { all: ['sha256:4c0f'] } } },
    });
  });

  it('given a new scan of the same image in a later run, when turned into documents, then the ids are the same', () => {
    const before = vulnerabilityReport('web-7d9', [vulnerability('CVE-2024-1')]);
    const after = vulnerabilityReport('web-7d9', [
      vulnerability('CVE-2024-1', { severity: 'LOW', score: 2, fixedVersion: '', title: 'reworded' }),
    ]);
    const rescanned = { ...after, metadata: { ...after.metadata, uid: 'new' } };
    expect(ids(rescanned, { ...first, seen: '2026-02-02T00:00:00.000Z' })).toEqual(ids(before));
  });

  it.each([
    ['cluster', vulnerabilityReport('web', [vulnerability('CVE-1')]), { ...first, cluster: 'test' }],
    ['namespace', vulnerabilityReport('web', [vulnerability('CVE-1')], 'shop'), first],
    ['workload', vulnerabilityReport('api', [vulnerability('CVE-1')]), first],
    ['vulnerability', vulnerabilityReport('web', [vulnerability('CVE-2')]), first],
    ['package', vulnerabilityReport('web', [vulnerability('CVE-1', { resource: 'libssl3' })]), first],
    ['version', vulnerabilityReport('web', [vulnerability('CVE-1', { installedVersion: '3.0.12' })]), first],
    ['place in the image', vulnerabilityReport('web', [vulnerability('CVE-1', { packagePath: 'app/x.jar' })]), first],
  ])('given another %s, when turned into documents, then it is another document', (_, report, sighting) => {
    const usual = vulnerabilityReport('web', [vulnerability('CVE-1')]);
    expect(ids(report, sighting)).not.toEqual(ids(usual));
  });

  it('given one finding that stands twice in a report, when turned into documents, then it comes once', () => {
    expect(ids(vulnerabilityReport('web', [vulnerability('CVE-1'), vulnerability('CVE-1')]))).toHaveLength(1);
  });

  it('given what the scanner does not know, when turned into a document, then there is no value rather than an empty one', () => {
    const unknown = vulnerability('GHSA-x', { publishedDate: '', fixedVersion: '', primaryLink: '' });
    const [document] = documentsOf(vulnerabilityReport('web', [unknown]), first);
    expect(document?.fields).toMatchObject({
      vulnerability: { enumeration: 'GHSA', published_date: undefined, reference: undefined },
      package: { fixed_version: undefined },
    });
  });

  it('given a workload with a name too long for a label, when turned into a document, then the annotation tells it', () => {
    const report = vulnerabilityReport('x', [vulnerability('CVE-1')]);
    const name = 'a'.repeat(80);
    const { 'trivy-operator.resource.name': _, ...labels } = report.metadata.labels ?? {};
    const metadata = { ...report.metadata, labels, annotations: { 'trivy-operator.resource.name': name } };
    const [document] = documentsOf({ ...report, metadata }, first);
    expect(document?.fields).toMatchObject({ kubernetes: { owner: { name } } });
  });

  it('given the index template that we ship, when a document is stored, then every field of it has a type there', () => {
    const file = new URL('../../../../deploy/elasticsearch/security-vuln.json', import.meta.url);
    const { template } = JSON.parse(readFileSync(file, 'utf8')) as { template: { mappings: Mapping } };
    const [document] = documentsOf(vulnerabilityReport('web', [vulnerability('CVE-1')]), first);
    expect(untyped(document?.fields ?? {}, template.mappings)).toEqual([]);
    expect(untyped({ vulnerability: { colour: 'red' } }, template.mappings)).toEqual(['vulnerability.colour']);
  });
});

interface Mapping {
  readonly properties?: Readonly<Record<string, Mapping>>;
}

/** Paths of fields that a mapping does not know. */
function untyped(fields: object, { properties = {} }: Mapping): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const mapping = properties[name];
    if (mapping === undefined) return [name];
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? untyped(value, mapping).map((inner) => `${name}.${inner}`) : [];
  });
}
