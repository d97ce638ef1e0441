/** What a user may set for the pipeline. */
import { int32, type Problem, type Static, Type } from '@keelson/schema';
import { OWN_IMAGE } from '../../own-image.ts';

export const VERSION = '0.157.0';

/** By digest too: a tag can be moved. */
export const IMAGE = `docker.io/otel/opentelemetry-collector-contrib:${VERSION}@sha256:f2f01157055a9b2aab9df7118e1f1c9abf345e99b23bc7a2bc791db374a7d0f6`;

export const config = Type.Object({
  replicas: int32({
    default: 2,
    minimum: 1,
    maximum: 50,
    description: 'Gateways. Each takes the events of a part of the nodes.',
  }),
  queue: Type.Object(
    {
      persistent: Type.Boolean({
        default: false,
        description:
          'Whether what waits in a gateway outlives its pod, on a volume that the cluster provides: then the gateways are a StatefulSet. ' +
          'Without it, what waits while the store is away is lost when a gateway is rolled or its node drained.',
      }),
      size: Type.String({
        default: '4Gi',
        pattern: '^[1-9][0-9]*(Mi|Gi|Ti)$',
        description:
          'Room for what waits in one gateway: 512 MiB an index, and as much again to tidy up. 2Gi at least. ' +
          'With `persistent` it cannot change later.',
      }),
      storageClassName: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 253,
          description: 'Class of the volumes; the default one of the cluster unless told. With `persistent` only.',
        }),
      ),
    },
    { default: {}, description: 'Where a gateway keeps what the store has not taken yet.' },
  ),
  deadLetters: Type.Boolean({
    default: true,
    description:
      'Whether documents that the store refuses are kept, each with the reason, in the index `deadLetters` of the output: by a relay ' +
      'in the pods of the gateways. Off, there is no relay and they are lost; but with OpenSearch, which cannot be written to without it.',
  }),
  image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: `Image of an OpenTelemetry Collector with the components of the contrib distribution. Default: ${IMAGE}.`,
    }),
  ),
  relayImage: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: `Image of Keelson, for the relay. Default: ${OWN_IMAGE}.`,
    }),
  ),
});

export type Queue = Static<typeof config>['queue'];

const SMALLEST_MIB = 2048;
const MIB: Readonly<Record<string, number>> = { Mi: 1, Gi: 1024, Ti: 1024 * 1024 };

/** What the schema cannot say. */
export function checkConfig({
  queue: { size, persistent, storageClassName },
}: Static<typeof config>): readonly Problem[] {
  const mib = Number.parseInt(size, 10) * (MIB[size.slice(-2)] ?? 0);
  return [
    ...(mib < SMALLEST_MIB
      ? [{ path: 'queue.size', message: `${size} is too little: the queues of all indices take up to 2Gi` }]
      : []),
    ...(storageClassName !== undefined && !persistent
      ? [{ path: 'queue.storageClassName', message: 'has no meaning without queue.persistent: true' }]
      : []),
  ];
}
