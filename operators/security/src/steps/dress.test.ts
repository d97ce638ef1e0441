import { type ClusterRole, ConfigMap, CronJob, type DaemonSet, manifest } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { AGENT_LABEL, CONFIG_CHECKSUM, FEATURE_LABEL, SECRET_VERSION } from '../names.ts';
import type { Agent } from '../resource.ts';
import { agentOf } from '../testing/agent.ts';
import { clerk, guard } from '../testing/toy.ts';
import { nodeAgent } from '../workload/node-agent.ts';
import { featureContext } from './context.ts';
import { contribute } from './contribute.ts';
import type { Findings } from './credentials.ts';
import { dress } from './dress.ts';
import { ownedKinds } from './kinds.ts';

const features = [guard, clerk];

function dressed(spec: Record<string, unknown> = {}, config = { level: 'low' }, findings?: Findings) {
  const self = agentOf(['guard', 'clerk'], spec) as unknown as Agent;
  const running = [
    { feature: guard, config },
    { feature: clerk, config: {} },
  ];
  const contributions = contribute(running, featureContext(self, []));
  const objects = dress(contributions, {
    self,
    features,
    kinds: ownedKinds(features),
    outside: findings && { secrets: findings },
  }).flatMap((one) => one.objects);
  const find = <T>(kind: string, name: string) =>
    objects.find((one) => one.kind === kind && one.metadata.name === name) as T;
  return { objects, guard: find<DaemonSet>('DaemonSet', 'guard'), clerk: find<DaemonSet>('DaemonSet', 'clerk'), find };
}

describe('dress', () => {
  test('namespaced objects go where the agent says, cluster-scoped ones carry the agent in their name', () => {
    const { find } = dressed({ global: { namespace: 'elsewhere' } });
    expect(find<ConfigMap>('ConfigMap', 'guard').metadata.namespace).toBe('elsewhere');
    const role = find<ClusterRole>('ClusterRole', 'guard.security-system.main');
    expect(role.metadata.namespace).toBeUndefined();
    expect(role.rules).toEqual([{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]);
  });

  test('labels are the recommended ones; those of the user do not replace ours', () => {
    const { guard: found } = dressed({
      global: { labels: { team: 'red', 'app.kubernetes.io/name': 'mine' }, annotations: { note: 'x' } },
    });
    expect(found.metadata.labels).toEqual({
      team: 'red',
      'app.kubernetes.io/name': 'guard',
      'app.kubernetes.io/instance': 'main',
      'app.kubernetes.io/version': '1.2.3',
      [FEATURE_LABEL]: 'guard',
    });
    expect(found.metadata.annotations).toEqual({ note: 'x' });
    expect(found.spec.template.metadata?.labels).toMatchObject({ team: 'red', [AGENT_LABEL]: 'security-system.main' });
    expect(found.spec.template.metadata?.annotations).toMatchObject({ note: 'x' });
  });

  test('pods are selected by what never changes', () => {
    const { guard: found } = dressed();
    const selector = {
      'app.kubernetes.io/name': 'guard',
      'app.kubernetes.io/instance': 'main',
      'app.kubernetes.io/component': 'guard',
    };
    expect(found.spec.selector).toEqual({ matchLabels: selector });
    expect(found.spec.template.metadata?.labels).toMatchObject(selector);
  });

  test('pods get a token only where the feature has rights', () => {
    const { guard: withRights, clerk: without, find } = dressed();
    expect(withRights.spec.template.spec).toMatchObject({
      serviceAccountName: 'guard',
      automountServiceAccountToken: true,
    });
    expect(without.spec.template.spec).toMatchObject({
      serviceAccountName: 'clerk',
      automountServiceAccountToken: false,
    });
    expect(find('ClusterRole', 'clerk.security-system.main')).toBeUndefined();
  });

  test('a changed ConfigMap changes the checksum of the pods that mount it, and of no others', () => {
    const sum = (daemonSet: DaemonSet) => daemonSet.spec.template.metadata?.annotations?.[CONFIG_CHECKSUM];
    const [low, high] = [dressed(), dressed({}, { level: 'high' })];
    expect(sum(low.guard)).toMatch(/^[0-9a-f]{16}$/);
    expect(sum(high.guard)).not.toBe(sum(low.guard));
    expect(sum(low.clerk)).toBeUndefined();
    expect(high.clerk).toEqual(low.clerk);
  });

  test('a changed Secret rolls the pods that use it, and no others', () => {
    const output = { elasticsearch: { url: 'https://es', auth: { secretRef: { name: 'login' } } } };
    const found = (version: string) => dressed({ output }, { level: 'low' }, { login: { keys: [], version } });
    expect(found('1').clerk.spec.template.metadata?.annotations).toEqual({ [SECRET_VERSION]: 'login=1' });
    expect(found('2').clerk).not.toEqual(found('1').clerk);
    expect(found('2').guard).toEqual(found('1').guard);
  });

  test('a Secret that pods read again rolls nothing', () => {
    const self = agentOf(['clerk'], {}) as unknown as Agent;
    const annotationsOf = (rereads: readonly string[]) => {
      const reader = { ...clerk, rereads };
      const pods = nodeAgent('clerk', {
        containers: [{ name: 'clerk', image: 'example/clerk:1' }],
        volumes: [{ name: 'login', secret: { secretName: 'login' } }],
      });
      const outside = { secrets: { login: { keys: [], version: '1' } } };
      const wardrobe = { self, features: [reader], kinds: ownedKinds([reader]), outside };
      const [found] = dress([{ feature: 'clerk', objects: [pods] }], wardrobe).flatMap(({ objects }) => objects);
      return (found as DaemonSet).spec.template.metadata?.annotations;
    };
    expect(annotationsOf([])).toEqual({ [SECRET_VERSION]: 'login=1' });
    expect(annotationsOf(['login'])).toBeUndefined();
  });

  test('default images come from the mirror, under their own path', () => {
    const image = (spec: Record<string, unknown>) => dressed(spec).guard.spec.template.spec?.containers[0]?.image;
    expect(image({})).toBe('docker.io/example/guard:1.2.3');
    expect(image({ global: { imageRegistry: 'mirror.internal:5000/a' } })).toBe(
      'mirror.internal:5000/a/example/guard:1.2.3',
    );
  });

  test('the pods of a CronJob are dressed too, and it has no selector', () => {
    const job = manifest(
      CronJob,
      { name: 'job' },
      {
        spec: {
          schedule: '* * * * *',
          jobTemplate: { spec: { template: { spec: { containers: [{ name: 'a', image: 'b' }] } } } },
        },
      },
    );
    const self = agentOf([]) as unknown as Agent;
    const [one] = dress([{ feature: 'clerk', objects: [job] }], {
      self,
      features,
      kinds: ownedKinds(features),
      outside: undefined,
    });
    const found = one?.objects[0] as CronJob;
    expect(found.spec.jobTemplate.spec?.template.spec?.serviceAccountName).toBe('clerk');
    expect(found.spec).not.toHaveProperty('selector');
  });

  test('two features that want one object fail at once', () => {
    const twin = { ...guard, id: 'twin', contribute: () => [manifest(ConfigMap, { name: 'guard' }, {})] };
    const self = agentOf([]) as unknown as Agent;
    const both = [
      { feature: guard, config: { level: 'low' } },
      { feature: twin, config: {} },
    ];
    expect(() => contribute(both, featureContext(self, []))).toThrow(
      'features guard and twin both contribute ConfigMap guard',
    );
  });
});
