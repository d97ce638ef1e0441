/**
 * A *feature* is one security tool as a value: what a user may configure, what it installs, what its pods may do, what it writes
 * for the pipeline to read, and how to tell whether it works. The list of features (features/index.ts) is the only place that
 * knows them all; adding a tool is a folder and a line there.
 *
 * Invariant: every function here is pure. A feature returns data and never sees another feature: the host (steps/) adds labels,
 * namespaces, accounts, roles, checksums and overrides, and refuses two features that want one object.
 */
import {
  defineShape,
  type Grant,
  type Kind,
  type KubeObject,
  type Problem,
  type Shape,
  type ShapeResult,
  type Static,
  type TSchema,
} from '@keelson/schema';
import type { AssessContext, Assessment } from './assess/assessment.ts';
import { conditionOf, featureIdPattern } from './feature-id.ts';
import type { Store } from './store.ts';
import type { LogSource } from './telemetry/source.ts';

/** A right that the pods of a tool have: one rule of its ClusterRole. The operator holds it too, or it could not pass it on. */
export type Right = Pick<Grant, 'kind' | 'verbs' | 'subresource' | 'names' | 'why'>;

/** A privilege on the node that the tool cannot live without, for `keelson explain` and the threat model. */
export interface Privilege {
  /** `privileged`, `hostPID`, `/proc read-only`. */
  readonly what: string;
  readonly why: string;
}

/** A kind that must be served before the tool can work: it belongs to software that somebody else installs. */
export interface Requirement {
  readonly kind: Kind;
  /** What to do about it, for the condition: `install trivy-operator`. */
  readonly remedy: string;
}

/** What a feature may know of the agent that it works for. */
export interface FeatureContext {
  /** The agent itself. */
  readonly agent: { readonly name: string; readonly namespace: string };
  /** Where its namespaced objects go; the host fills it in, features need it only to name an address or a subject. */
  readonly namespace: string;
  /** How this cluster is called in events. */
  readonly cluster: string | undefined;
  readonly store: Store | undefined;
  /** What the features that run write, in the order of the features. */
  readonly sources: readonly LogSource[];
  /** A default image as it is pulled here: from the mirror, if there is one. What a user names himself is taken as it is. */
  image(reference: string): string;
  /** The name of a cluster-scoped object: carries the agent, so that no two agents ever want the same one. */
  scopedName(name: string): string;
}

export interface FeatureDefinition<Config> {
  /** As in `spec.features[].name`: lower-case words joined by `_`. Its condition is `<Words>Ready`. */
  readonly id: string;
  /** As people write it: `Falco`. */
  readonly title: string;
  /** One sentence: what a user gets. */
  readonly description: string;
  /** Lower comes first. The pipeline is 10, tools are 100, what needs them is 200. */
  readonly priority: number;
  /** Version of the tool that is installed by default. */
  readonly version: string;
  readonly privileges: readonly Privilege[];
  /** Kinds beyond the built-in workloads that it makes. They may be missing from the cluster. */
  readonly kinds?: readonly Kind[];
  readonly requires?: readonly Requirement[];
  /** What its pods may ask the API server. With any, they get a token. */
  readonly rights?: readonly Right[];
  /** Why no two agents may run it on one node; left out, they may. */
  readonly exclusive?: string;
  /** Its pods write to the store themselves: it waits for the credentials of `spec.output`. */
  readonly usesOutput?: boolean;
  /** Volumes with Secrets whose files its pods read again when they change: such a change rolls nothing. */
  readonly rereads?: readonly string[];
  /** It also runs where it is not listed, as soon as another feature writes telemetry. */
  readonly followsSources?: boolean;
  /** Of the one that follows sources: whether documents that the store refuses are kept; left out, they are not. */
  deadLetters?(config: Config): boolean;
  /** What no schema can say of a config that fits its schema; paths begin at the config: `rules["mine.yaml"]`. */
  check?(config: Config): readonly Problem[];
  /** Everything it installs. Metadata of namespaced objects needs a name only. */
  contribute(config: Config, context: FeatureContext): readonly KubeObject[];
  /** The file it writes events to, for the pipeline to read. */
  telemetry?(config: Config): LogSource;
  /** Whether it works; left out, its workloads are judged. */
  assess?(config: Config, context: AssessContext): Assessment;
}

export interface Feature<Config = unknown> extends FeatureDefinition<Config> {
  /** Checks and defaults `config`. */
  readonly config: Shape<Config>;
  /** `FalcoReady` */
  readonly condition: string;
}

/** Checks a feature and compiles its config schema; throws and names every flaw. */
export function defineFeature<Schema extends TSchema>(
  definition: FeatureDefinition<Static<NoInfer<Schema>>> & { readonly config: Schema },
): Feature<Static<Schema>> {
  const flaws: string[] = [];
  if (!new RegExp(featureIdPattern).test(definition.id) || definition.id.length > 40)
    flaws.push("id must be lower-case words joined by '_', at most 40 characters, e.g. 'falco'");
  if (!Number.isInteger(definition.priority)) flaws.push('priority must be a whole number, e.g. 100');
  for (const text of ['title', 'description', 'version'] as const) {
    if (definition[text].trim() === '') flaws.push(`${text} must not be empty`);
  }
  if (flaws.length > 0) throw new TypeError(`feature '${definition.id}': ${flaws.join('; ')}`);
  return Object.freeze({
    ...definition,
    config: checkedShape(
      defineShape(definition.config, `feature ${definition.id}`) as Shape<Static<Schema>>,
      definition.check,
    ),
    condition: conditionOf(definition.id),
  });
}

/** A shape that is judged twice: by its schema, and what fits that by the feature. */
function checkedShape<Config>(shape: Shape<Config>, check: FeatureDefinition<Config>['check']): Shape<Config> {
  if (check === undefined) return shape;
  // Half a megabyte of rules takes a second to check, and an agent is looked at often: what was checked is not checked again.
  const known = new WeakMap<object, { readonly path: string; readonly result: ShapeResult<Config> }>();
  const parse = (value: unknown, path: string): ShapeResult<Config> => {
    const result = shape.parse(value, path);
    const problems = result.ok ? check(result.value) : [];
    if (problems.length === 0) return result;
    const prefix = path === '' ? '' : `${path}.`;
    return { ok: false, problems: problems.map((problem) => ({ ...problem, path: `${prefix}${problem.path}` })) };
  };
  return Object.freeze({
    schema: shape.schema,
    parse(value: unknown, path = ''): ShapeResult<Config> {
      // What can still change is looked at anew.
      if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return parse(value, path);
      const before = known.get(value);
      if (before?.path === path) return before.result;
      const result = parse(value, path);
      known.set(value, { path, result });
      return result;
    },
  });
}

/** The features by priority, then by id; one id twice fails at start. */
export function featureList(features: readonly Feature[]): readonly Feature[] {
  const ids = features.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new TypeError(`feature '${twice}' is in the list twice: remove one`);
  return Object.freeze([...features].sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1)));
}
