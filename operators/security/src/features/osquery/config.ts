/** What a user may set for osquery. */
import { int32, type Static, Type } from '@keelson/schema';
import { LONGEST_INTERVAL } from './pack.ts';

/** The newest tag that is published; they lag behind the releases, and each names a version and a distribution. */
export const IMAGE = 'docker.io/osquery/osquery:5.17.0-ubuntu22.04';

const seconds = { minimum: 10, maximum: LONGEST_INTERVAL };

export const config = Type.Object({
  interval: int32({
    ...seconds,
    default: 300,
    description:
      'Seconds between two looks at what changes quickly (processes, listening ports). Packages, users and the like are looked at 12 times, ' +
      'hardware and certificates 288 times as rarely: every hour and every day by default.',
  }),
  image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: `Image with osquery in /opt/osquery and a shell. Default: ${IMAGE}.`,
    }),
  ),
  queries: Type.Record(
    Type.String(),
    Type.Object({
      query: Type.String({
        minLength: 1,
        maxLength: 10_000,
        description: 'In the SQL of osquery, about the node.',
        examples: ["SELECT path, sha256 FROM hash WHERE path = '/usr/bin/kubelet'"],
      }),
      interval: Type.Optional(
        int32({ ...seconds, description: 'Seconds between two runs. Default: that of the feature.' }),
      ),
      platform: Type.Optional(
        Type.Enum(['linux', 'posix', 'any'], { description: 'Where it runs; left out, everywhere.' }),
      ),
      description: Type.Optional(Type.String({ maxLength: 500, description: 'What it is for.' })),
    }),
    {
      default: {},
      maxProperties: 200,
      description: 'Own queries by name, beside those of the pack. The name is that of their results.',
    },
  ),
});

export type Config = Static<typeof config>;
