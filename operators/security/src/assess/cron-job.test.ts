import { describe, it } from 'vitest';
import { type Case, check } from './testing/case.ts';
import { ago, containerIn, falco, podOf, podOfRun, trivy } from './testing/recorded.ts';
import { crashed, crashLoop, running } from './testing/statuses.ts';

const cases: readonly Case[] = [
  {
    given: 'a schedule that has not come round yet',
    title: 'Trivy',
    workloads: [trivy()],
    status: 'True',
    reason: 'Ready',
    message: 'Trivy scheduled at 0 */6 * * *, has not run yet',
  },
  {
    given: 'a run that succeeded',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600), lastSuccessfulTime: ago(3500) })],
    status: 'True',
    reason: 'Ready',
    message: `Trivy scheduled at 0 */6 * * *, last success at ${ago(3500)}`,
  },
  {
    given: 'a run that goes on',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(60), active: [{ name: 'trivy-29539440' }] })],
    around: [podOfRun(containerIn('trivy', { running }, { ready: true }), 60)],
    status: 'True',
    reason: 'Ready',
    message: 'Trivy scheduled at 0 */6 * * *, runs now',
  },
  {
    given: 'a run that has just ended well',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(60), active: [{ name: 'trivy-29539440' }] })],
    around: [podOfRun({ ...containerIn('trivy', { terminated: { exitCode: 0 } }), phase: 'Succeeded' }, 60)],
    status: 'True',
    reason: 'Ready',
    message: 'Trivy scheduled at 0 */6 * * *, runs now',
  },
  {
    given: 'a run that failed before one that succeeded, and pods of others',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600), lastSuccessfulTime: ago(3500) })],
    around: [
      podOfRun({ ...containerIn('trivy', { terminated: crashed(1) }), phase: 'Failed' }, 30_000),
      podOf(falco(), 'node-1', crashLoop(1)),
    ],
    status: 'True',
    reason: 'Ready',
    message: `Trivy scheduled at 0 */6 * * *, last success at ${ago(3500)}`,
  },
  {
    given: 'a run that failed after one that did not',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600), lastSuccessfulTime: ago(30_000) })],
    around: [podOfRun({ ...containerIn('trivy', { terminated: crashed(1) }), phase: 'Failed' }, 3600)],
    reason: 'JobFailed',
    message:
      `Trivy scheduled at 0 */6 * * *, the run of ${ago(3600)} failed, last success at ${ago(30_000)}; pod trivy-29539440-x7k2p on node-1: ` +
      'container trivy failed (exit code 1) → see kubectl logs -n security-system trivy-29539440-x7k2p -c trivy',
  },
  {
    given: 'a run that failed, and whose pods are gone',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(3600) })],
    reason: 'JobFailed',
    message: `Trivy scheduled at 0 */6 * * *, the run of ${ago(3600)} failed`,
  },
  {
    given: 'a run that cannot pull its image',
    title: 'Trivy',
    workloads: [trivy({ lastScheduleTime: ago(60), active: [{ name: 'trivy-29539440' }] })],
    around: [
      podOfRun(containerIn('trivy', { waiting: { reason: 'ErrImagePull', message: 'pull access denied' } }), 60),
    ],
    reason: 'ImagePullFailed',
    message:
      'Trivy scheduled at 0 */6 * * *; pod trivy-29539440-x7k2p on node-1: image registry.example/trivy:1.0 cannot be pulled: pull access denied → ' +
      'check its name, and name a Secret that may pull it in spec.global.imagePullSecrets',
  },
  {
    given: 'a suspended CronJob',
    title: 'Trivy',
    workloads: [trivy({}, true)],
    reason: 'Suspended',
    message: 'Trivy scheduled at 0 */6 * * *, but suspended: nothing runs',
  },
];

describe('assessWorkloads, of a CronJob', () => {
  it.each(cases)('tells of $given', (one) => check(one));
});
