import { renderInstance } from '@keelson/runtime';
import {
  type DaemonSet,
  type Deployment,
  formatProblems,
  type KubeObject,
  type NetworkPolicy,
  type StatefulSet,
} from '@keelson/schema';
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
const tlsSecretOf = (workload: DaemonSet | Deployment) =>
  podOf(workload).volumes?.find(({ name }) => name === 'tls')?.secret?.secretName;
const secretFilesOf = (workload: DaemonSet | Deployment) =>
  (containerOf(workload).volumeMounts ?? []).flatMap(({ name, mountPath }) =>
    (podOf(workload).volumes?.find((volume) => volume.name === name)?.secret?.items ?? []).map(
      ({ path }) => `${mountPath}/${path}`,
    ),
  );
const configOf = (objects: readonly KubeObject[], name = 'otel-gateway-config') =>
  parse(find<KubeObject & { data: Record<string, string> }>(objects, 'ConfigMap', name).data['config.yaml'] ?? '');
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

describe('node and gateway know each other', () => {
  test('by the files that their configurations name, each out of a Secret of its own', () => {
    const objects = render(['guard']);
    const { cert_file, key_file, client_ca_file } = configOf(objects).receivers.otlp.protocols.grpc.tls;
    expect(secretFilesOf(gatewayOf(objects))).toEqual([cert_file, key_file, client_ca_file]);
    const node = configOf(objects, 'otel-node-collector-config').exporters.otlp.tls;
    expect(secretFilesOf(nodeOf(objects))).toEqual([node.cert_file, node.key_file, node.ca_file]);
    expect(node.insecure).toBeUndefined();
    expect([gatewayOf(objects), nodeOf(objects)].map(tlsSecretOf)).toEqual([
      'otel-gateway-tls',
      'otel-node-collector-tls',
    ]);
  });

  test('and the key of their authority is in no pod', () => {
    const text = JSON.stringify(render(['guard']).filter(({ kind }) => kind !== 'Secret'));
    expect(text).toContain('otel-gateway-tls');
    expect(text).not.toContain('otel-pipeline-authority');
  });

  test('rendered offline, their Secrets are there and empty: keys are made by the operator that runs', () => {
    const secrets = render(['guard']).filter(({ kind }) => kind === 'Secret');
    expect(secrets.map(({ metadata }) => metadata.name).sort()).toEqual([
      'otel-gateway-tls',
      'otel-node-collector-tls',
      'otel-pipeline-authority',
    ]);
    for (const secret of secrets) expect(secret).not.toHaveProperty('data');
  });
});

describe('what waits in a gateway', () => {
  const gateways = (queue: object, more: Record<string, unknown> = {}) =>
    render([{ name: 'otel_pipeline', config: { queue } }, 'guard'], more);

  test('is on a volume of its own when it is to outlive the pod, of the size and class asked for', () => {
    const objects = gateways({ persistent: true, size: '20Gi', storageClassName: 'fast' });
    expect(objects.map(({ kind }) => kind)).not.toContain('Deployment');
    const set = find<StatefulSet>(objects, 'StatefulSet', 'otel-gateway');
    expect(set.spec.volumeClaimTemplates?.[0]).toMatchObject({
      metadata: { name: 'storage' },
      spec: { storageClassName: 'fast', resources: { requests: { storage: '20Gi' } } },
    });
    expect(set.spec.template.spec?.volumes?.map(({ name }) => name)).toEqual(['config', 'tls']);
    expect(set.spec.selector.matchLabels).toMatchObject({ 'app.kubernetes.io/component': 'otel-gateway' });
    const service = find<KubeObject & { spec: { selector: object } }>(objects, 'Service', 'otel-gateway');
    expect(set.spec.template.metadata?.labels).toMatchObject(service.spec.selector);
    expect(objects.map(({ kind }) => kind)).toContain('PodDisruptionBudget');
  });

  test('goes with the pod otherwise, and has the room asked for', () => {
    const storage = podOf(gatewayOf(gateways({ size: '8Gi' }))).volumes?.find(({ name }) => name === 'storage');
    expect(storage?.emptyDir).toEqual({ sizeLimit: '8Gi' });
  });

  test('is written before the gateway ends: nodes leave it, and then it is told to', () => {
    for (const persistent of [false, true]) {
      const objects = gateways({ persistent });
      const kind = persistent ? 'StatefulSet' : 'Deployment';
      const { spec } = find<Deployment>(objects, kind, 'otel-gateway').spec.template;
      const { seconds = 0 } = spec?.containers[0]?.lifecycle?.preStop?.sleep ?? {};
      const { server_parameters } = configOf(objects).receivers.otlp.protocols.grpc.keepalive;
      // gRPC adds up to a tenth, so that not all leave at once.
      expect(seconds).toBeGreaterThan(Number.parseInt(server_parameters.max_connection_age, 10) * 1.1);
      expect(spec?.terminationGracePeriodSeconds).toBeGreaterThan(seconds);
    }
  });

  test('has that time whatever an override says, and the condition tells', () => {
    const podTemplate = { spec: { terminationGracePeriodSeconds: 5 } };
    const more = { override: { perTool: { otel_pipeline: { podTemplate } } } };
    const { objects, decision } = renderInstance(operator, agentOf(['guard'], more));
    expect(podOf(gatewayOf(objects)).terminationGracePeriodSeconds).toBeGreaterThan(75);
    expect(podOf(nodeOf(objects)).terminationGracePeriodSeconds).toBe(5);
    const conditions = decision?.kind === 'apply' ? decision.status?.conditions : undefined;
    expect(conditions?.find(({ type }) => type === 'OverridesApplied')?.message).toContain(
      'would leave Deployment otel-gateway invalid: spec.containers[0].lifecycle.preStop.sleep.seconds: 75 is negative or more',
    );
  });

  test('is reached by overrides of the gateway, whatever it is', () => {
    const more = { override: { perTool: { 'otel-gateway': { nodeSelector: { disk: 'ssd' } } } } };
    const set = find<StatefulSet>(gateways({ persistent: true }, more), 'StatefulSet', 'otel-gateway');
    expect(set.spec.template.spec?.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux', disk: 'ssd' });
  });

  test.each([
    [{ size: '1Gi' }, 'queue.size: 1Gi is too little'],
    [{ size: 'much' }, 'queue.size: '],
    [{ storageClassName: 'fast' }, 'queue.storageClassName: has no meaning without queue.persistent: true'],
  ])('cannot be %j', (queue, message) => {
    const parsed = otelPipeline.config.parse({ queue });
    expect(parsed.ok ? '' : formatProblems(parsed.problems)).toContain(message);
  });
});

describe('the gateway reaches the store', () => {
  const filesOf = (objects: readonly KubeObject[]) =>
    secretFilesOf(gatewayOf(objects)).filter((file) => file.startsWith('/etc/otelcol-store/'));

  test('with user and password as the files that its configuration names', () => {
    const objects = render(['guard'], store(login));
    const { username_file, password_file } = configOf(objects).extensions.basicauth.client_auth;
    expect(filesOf(objects)).toEqual([username_file, password_file]);
  });

  const trust = { tls: { caSecretRef: { name: 'ca', key: 'root.pem' } } };
  const direct = { name: 'otel_pipeline', config: { deadLetters: false } };

  test('by a relay that has the certificates of a Secret as the file that its arguments name, and no credentials', () => {
    const objects = render(['guard'], store({ ...login, ...trust }));
    const { initContainers: [relay] = [], volumes = [] } = podOf(gatewayOf(objects));
    const [mount, ...others] = relay?.volumeMounts ?? [];
    expect(relay?.args).toContain(`--ca-file=${mount?.mountPath}/ca.crt`);
    expect([others, relay?.env]).toEqual([[], undefined]);
    expect(volumes.find(({ name }) => name === mount?.name)?.secret).toMatchObject({
      secretName: 'ca',
      items: [{ key: 'root.pem', path: 'ca.crt' }],
    });
    expect(filesOf(objects).filter((file) => file.includes('ca.crt'))).toEqual([]);
  });

  test('by a relay that is there before the collector, and where the collector looks for it', () => {
    const objects = render(['guard']);
    const { initContainers: [relay] = [] } = podOf(gatewayOf(objects));
    expect(relay?.restartPolicy).toBe('Always');
    const [endpoint] = configOf(objects).exporters['elasticsearch/events'].endpoints;
    expect(relay?.args).toContain(`--listen=${new URL(endpoint).host}`);
    const { port } = relay?.livenessProbe?.httpGet ?? {};
    const { containerPort } = relay?.ports?.find(({ name }) => name === port) ?? {};
    expect(relay?.args).toContain(`--status-port=${containerPort}`);
  });

  test('by itself where nobody wants to keep what is refused; OpenSearch never', () => {
    const relayOf = (output: object) => podOf(gatewayOf(render(['guard', direct], { output }))).initContainers;
    expect(relayOf({ elasticsearch: { url: 'https://es:9200' } })).toBeUndefined();
    expect(relayOf({ opensearch: { url: 'https://os:9200' } })).toHaveLength(1);
  });

  test('by itself with the certificates of a Secret as the file that its configuration names', () => {
    const objects = render(['guard', direct], store(trust));
    expect(filesOf(objects)).toEqual([configOf(objects).exporters['elasticsearch/events'].tls.ca_file]);
    expect(podOf(gatewayOf(objects)).volumes).toContainEqual(
      expect.objectContaining({
        secret: expect.objectContaining({ secretName: 'ca', items: [{ key: 'root.pem', path: 'ca.crt' }] }),
      }),
    );
  });

  test('with the API key as the file that its configuration names', () => {
    const objects = render(['guard'], store({ auth: { apiKeySecretRef: { name: 'keys', key: 'mine' } } }));
    expect(filesOf(objects)).toEqual([configOf(objects).extensions.bearertokenauth.filename]);
    expect(podOf(gatewayOf(objects)).volumes).toContainEqual(
      expect.objectContaining({
        secret: expect.objectContaining({ secretName: 'keys', items: [{ key: 'mine', path: 'api-key' }] }),
      }),
    );
  });

  test('with nothing of a Secret where there is none', () => {
    expect(filesOf(render(['guard']))).toEqual([]);
  });
});
