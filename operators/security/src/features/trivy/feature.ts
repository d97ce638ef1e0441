/** Trivy: the vulnerabilities that trivy-operator finds, brought to the store on a schedule. The CronJob: report-job.ts. */
import { defineKind, Namespace } from '@keelson/schema';
import { defineFeature } from '../../feature.ts';
import { VERSION } from '../../version.ts';
import { check, config } from './config.ts';
import { reportJob } from './report-job.ts';

/** What trivy-operator writes: one for each container of a workload. */
const VulnerabilityReport = defineKind({
  group: 'aquasecurity.github.io',
  version: 'v1alpha1',
  kind: 'VulnerabilityReport',
  plural: 'vulnerabilityreports',
  scope: 'Namespaced',
});

export const trivy = defineFeature({
  id: 'trivy',
  title: 'Trivy',
  description: 'Vulnerabilities that trivy-operator finds, in the store: one document each, marked when resolved.',
  priority: 200,
  version: VERSION,
  privileges: [],
  requires: [
    { kind: VulnerabilityReport, remedy: 'install trivy-operator (https://aquasecurity.github.io/trivy-operator)' },
  ],
  rights: [
    { kind: VulnerabilityReport, verbs: ['get', 'list'], why: 'it brings them to the store' },
    {
      kind: Namespace,
      verbs: ['get'],
      names: ['kube-system'],
      why: 'its uid tells this cluster from others in the store, where spec.global.clusterName is not set',
    },
  ],
  usesOutput: true,
  config,
  check,
  contribute: (settings, context) => (context.store === undefined ? [] : [reportJob(settings, context.store, context)]),
});
