/**
 * The index templates of a store, one an index, and the policies by which old events go. Pure: put in place by install.ts, and written
 * to deploy/elasticsearch for those who install by hand.
 */
import type { Store } from '../../store.ts';
import { deadLetterMappings, eventMappings, vulnerabilityMappings } from './mappings.ts';

/** Above the templates that Elastic ships (100 and 200), below what users write to overrule. */
const PRIORITY = 300;
/** Of ours there are fewer than a hundred. */
const MOST_FIELDS = 500;

type Indices = Store['indices'];

export interface NamedBody {
  readonly name: string;
  readonly body: object;
}

/** A template for one index; `lifecycle` names the policy by which what it holds goes. */
export interface IndexTemplate extends NamedBody {
  readonly index: string;
}

const holds: Readonly<Record<keyof Indices, { readonly what: string; readonly mappings: object }>> = {
  events: { what: 'What Falco and Tetragon saw.', mappings: eventMappings },
  inventory: { what: 'What osquery found.', mappings: eventMappings },
  vulnerability: { what: 'Vulnerabilities that trivy-operator found.', mappings: vulnerabilityMappings },
  deadLetters: { what: 'Documents that the store refused, and why.', mappings: deadLetterMappings },
};

/** Marks what is ours, in templates and in the indices that come of them. */
const managed = { managed_by: 'keelson' };

/** Templates for all indices; by each index of which events go after a while, what is kept of it is told to the store. */
export function indexTemplates(
  indices: Indices,
  retained: Readonly<Partial<Record<keyof Indices, string>>> = {},
): readonly IndexTemplate[] {
  return (Object.keys(holds) as (keyof Indices)[]).map((key) => {
    const index = indices[key];
    const { what, mappings } = holds[key];
    const policy = retained[key];
    const body = {
      index_patterns: [index],
      priority: PRIORITY,
      _meta: { ...managed, description: what },
      // What is to go by age is a series of indices behind one name.
      ...(policy === undefined ? {} : { data_stream: {} }),
      template: {
        settings: {
          index: {
            mapping: { ignore_malformed: 'true', total_fields: { limit: String(MOST_FIELDS) } },
            ...(policy === undefined ? {} : { lifecycle: { name: policy } }),
          },
        },
        mappings: { _meta: managed, ...mappings },
      },
    };
    return { name: templateName(index), index, body };
  });
}

/** Carries the name of the index: two agents that write to one index agree about its template. */
export function templateName(index: string): string {
  return `keelson.${index}`;
}

/** The policy by which what an index holds goes after so many days: a new index a day, and an old one deleted. */
export function retentionPolicy(index: string, days: number): NamedBody {
  return {
    name: `keelson.${index}`,
    body: {
      policy: {
        _meta: managed,
        phases: {
          hot: { actions: { rollover: { max_age: '1d', max_primary_shard_size: '50gb' } } },
          // Counted from when it is no longer written to.
          delete: { min_age: `${days}d`, actions: { delete: {} } },
        },
      },
    },
  };
}

/** The templates as files for those who install them by hand. */
export function templateFiles(indices: Indices): readonly { readonly path: string; readonly content: string }[] {
  return indexTemplates(indices).map(({ index, body }) => ({
    path: `${index}.json`,
    content: `${JSON.stringify(body, null, 2)}\n`,
  }));
}
