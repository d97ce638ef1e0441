/** What a Lease says, as plain values, and how it is written. */
import { Lease as LeaseKind, type Lease as LeaseObject, manifest } from '@keelson/schema';
import { toMicroTime } from '../micro-time.ts';

export interface LeaseTimes {
  /** How long others wait without a sign of life before they take over. */
  readonly leaseDurationMs: number;
  /** How long the holder goes on without having renewed; what is on its way to the server when it gives up has the rest of the lease to arrive. */
  readonly renewDeadlineMs: number;
  /** How often the holder renews and the others look. */
  readonly retryMs: number;
}

/** The Lease of this holder, in place of what is there. */
export function toHeldLease(
  ref: { name: string; namespace: string },
  identity: string,
  times: LeaseTimes,
  now: number,
  current: LeaseObject | undefined,
): LeaseObject {
  const isRenewal = current?.spec.holderIdentity === identity;
  const transitions = current?.spec.leaseTransitions ?? 0;
  return manifest(
    LeaseKind,
    {
      ...ref,
      ...(current?.metadata.resourceVersion === undefined ? {} : { resourceVersion: current.metadata.resourceVersion }),
    },
    {
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: Math.ceil(times.leaseDurationMs / 1_000),
        acquireTime: (isRenewal ? current?.spec.acquireTime : undefined) ?? toMicroTime(now),
        renewTime: toMicroTime(now),
        leaseTransitions: current === undefined || isRenewal ? transitions : transitions + 1,
      },
    },
  );
}

/** The Lease without a holder: whoever looks next may take it. */
export function toReleasedLease(current: LeaseObject, now: number): LeaseObject {
  const { name, namespace, resourceVersion } = current.metadata;
  return manifest(
    LeaseKind,
    {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    {
      spec: {
        holderIdentity: '',
        leaseDurationSeconds: 1,
        acquireTime: toMicroTime(now),
        renewTime: toMicroTime(now),
        leaseTransitions: current.spec.leaseTransitions ?? 0,
      },
    },
  );
}
