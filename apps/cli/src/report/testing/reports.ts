/** VulnerabilityReports as trivy-operator 0.29 writes them. */
import type { Vulnerability, VulnerabilityReport } from '../vulnerability-report.ts';

export function vulnerability(
  id: string,
  changes: Partial<Vulnerability> = {},
): Vulnerability & Record<string, unknown> {
  return {
    vulnerabilityID: id,
    resource: 'openssl',
    installedVersion: '3.0.11-1',
    fixedVersion: '3.0.13-1',
    severity: 'HIGH',
    score: 7.5,
    title: 'openssl: something',
    primaryLink: `https://avd.aquasec.com/nvd/${id.toLowerCase()}`,
    publishedDate: '2024-01-25T00:00:00Z',
    lastModifiedDate: '2024-02-01T00:00:00Z',
    target: 'nginx:1.25 (debian 12.4)',
    class: 'os-pkgs',
    packageType: 'debian',
    packagePURL: 'pkg:deb/debian/openssl@3.0.11-1',
    links: [],
    ...changes,
  };
}

export function vulnerabilityReport(
  name: string,
  vulnerabilities: readonly Vulnerability[],
  namespace = 'default',
): VulnerabilityReport {
  return {
    apiVersion: 'aquasecurity.github.io/v1alpha1',
    kind: 'VulnerabilityReport',
    metadata: {
      name: `replicaset-${name}-web`,
      namespace,
      labels: {
        'trivy-operator.resource.kind': 'ReplicaSet',
        'trivy-operator.resource.name': name,
        'trivy-operator.resource.namespace': namespace,
        'trivy-operator.container.name': 'web',
      },
    },
    report: {
      artifact: { repository: 'library/nginx', tag: '1.25', digest: 'sha256:4c0f' },
      registry: { server: 'index.docker.io' },
      os: { family: 'debian', name: '12.4' },
      scanner: { name: 'Trivy', vendor: 'Aqua Security', version: '0.66.0' },
      summary: { criticalCount: 0, highCount: 1, mediumCount: 0, lowCount: 0, unknownCount: 0 },
      updateTimestamp: '2026-01-01T10:00:00Z',
      vulnerabilities,
    },
  } as VulnerabilityReport;
}
