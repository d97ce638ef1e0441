/**
 * Crash anywhere: the operator is killed with SIGKILL right after the k-th write of a converge has been done by the API server
 * and before it hears the answer, for every k there is, and a fresh one takes over. Whatever k, the end is the same as
 * without the crash.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Website } from '@keelson/example-website';
import { createClient, type KubeClient, loadConfig } from '@keelson/kube';
import {
  ConfigMap,
  Deployment,
  type Instance,
  type Kind,
  type KubeObject,
  manifest,
  PriorityClass,
  Service,
  toCrd,
} from '@keelson/schema';
import { type FaultProxy, startTestEnv, type TestEnv } from '@keelson/testenv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Replica, startReplica } from './process.ts';

const children: readonly Kind[] = [ConfigMap, Deployment, Service, PriorityClass];

/** A life of one Website: `before` it is converged, `act` is what the operator then reacts to. */
interface Story {
  readonly name: string;
  readonly before?: Site;
  readonly act: (client: KubeClient, namespace: string) => Promise<unknown>;
}

type Spec = Instance<typeof Website>['spec'];
/** A spec as users write it: what has a default may be left out. */
type Site = Partial<Spec>;

const create = (client: KubeClient, namespace: string, spec: Site) =>
  client.create(Website, manifest(Website, { name: 'site', namespace }, { spec: spec as Spec }));

const first: Site = { html: 'one', replicas: 1, public: true };

const stories: readonly Story[] = [
  { name: 'create', act: (client, namespace) => create(client, namespace, first) },
  {
    name: 'change, with a child that goes',
    before: first,
    act: (client, namespace) =>
      client.patch(
        Website,
        { name: 'site', namespace },
        { type: 'merge', value: { spec: { html: 'two', replicas: 3, public: false } } },
      ),
  },
  {
    name: 'change, with a child that comes',
    before: { html: 'one' },
    act: (client, namespace) =>
      client.patch(Website, { name: 'site', namespace }, { type: 'merge', value: { spec: { public: true } } }),
  },
  { name: 'delete', before: first, act: (client, namespace) => client.delete(Website, { name: 'site', namespace }) },
];

describe('crash anywhere', () => {
  let env: TestEnv;
  let proxy: FaultProxy;
  let client: KubeClient;

  beforeAll(async () => {
    // The garbage collector is part of what deletes children, and readiness part of what the operator reports.
    env = await startTestEnv({ level: 'cluster', nodes: 1, crds: [toCrd(Website)] });
    proxy = await env.faultProxy();
    client = createClient(await loadConfig({ kubeconfig: env.kubeconfig }));
  });
  afterAll(async () => {
    await client?.close();
    await env?.stop();
  });

  it.each(stories)(
    '$name: for every k, killed after the k-th write it ends as undisturbed',
    async ({ name, before, act }) => {
      const undisturbed = await live(before, act);
      let k = 0;
      for (; ; k++) {
        const ended = await live(before, act, k);
        if (!ended.crashed) break;
        expect(ended.state, `after a crash at write ${k}`).toEqual(undisturbed.state);
      }
      console.log(`crash anywhere, ${name}: ${k} crashes (k = 0…${k - 1}), all ended as undisturbed`);
      // Fewer writes than this would mean that the story no longer does what it says.
      expect(k).toBeGreaterThan(2);
    },
  );

  /** Runs a story in a namespace of its own and gives what is there when nothing moves any more. */
  async function live(before: Site | undefined, act: Story['act'], k?: number) {
    const namespace = await env.createNamespace();
    try {
      await using replica = startReplica(proxy.kubeconfig, { namespaces: [namespace] });
      await replica.running;
      if (before !== undefined) {
        await create(client, namespace, before);
        await idle(namespace);
      }
      if (k === undefined) {
        await act(client, namespace);
        return { crashed: false, state: await settle(namespace) };
      }
      const crashed = await crash(replica, namespace, act, k);
      await using heir = startReplica(env.kubeconfig, { namespaces: [namespace] });
      await heir.running;
      return { crashed, state: await settle(namespace) };
    } finally {
      await client.delete(Website, { name: 'site', namespace }).catch(() => undefined);
      await client.delete(PriorityClass, { name: `${namespace}.site.website` }).catch(() => undefined);
    }
  }

  /** Kills the replica when it has done k writes and stands before the next; false when it has finished with fewer. */
  async function crash(replica: Replica, namespace: string, act: Story['act'], k: number): Promise<boolean> {
    using pause = proxy.pauseAfterWrites(k, { path: /^(?!.*\/events)/ });
    const over = new AbortController();
    await act(client, namespace);
    const reached = await Promise.race([
      pause.reached.then(() => true),
      idle(namespace, over.signal).then(() => false),
    ]);
    over.abort();
    await replica.kill();
    return reached;
  }

  /** What is there when nothing moves any more, with everything that differs from run to run taken out. */
  async function settle(namespace: string): Promise<unknown> {
    await idle(namespace);
    return JSON.parse(JSON.stringify(await look(namespace)).replaceAll(namespace, 'NAMESPACE'));
  }

  /** Resolves when the site is ready or gone, and several looks show the same. */
  async function idle(namespace: string, signal?: AbortSignal): Promise<void> {
    let last = '';
    for (let calm = 0; calm < 4 && signal?.aborted !== true; ) {
      await sleep(300);
      const state = await look(namespace);
      const now = JSON.stringify(state);
      calm = now === last && isConverged(state) ? calm + 1 : 0;
      last = now;
    }
  }

  async function look(namespace: string) {
    const site = await client.find(Website, { name: 'site', namespace });
    const found: unknown[] = [];
    for (const kind of children) {
      const { items } = await client.listAll(kind, { ...(kind.scope === 'Namespaced' ? { namespace } : {}) });
      found.push(...items.filter((object) => isOurs(object, namespace)).map(({ status, ...rest }) => essence(rest)));
    }
    // The status of a child is the work of other controllers; what the operator makes of it is in the status of the site.
    return { site: site === undefined ? null : (essence(site) as Instance<typeof Website>), children: found };
  }
});

/** Ready for its present generation, or gone with everything it had. */
const isConverged = ({ site, children }: { site: Instance<typeof Website> | null; children: readonly unknown[] }) =>
  site === null
    ? children.length === 0
    : site.status?.observedGeneration === site.metadata.generation &&
      site.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

const isOurs = ({ metadata }: KubeObject, namespace: string) =>
  metadata.labels?.['keelson.io/operator'] === 'website-operator' &&
  (metadata.namespace === namespace || metadata.name.startsWith(`${namespace}.`));

/** An object without what differs from run to run: identities, versions and times. */
function essence(object: Partial<KubeObject>): unknown {
  return JSON.parse(
    JSON.stringify(object, (key, value) =>
      [
        'uid',
        'resourceVersion',
        'creationTimestamp',
        'lastTransitionTime',
        'lastUpdateTime',
        'time',
        'clusterIP',
        'clusterIPs',
        'keelson.io/owner-uid',
        'managedFields',
      ].includes(key)
        ? undefined
        : value,
    ),
  );
}
