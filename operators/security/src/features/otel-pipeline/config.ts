/** What a user may set for the pipeline. */
import { int32, Type } from '@keelson/schema';

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
  image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: `Image of an OpenTelemetry Collector with the components of the contrib distribution. Default: ${IMAGE}.`,
    }),
  ),
});
