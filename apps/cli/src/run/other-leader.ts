/**
 * Without leader election nothing keeps this process from working beside replicas that are deployed in the cluster: both would
 * write, and of two versions each would undo the work of the other. We cannot know better, but we can say so.
 */
import type { Clock, KubeClient } from '@keelson/kube';
import type { Logger } from '@keelson/runtime';
import { Lease, type Ref } from '@keelson/schema';

export interface OtherLeaderOptions {
  readonly client: Pick<KubeClient, 'find'>;
  /** The lease for which replicas of this project compete. */
  readonly lease: Ref & { readonly namespace: string };
  readonly logger: Pick<Logger, 'warn'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Warns when somebody holds the lease and keeps renewing it; what cannot be found out is no reason to say anything. */
export async function warnOfOtherLeader({ client, lease, logger, clock }: OtherLeaderOptions): Promise<void> {
  const found = await client.find(Lease, lease, { timeoutMs: 5_000 }).catch(() => undefined);
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 0 } = found?.spec ?? {};
  const heldUntil = Date.parse(renewTime ?? '') + leaseDurationSeconds * 1_000;
  if (holderIdentity === '' || !(heldUntil > clock.now())) return;
  logger.warn(
    { holder: holderIdentity, lease: `${lease.namespace}/${lease.name}` },
    'another process leads in this cluster, and without leader election both will write: stop one of them, or give ' +
      '--leader-elect to stand by for it',
  );
}
