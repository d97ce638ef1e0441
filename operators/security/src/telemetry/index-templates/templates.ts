/**
 * The index templates of a store, one an index, and the policies by which old events go. Pure: put in place by install.ts, and written
 * to deploy/ for those who install by hand.
 */
import type { Store, StoreKind } from '../../store.ts';
import { type Dialect, dialects, type NamedBody, type Wish } from './dialect.ts';
import { deadLetterMappings, eventMappings, vulnerabilityMappings } from './mappings.ts';

/** Above the templates that Elastic ships (100 and 200), below what users write to overrule. */
const PRIORITY = 300;
/** Of ours there are fewer than a hundred. */
const MOST_FIELDS = 500;

type Indices = Store['indices'];

/** A template for one index. */
export interface IndexTemplate extends NamedBody {
  readonly index: string;
  /** By which its indices go, if they do. */
  readonly policy?: NamedBody;
}

const holds: Readonly<Record<keyof Indices, { readonly what: string; mappings(dialect: Dialect): object }>> = {
  events: { what: 'What Falco and Tetragon saw.', mappings: ({ anyObject }) => eventMappings(anyObject) },
  inventory: { what: 'What osquery found.', mappings: ({ anyObject }) => eventMappings(anyObject) },
  vulnerability: { what: 'Vulnerabilities that trivy-operator found.', mappings: () => vulnerabilityMappings },
  deadLetters: { what: 'Documents that the store refused, and why.', mappings: () => deadLetterMappings },
};

/** Marks what is ours, in templates and in the indices that come of them. */
const managed = { managed_by: 'keelson' };

/**
 * Templates for all indices; by each index of which events go after a while, what is kept of it is told to the store. What is a data
 * stream already (`streams`) stays one: a store refuses a template that would leave it without.
 */
export function indexTemplates(
  kind: StoreKind,
  indices: Indices,
  retained: Readonly<Partial<Record<keyof Indices, NamedBody>>> = {},
  streams: ReadonlySet<string> = new Set(),
): readonly IndexTemplate[] {
  const dialect = dialects[kind];
  return (Object.keys(holds) as (keyof Indices)[]).map((key) => {
    const index = indices[key];
    const { what, mappings } = holds[key];
    const policy = retained[key];
    const body = {
      index_patterns: [index],
      priority: PRIORITY,
      _meta: { ...managed, description: what },
      // What is to go by age is a series of indices behind one name.
      ...(policy === undefined && !streams.has(index) ? {} : { data_stream: {} }),
      template: {
        settings: {
          index: {
            mapping: { total_fields: { limit: String(MOST_FIELDS) } },
            ...(policy === undefined ? {} : dialect.lifecycle.settings(policy)),
          },
        },
        mappings: { _meta: managed, ...mappings(dialect) },
      },
    };
    return { name: templateName(index), index, body, ...(policy === undefined ? {} : { policy }) };
  });
}

/** Carries the name of the index: two agents that write to one index share its template and its policy. */
export function templateName(index: string): string {
  return `keelson.${index}`;
}

/** The policy by which what an index holds goes after so many days: a new index a day, and an old one deleted. */
export function retentionPolicy(kind: StoreKind, index: string, { days, wantedBy }: Wish): NamedBody {
  return { name: templateName(index), body: dialects[kind].lifecycle.policy(index, days, wantedBy) };
}

/** The templates as files for those who install them by hand, below the root of the repository. */
export function templateFiles(indices: Indices): readonly { readonly path: string; readonly content: string }[] {
  return (Object.keys(dialects) as StoreKind[]).flatMap((kind) =>
    indexTemplates(kind, indices).map(({ index, body }) => ({
      path: `${dialects[kind].folder}/${index}.json`,
      content: `${JSON.stringify(body, null, 2)}\n`,
    })),
  );
}
