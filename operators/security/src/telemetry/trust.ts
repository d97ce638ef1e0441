/**
 * Who may talk to whom in the pipeline of one agent: an authority of its own, a certificate for its gateways and one for its collectors
 * on nodes. Found again in the Secrets that the agent owns; made, renewed and repaired as time goes by. `observe` of the operator calls
 * it, because keys are random and the rules are pure.
 */
import { type Circle, type ObserveContext, type Party, renewCircle } from '@keelson/runtime';
import { DaemonSet, Secret } from '@keelson/schema';
import {
  AUTHORITY,
  GATEWAY,
  GATEWAY_TLS,
  NODE_COLLECTOR,
  NODE_TLS,
  PIPELINE_AUTHORITY,
  TRUST_SINCE,
} from '../names.ts';

export type Trust = Circle<'gateway' | 'node'>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Certificates are renewed at about two thirds of their life: an operator that is away for three weeks stops nothing. */
export const policy = {
  authorityLifetimeMs: 365 * DAY_MS,
  servingLifetimeMs: 90 * DAY_MS,
  // A kubelet takes a minute or two to renew the files of a Secret, and a collector a minute to read them.
  propagationMs: HOUR_MS / 6,
};

/** How long a new authority waits for nodes that do not get its collectors rolled. They keep what they read until they are. */
const PATIENCE_MS = 7 * DAY_MS;

/** The trust in the pipeline of the agent whose objects are in this namespace. */
export function findTrust(
  { owned, now }: Pick<ObserveContext<never>, 'owned' | 'now'>,
  namespace: string,
): Promise<Trust> {
  const find = (name: string) => owned.get(Secret, { name, namespace });
  const stored = (name: string) => {
    const { data, metadata } = find(name) ?? {};
    return { data, since: new Date(metadata?.annotations?.[TRUST_SINCE] ?? '') };
  };
  const nodes = owned.get(DaemonSet, { name: NODE_COLLECTOR, namespace });
  return renewCircle({
    name: 'pipeline',
    parties: partiesIn(namespace),
    policy,
    authority: find(PIPELINE_AUTHORITY)?.data,
    stored: { gateway: stored(GATEWAY_TLS), node: stored(NODE_TLS) },
    now,
    isTold: (fingerprint, since) => isRolledOut(nodes, fingerprint) || now.getTime() > since.getTime() + PATIENCE_MS,
  });
}

function partiesIn(namespace: string): Record<'gateway' | 'node', Party> {
  // Nodes use the first; the others are what people and meshes call a Service.
  const names = ['', `.${namespace}`, `.${namespace}.svc`, `.${namespace}.svc.cluster.local`];
  return {
    gateway: { name: GATEWAY, usage: 'server', names: names.map((suffix) => `${GATEWAY}${suffix}`) },
    node: { name: NODE_COLLECTOR, usage: 'client', names: [NODE_COLLECTOR] },
  };
}

/** Whether every collector on a node has been started since it was to trust this authority. */
function isRolledOut(nodes: DaemonSet | undefined, fingerprint: string): boolean {
  if (nodes === undefined) return true;
  const { spec, status, metadata } = nodes;
  return (
    spec.template.metadata?.annotations?.[AUTHORITY] === authorityWord(fingerprint) &&
    status?.observedGeneration === metadata.generation &&
    (status?.updatedNumberScheduled ?? 0) >= (status?.desiredNumberScheduled ?? 0)
  );
}

/** An authority in one short word. */
export function authorityWord(fingerprint: string): string {
  return fingerprint.slice(0, 16);
}
