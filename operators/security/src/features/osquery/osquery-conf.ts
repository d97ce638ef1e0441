/** osquery.conf: our packs, and the user's own queries beside them under the names he gave them. */
import type { Config } from './config.ts';
import { intervalOf, packs } from './pack.ts';

/** osquery.conf as an object; results of own queries are called by their name, those of packs `pack_<pack>_<query>`. */
export function osqueryConf({ interval, queries }: Config) {
  return {
    packs: Object.fromEntries(
      Object.entries(packs).map(([name, { discovery, queries: asked }]) => [
        name,
        {
          ...(discovery === undefined ? {} : { discovery: [discovery] }),
          queries: Object.fromEntries(
            Object.entries(asked).map(([query, { pace, ...rest }]) => [
              query,
              { ...rest, interval: intervalOf(pace, interval) },
            ]),
          ),
        },
      ]),
    ),
    schedule: Object.fromEntries(
      Object.entries(queries).map(([name, query]) => [name, { ...query, interval: query.interval ?? interval }]),
    ),
  };
}
