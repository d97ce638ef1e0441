import { renderInstance } from '@keelson/runtime';
import { type DaemonSet, type Deployment, formatProblems, type KubeObject, type NetworkPolicy } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { createSecurityOperator } from '../../operator.ts';
import { agentOf } from '../../testing/agent.ts';
import { goldenTests } from '../../testing/golden.ts';
import { clerk, guard } from '../../testing/toy.ts';
import { otelPipeline } from './feature.ts';

goldenTests(import.meta.url, otelPipeline);

const operator = createSecurityOperator([otelPipeline, guard, clerk]);

function render(features: readonly (string | Record<string, unknown>)[], spec: Record<string, unknown> = {}) {
  const { problems, objects } = renderInstance(operator, agentOf(features, spec));
  expect(formatProblems(problems)).toBe('');
  return objects;
}

function find<T extends KubeObject>(objects: readonly KubeObject[], kind: string, name: string): T {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found as T;
}

const nodeOf = (objects: readonly KubeObject[]) => find<DaemonSet>(objects, 'DaemonSet', 'otel-node-collector');
const gatewayOf = (objects: readonly KubeObject[]) => find<Deployment>(objects, 'Deployment', 'otel-gateway');
const podOf = ({ spec }: DaemonSet | Deployment) => spec?.template.spec ?? { containers: [] };
const containerOf = (workload: DaemonSet | Deployment) => podOf(workload).containers[0] ?? { name: 'none' };
const login = { auth: { secretRef: { name: 'login' } } };
const store = (more: object) => ({ output: { elasticsearch: { url: 'https://es:9200', ...more } } });

describe('what the pipeline installs', () => {
  test('is nothing where no feature writes: not even a ConfigMap', () => {
    const objects = render(['otel_pipeline', 'clerk']);
    expect(objects.filter(({ metadata }) => metadata.name.startsWith('otel'))).toEqual([]);
  });

  test('is mounted with the configurations that are synthesised, and both are there', () => {
    const objects = render(['otel_pipeline', 'guard']);
    for (const workload of [nodeOf(objects), gatewayOf(objects)]) {
      const name = podOf(workload).volumes?.find((volume) => volume.name === 'config')?.configMap?.name ?? '';
      expect(find(objects, 'ConfigMap', name)).toBeDefined();
    }
  });

  test('finds its own pods: each selector matches the labels that the host gives', () => {
    const objects = render(['otel_pipeline', 'guard']);
    const gateway = gatewayOf(objects).spec?.template.metadata?.labels;
    const node = nodeOf(objects).spec?.template.metadata?.labels;
    const policy = find<NetworkPolicy>(objects, 'NetworkPolicy', 'otel-gateway').spec;
    const selectors = [
      find<KubeObject & { spec: { selector: object } }>(objects, 'Service', 'otel-gateway').spec.selector,
      find<KubeObject & { spec: { selector: { matchLabels: object } } }>(objects, 'PodDisruptionBudget', 'otel-gateway')
        .spec.selector.matchLabels,
      policy?.podSelector?.matchLabels,
      ...(podOf(gatewayOf(objects)).topologySpreadConstraints ?? []).map((one) => one.labelSelector?.matchLabels),
    ];
    expect(selectors).toHaveLength(5);
    for (const selector of selectors) expect(gateway).toMatchObject(selector ?? { none: '' });
    const senders = policy?.ingress?.[0]?.from?.[0]?.podSelector?.matchLabels ?? { none: '' };
    expect(node).toMatchObject(senders);
    expect(gateway).not.toMatchObject(senders);
  });

  test('has as many gateways as asked for, and a budget when one of them may be away', () => {
    const one = render([{ name: 'otel_pipeline', config: { replicas: 1 } }, 'guard']);
    expect(gatewayOf(one).spec?.replicas).toBe(1);
    expect(one.map(({ kind }) => kind)).not.toContain('PodDisruptionBudget');
    const standard = render(['otel_pipeline', 'guard']);
    expect(gatewayOf(standard).spec?.replicas).toBe(2);
    expect(standard.map(({ kind }) => kind)).toContain('PodDisruptionBudget');
  });

  test('keeps its state on the node apart from that of other agents', () => {
    const agent = agentOf(['guard']);
    const path = (namespace: string) => {
      const { objects } = renderInstance(operator, { ...agent, metadata: { ...agent.metadata, namespace } });
      return podOf(nodeOf(objects)).volumes?.find(({ name }) => name === 'storage')?.hostPath?.path;
    };
    expect(path('team-a')).toBe('/var/lib/keelson/otel/team-a.main');
    expect(path('team-b')).toBe('/var/lib/keelson/otel/team-b.main');
    const longest = agentOf(['guard']);
    const metadata = { name: 'a'.repeat(253), namespace: 'n'.repeat(63) };
    const [folder = ''] =
      podOf(nodeOf(renderInstance(operator, { ...longest, metadata }).objects)).volumes?.flatMap(
        ({ name, hostPath }) => (name === 'storage' && hostPath !== undefined ? [hostPath.path] : []),
      ) ?? [];
    // No file system takes longer names.
    expect(folder.split('/').every((part) => part.length <= 255)).toBe(true);
  });

  test('tells Go the limit that its container has, whatever an override makes of it', () => {
    const limits = { memory: '128Mi' };
    const override = { nodeAgent: { resources: { limits } } };
    const objects = render(['guard'], { override });
    const reference = { resourceFieldRef: { resource: 'limits.memory' } };
    for (const [workload, expected] of [
      [nodeOf(objects), limits],
      [gatewayOf(objects), { memory: '512Mi' }],
    ] as const) {
      const { env, resources } = containerOf(workload);
      expect(resources?.limits).toEqual(expected);
      expect(env?.filter(({ name }) => name === 'GOMEMLIMIT')).toEqual([{ name: 'GOMEMLIMIT', valueFrom: reference }]);
    }
  });
});

describe('whether it works', () => {
  test('is told as nothing to do where no feature writes', () => {
    const { decision } = renderInstance(operator, agentOf(['otel_pipeline', 'clerk']));
    const conditions = decision?.kind === 'apply' ? decision.status?.conditions : undefined;
    expect(conditions).toContainEqual({
      type: 'OtelPipelineReady',
      status: 'True',
      reason: 'NothingToCollect',
      message: 'Telemetry pipeline not needed: no enabled feature writes events',
    });
  });

  test('is judged by collectors and gateways where one does', () => {
    const { decision } = renderInstance(operator, agentOf(['guard']));
    const conditions = decision?.kind === 'apply' ? decision.status?.conditions : undefined;
    expect(conditions).toContainEqual(
      expect.objectContaining({ type: 'OtelPipelineReady', status: 'False', reason: 'DaemonSetNotFound' }),
    );
  });
});

describe('what its pods may do', () => {
  test('the gateway keeps to the restricted level of Pod Security', () => {
    const pod = podOf(gatewayOf(render(['guard'], store(login))));
    expect(containerOf(gatewayOf(render(['guard']))).securityContext).toMatchObject({
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod.volumes?.filter(({ hostPath }) => hostPath !== undefined)).toEqual([]);
  });

  test('the collectors on nodes write to nothing of the node but their own folder', () => {
    const workload = nodeOf(render(['guard']));
    const paths = podOf(workload).volumes?.filter(({ hostPath }) => hostPath !== undefined);
    const writable = containerOf(workload).volumeMounts?.filter(({ readOnly }) => readOnly !== true);
    expect(paths?.map(({ name }) => name)).toEqual(['logs', 'storage']);
    expect(writable?.map(({ name }) => name)).toEqual(['storage']);
    expect(containerOf(workload).securityContext?.capabilities).toEqual({ drop: ['ALL'] });
  });

  test('neither has a token for the API server', () => {
    const objects = render(['guard']);
    expect(podOf(nodeOf(objects)).automountServiceAccountToken).toBe(false);
    expect(podOf(gatewayOf(objects)).automountServiceAccountToken).toBe(false);
  });
});

describe('the gateway reaches the store', () => {
  const configOf = (objects: readonly KubeObject[]) =>
    parse(
      find<KubeObject & { data: Record<string, string> }>(objects, 'ConfigMap', 'otel-gateway-config').data[
        'config.yaml'
      ] ?? '',
    );
  const filesOf = (objects: readonly KubeObject[]) => {
    const gateway = gatewayOf(objects);
    return (containerOf(gateway).volumeMounts ?? []).flatMap(({ name, mountPath }) =>
      (podOf(gateway).volumes?.find((volume) => volume.name === name)?.secret?.items ?? []).map(
        ({ path }) => `${mountPath}/${path}`,
      ),
    );
  };

  test('with user and password as the files that its configuration names', () => {
    const objects = render(['guard'], store(login));
    const { username_file, password_file } = configOf(objects).extensions.basicauth.client_auth;
    expect(filesOf(objects)).toEqual([username_file, password_file]);
  });

  test('with the certificates of a Secret as the file that its configuration names', () => {
    const objects = render(['guard'], store({ tls: { caSecretRef: { name: 'ca', key: 'root.pem' } } }));
    expect(filesOf(objects)).toEqual([configOf(objects).exporters['elasticsearch/events'].tls.ca_file]);
    expect(podOf(gatewayOf(objects)).volumes).toContainEqual(
      expect.objectContaining({
        secret: expect.objectContaining({ secretName: 'ca', items: [{ key: 'root.pem', path: 'ca.crt' }] }),
      }),
    );
  });

  test('with the API key in the variable that its configuration names', () => {
    const objects = render(['guard'], store({ auth: { apiKeySecretRef: { name: 'keys', key: 'mine' } } }));
    const [, name] = /^\$\{env:(.*)\}$/.exec(configOf(objects).exporters['elasticsearch/events'].api_key) ?? [];
    expect(containerOf(gatewayOf(objects)).env).toContainEqual({
      name,
      valueFrom: { secretKeyRef: { name: 'keys', key: 'mine' } },
    });
  });

  test('with nothing of a Secret where there is none', () => {
    expect(filesOf(render(['guard']))).toEqual([]);
  });
});
