import { renderInstance } from '@keelson/runtime';
import { type ClusterRole, type CronJob, formatProblems } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { trivy } from './feature.ts';

goldenTests(import.meta.url, trivy);

describe('the pod', () => {
  test('may read the reports and nothing else', () => {
    const role = rendered().find(({ kind }) => kind === 'ClusterRole') as ClusterRole;

    expect(role.rules).toMatchObject([
      { apiGroups: ['aquasecurity.github.io'], resources: ['vulnerabilityreports'], verbs: ['get', 'list'] },
    ]);
  });

  test('has a token to ask with, and no credential of the store but by reference', () => {
    const auth = { secretRef: { name: 'store-credentials' } };
    const url = 'https://elasticsearch.logging.svc:9200';
    const job = rendered({ output: { elasticsearch: { url, auth } } }).find(
      ({ kind }) => kind === 'CronJob',
    ) as CronJob;
    const pod = job.spec.jobTemplate.spec?.template.spec;

    expect(pod?.automountServiceAccountToken).toBe(true);
    expect(pod?.containers[0]?.env).toEqual([
      { name: 'ELASTICSEARCH_USERNAME', valueFrom: { secretKeyRef: { name: 'store-credentials', key: 'username' } } },
      { name: 'ELASTICSEARCH_PASSWORD', valueFrom: { secretKeyRef: { name: 'store-credentials', key: 'password' } } },
    ]);
  });
});

describe('bad config is told with its path', () => {
  test.each([
    [{ schedule: 'every day' }, 'config.schedule: must have five fields'],
    [{ schedule: '61 * * * *' }, "config.schedule: minute '61'"],
    [{ schedule: 6 }, 'config.schedule: must be a string'],
    [{ timeZone: 'Seoul' }, "config.timeZone: must be UTC, or an area and a place such as Asia/Seoul, got 'Seoul'"],
    [{ timeZone: '+09:00' }, 'config.timeZone: must be UTC'],
    [{ timeZone: 'asia/seoul' }, 'config.timeZone: must be UTC'],
    [{ timeZone: 'Asia/Atlantis' }, 'config.timeZone: must be UTC'],
    [{ cron: '@daily' }, 'config.cron: unknown field'],
  ])('%j', (given, expected) => {
    const parsed = trivy.config.parse(given, 'config');

    expect(parsed.ok ? '' : formatProblems(parsed.problems)).toContain(expected);
  });
});

function rendered(spec: Record<string, unknown> = {}) {
  return renderInstance(createSecurityOperator([trivy]), agentOf(['trivy'], spec)).objects;
}
