/**
 * Where stores differ in what they are told: the field that holds any object, and how old events are let go. Data, and what follows from
 * it; what all have in common is in mappings.ts and templates.ts.
 */
import type { StoreKind } from '../../store.ts';

/** A template or a policy. */
export interface NamedBody {
  readonly name: string;
  readonly body: object;
}

export interface Dialect {
  /** A field that holds any object. It is one field however large the object is, and each value in it is found by its path. */
  readonly anyObject: object;
  /** What an account needs to put index templates in place. */
  readonly templatePrivilege: string;
  readonly lifecycle: Lifecycle;
  /** Where the templates are for those who install by hand. */
  readonly folder: string;
}

/** How a store lets old events go: an index is followed by a new one every day, and deleted so many days later. */
export interface Lifecycle {
  /** As people know it, and why a store may be without. */
  readonly title: string;
  /** A store that has it answers this; one that has not does not know the question. */
  readonly question: string;
  readonly privilege: string;
  /** Changed only by who says which version he saw, and each change begins the count for new indices anew: so only if it must be. */
  readonly isVersioned: boolean;
  pathOf(name: string): string;
  /** It says for whom it is, because others may want another for the same index. */
  policy(index: string, days: number, wantedBy: string): { readonly policy: object };
  /** What a policy of ours says, out of the answer of the store. */
  wishIn(answer: object, name: string): Partial<Wish>;
  /** What an index template says for its indices to follow the policy. */
  settings(policy: NamedBody): object;
  /** What a person does to have an index no longer go by a policy. */
  remedy(index: string, name: string): string;
}

/** After how many days what an index holds goes, and which agent wants that. */
export interface Wish {
  readonly days: number;
  readonly wantedBy: string;
}

const NEW_EVERY = '1d';
const LARGEST_SHARD = '50gb';

interface IlmPolicy {
  readonly _meta?: { readonly wanted_by?: string };
  readonly phases?: { readonly delete?: { readonly min_age?: string } };
}

interface IsmPolicy {
  readonly description?: string;
  readonly states?: readonly { readonly transitions?: readonly { readonly conditions?: IsmConditions }[] }[];
}

interface IsmConditions {
  readonly min_rollover_age?: string;
}

/** `30d` → 30; nothing of what was written in another way. */
function wishOf(age: string | undefined, wantedBy: string | undefined): Partial<Wish> {
  const [, days] = /^(\d+)d$/.exec(age ?? '') ?? [];
  return { ...(days === undefined ? {} : { days: Number(days) }), ...(wantedBy === undefined ? {} : { wantedBy }) };
}

/** https://www.elastic.co/guide/en/elasticsearch/reference/7.17/index-lifecycle-management.html */
const ilm: Lifecycle = {
  title: 'lifecycle management (it came with another distribution of Elasticsearch)',
  question: '/_ilm/status',
  privilege: 'manage_ilm',
  isVersioned: false,
  pathOf: (name) => `/_ilm/policy/${encodeURIComponent(name)}`,
  policy: (_index, days, wantedBy) => ({
    policy: {
      _meta: { managed_by: 'keelson', wanted_by: wantedBy },
      phases: {
        hot: { actions: { rollover: { max_age: NEW_EVERY, max_primary_shard_size: LARGEST_SHARD } } },
        // Counted from when it is no longer written to.
        delete: { min_age: `${days}d`, actions: { delete: {} } },
      },
    },
  }),
  wishIn: (answer, name) => {
    const { policy } = (answer as Readonly<Record<string, { policy?: IlmPolicy }>>)[name] ?? {};
    return wishOf(policy?.phases?.delete?.min_age, policy?._meta?.wanted_by);
  },
  settings: ({ name }) => ({ lifecycle: { name } }),
  remedy: (index, name) => `POST /${index}/_ilm/remove, then DELETE /_ilm/policy/${name}`,
};

/** https://docs.opensearch.org/2.19/im-plugin/ism/policies/: indices do not name their policy, it names them; of a data stream, by the name of that. */
const ism: Lifecycle = {
  title: 'index state management (the plugin opensearch-index-management)',
  question: '/_plugins/_ism/policies',
  privilege: 'cluster:admin/opendistro/ism/policy/*',
  isVersioned: true,
  pathOf: (name) => `/_plugins/_ism/policies/${encodeURIComponent(name)}`,
  policy: (index, days, wantedBy) => ({
    policy: {
      // The only words that it has room for.
      description: `Managed by keelson: what is in ${index} goes after ${days} days, wanted by ${wantedBy}`,
      default_state: 'written',
      states: [
        {
          name: 'written',
          actions: [{ rollover: { min_index_age: NEW_EVERY, min_primary_shard_size: LARGEST_SHARD } }],
          // Counted from when it is no longer written to.
          transitions: [{ state_name: 'gone', conditions: { min_rollover_age: `${days}d` } }],
        },
        { name: 'gone', actions: [{ delete: {} }], transitions: [] },
      ],
      ism_template: [{ index_patterns: [index], priority: 300 }],
    },
  }),
  wishIn: (answer) => {
    const { policy } = answer as { policy?: IsmPolicy };
    const [, wantedBy] = /, wanted by (.+)$/.exec(policy?.description ?? '') ?? [];
    return wishOf(policy?.states?.[0]?.transitions?.[0]?.conditions?.min_rollover_age, wantedBy);
  },
  settings: () => ({}),
  remedy: (index, name) => `DELETE /_plugins/_ism/policies/${name}, then POST /_plugins/_ism/remove/${index}`,
};

export const dialects: Readonly<Record<StoreKind, Dialect>> = {
  elasticsearch: {
    anyObject: { type: 'flattened', ignore_above: 4096, depth_limit: 100 },
    templatePrivilege: 'manage_index_templates',
    lifecycle: ilm,
    folder: 'deploy/elasticsearch',
  },
  opensearch: {
    // It knows no limits of its own: a value above 32 KiB has the document refused, which is then a dead letter.
    anyObject: { type: 'flat_object' },
    templatePrivilege: 'cluster_manage_index_templates',
    lifecycle: ism,
    folder: 'deploy/opensearch',
  },
};
