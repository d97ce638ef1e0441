import { renderInstance } from '@keelson/runtime';
import { type ClusterRole, type CronJob, formatProblems } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { trivy } from './feature.ts';

goldenTests(import.meta.url, trivy);

describe('the pod', () => {
  test('may read the reports, and one namespace to tell the cluster by, and nothing else', () => {
    const role = rendered().find(({ kind }) => kind === 'ClusterRole') as ClusterRole;

    expect(role.rules).toMatchObject([
      { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
      { apiGroups: ['aquasecurity.github.io'], resources: ['vulnerabilityreports'], verbs: ['get', 'list'] },
    ]);
    expect(role.rules).toHaveLength(2);
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

describe('arguments', () => {
  const argumentsOf = (spec: Record<string, unknown>) => {
    const job = rendered(spec).find(({ kind }) => kind === 'CronJob') as CronJob;
    return job.spec.jobTemplate.spec?.template.spec?.containers[0]?.args ?? [];
  };

  test('are what the user wrote: the kubelet puts no variable in their place', () => {
    const elasticsearch = { url: 'https://es:9200/$(HOME)' };
    const global = { clusterName: 'x$(ELASTICSEARCH_PASSWORD)$$(HOME)$' };
    const given = argumentsOf({ output: { elasticsearch }, global });

    expect(given).toEqual(
      expect.arrayContaining([
        '--url=https://es:9200/$$(HOME)',
        '--cluster-name=x$$(ELASTICSEARCH_PASSWORD)$$$$(HOME)$$',
      ]),
    );
  });

  test('name no cluster where the user does not: the program takes what is its own', () => {
    expect(argumentsOf({}).filter((one) => one.startsWith('--cluster'))).toEqual([]);
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
