import { ConfigMap, defineResource, manifest, Secret, Type } from '@keelson/schema';
import { apply, defineEffect, defineLifecycle, defineOperator, reject, wait } from '../../index.ts';

export const Database = defineResource({
  group: 'example.com',
  version: 'v1alpha1',
  kind: 'Database',
  scope: 'Namespaced',
  description: 'A database at a provider outside the cluster.',
  spec: Type.Object({
    provider: Type.String({ description: 'URL of the provider.' }),
    region: Type.String({ description: 'Where it stands.' }),
    settings: Type.String({ description: 'Name of a ConfigMap with its settings.' }),
  }),
  status: Type.Object({
    phase: Type.String({ description: 'Pending, Active or Failing.' }),
    address: Type.String({ description: 'Where it is reached.' }),
  }),
});

interface Order {
  readonly provider: string;
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
}

export const database = defineOperator({
  name: 'database',
  resource: Database,
  owns: [Secret],
  watches: [{ kind: ConfigMap, relate: (self) => [{ name: self.spec.settings }] }],
  reads: [{ kind: Secret, names: ['provider-token'], why: 'the provider asks for it' }],
  lifecycle: defineLifecycle({
    field: 'phase',
    initial: 'Pending',
    states: ['Pending', 'Active', 'Failing'],
    transitions: { Pending: ['Active', 'Failing'], Active: ['Failing'], Failing: ['Active'] },
  }),

  async observe({ self, signal }) {
    // A provider that is away is something to decide by; an exception would count as a bug.
    const answer = await fetch(`${self.spec.provider}/regions`, { signal }).catch(() => undefined);
    return answer?.ok === true ? ((await answer.json()) as readonly string[]) : undefined;
  },

  reconcile({ self, related, external: regions, effects }) {
    const { name } = self.metadata;
    const { provider, region, settings } = self.spec;
    if (regions === undefined)
      return wait({ reason: 'NoAnswer', message: `${provider} does not answer`, recheckAfter: '30s' });
    if (!regions.includes(region))
      return reject({ reason: 'NoSuchRegion', message: `spec.region: choose one of ${regions.join(', ')}` });
    const configured = related.get(ConfigMap, settings)?.data;
    if (configured === undefined)
      return wait({ reason: 'NoSettings', message: `there is no ConfigMap ${settings}`, recheckAfter: '10m' });

    const order: Order = { provider, name, settings: configured };
    const outcome = effects.get('database');
    // Outcomes are forgotten when the process restarts; the status is not.
    const address = outcome?.state === 'done' ? String(outcome.result) : self.status?.address;
    return apply({
      objects: address === undefined ? [] : [manifest(Secret, { name }, { stringData: { address } })],
      effects: [{ handler: 'order', key: 'database', input: order, every: '1h' }],
      status: {
        phase: outcome?.state === 'failed' ? 'Failing' : address === undefined ? 'Pending' : 'Active',
        ...(address === undefined ? {} : { address }),
      },
      adopt: [{ kind: Secret, name }],
    });
  },

  finalize: ({ self }) => ({
    effects: [{ handler: 'cancel', key: 'cancel', input: { provider: self.spec.provider, name: self.metadata.name } }],
  }),

  effects: {
    order: defineEffect<Order>(async ({ provider, name, settings }, { read, signal }) => {
      const token = (await read.find(Secret, { name: 'provider-token' }))?.data?.token ?? '';
      const headers = { authorization: `Bearer ${Buffer.from(token, 'base64')}` };
      const body = JSON.stringify(settings);
      const answer = await fetch(`${provider}/databases/${name}`, { method: 'PUT', headers, body, signal });
      if (!answer.ok) throw new Error(`the provider answered ${answer.status}`);
      return answer.text();
    }),
    cancel: defineEffect<Pick<Order, 'provider' | 'name'>>(async ({ provider, name }, { signal }) => {
      const answer = await fetch(`${provider}/databases/${name}`, { method: 'DELETE', signal });
      if (!answer.ok && answer.status !== 404) throw new Error(`the provider answered ${answer.status}`);
    }),
  },
});
