/**
 * Defining resources. `defineResource` is the only way in: it takes what a person writes, checks it as the API server would
 * (and where the server would stay silent), and gives a frozen value that everything else only reads.
 */
import type { Static, TSchema } from 'typebox';
import { type ResourceNames, resolveNames } from './names.ts';
import type { Conversion, NoStatus, Resource, ResourceVersion, VersionDefinition } from './resource.ts';
import { fail, type StructuralSchema } from './structural/schema.ts';
import { resolveVersion } from './version.ts';

/** What all versions of a resource share. */
export interface ResourceHead extends ResourceNames {
  readonly scope: 'Namespaced' | 'Cluster';
  /** One sentence: what an object of this kind asks for. Shown by `kubectl explain`. */
  readonly description: string;
}

/** A resource with one version, in short. */
export interface SingleVersionDefinition<Spec extends TSchema, Status extends TSchema>
  extends ResourceHead,
    Omit<
      VersionDefinition<Spec, Status>,
      'name' | 'served' | 'storage' | 'convert' | 'deprecated' | 'deprecationWarning'
    > {
  readonly version: string;
}

/** A resource with several versions. */
export interface MultiVersionDefinition<Versions extends readonly VersionDefinition[]> extends ResourceHead {
  readonly versions: readonly [...Versions];
}

type StorageOf<Versions extends readonly VersionDefinition[]> = Extract<Versions[number], { readonly storage: true }>;
type StatusSchemaOf<Version> = Version extends { readonly status?: infer Status extends TSchema }
  ? TSchema extends Status
    ? NoStatus
    : Status
  : NoStatus;

/** Defines a resource; throws a TypeError that names the field and the remedy when a cluster could not take it. */
export function defineResource<Spec extends TSchema, Status extends TSchema = NoStatus>(
  definition: SingleVersionDefinition<Spec, Status>,
): Resource<Static<Spec>, Static<Status>>;
export function defineResource<const Versions extends readonly VersionDefinition[]>(
  definition: MultiVersionDefinition<Versions>,
): Resource<Static<StorageOf<Versions>['spec']>, Static<StatusSchemaOf<StorageOf<Versions>>>>;
export function defineResource(
  definition: SingleVersionDefinition<TSchema, TSchema> | MultiVersionDefinition<readonly VersionDefinition[]>,
): Resource {
  const { scope, description } = definition;
  const names = resolveNames(definition);
  if (description.trim() === '')
    fail(
      { subject: names.kind, path: 'description' },
      'it is empty',
      'Say in one sentence what an object of this kind asks for',
    );
  const written = 'versions' in definition ? definition.versions : [singleVersion(definition)];
  const versions = written.map((version) => resolveVersion(names.kind, description, version));
  const storage = checkVersions(names.kind, versions, written);
  return Object.freeze({
    group: names.group,
    version: storage.name,
    kind: names.kind,
    plural: names.plural,
    scope,
    singular: names.singular,
    listKind: names.listKind,
    shortNames: Object.freeze([...names.shortNames]),
    categories: Object.freeze([...names.categories]),
    description,
    versions: Object.freeze(versions),
  });
}

/**
 * Types one version of several. `storedAs` names the stored version's definition, which types the conversion:
 * `defineVersion({ name: 'v1alpha1', spec, storedAs: v1, convert: { toStorage: ({ spec }) => …, fromStorage: … } })`.
 */
export function defineVersion<
  Spec extends TSchema,
  Status extends TSchema = NoStatus,
  const Storage extends boolean = false,
  Stored extends VersionDefinition = VersionDefinition,
>(
  definition: Omit<VersionDefinition<Spec, Status>, 'storage' | 'convert'> & {
    readonly storage?: Storage;
    readonly storedAs?: Stored;
    readonly convert?: Conversion<Static<Spec>, Static<Status>, Static<Stored['spec']>, Static<StatusSchemaOf<Stored>>>;
  },
): VersionDefinition<Spec, Status> & { readonly storage: Storage } {
  return { storage: false as Storage, ...definition };
}

function singleVersion(definition: SingleVersionDefinition<TSchema, TSchema>): VersionDefinition {
  const {
    version,
    group: _group,
    kind: _kind,
    plural: _plural,
    singular: _singular,
    shortNames: _short,
    categories: _categories,
    scope: _scope,
    description: _description,
    ...rest
  } = definition;
  return { ...rest, name: version, storage: true };
}

function checkVersions(
  kind: string,
  versions: readonly ResourceVersion[],
  written: readonly VersionDefinition[],
): ResourceVersion {
  const at = (path: string): { subject: string; path: string } => ({ subject: kind, path });
  const twice = versions.find((version, index) => versions.findIndex((other) => other.name === version.name) !== index);
  if (twice !== undefined) fail(at('versions'), `${twice.name} is there twice`, 'Give each version its own name');
  const stored = versions.filter((version) => version.storage);
  const [storage] = stored;
  if (storage === undefined)
    fail(at('versions'), 'no version is the stored one', 'Set storage: true on the newest stable one');
  if (stored.length > 1)
    fail(
      at('versions'),
      `${stored.map((version) => version.name).join(' and ')} are both the stored version`,
      'Set storage: true on one of them',
    );
  if (!versions.some((version) => version.served))
    fail(at('versions'), 'no version is served', 'Leave served out, or set it on one of them');
  for (const [index, version] of versions.entries()) {
    if (version === storage) continue;
    const storedAs = Reflect.get(written[index] ?? {}, 'storedAs') as VersionDefinition | undefined;
    if (storedAs !== undefined && storedAs.name !== storage.name)
      fail(
        at(version.name),
        `storedAs names ${storedAs.name}, but ${storage.name} is stored`,
        `Set storedAs to the definition of ${storage.name}`,
      );
    const difference = firstDifference(version.schema, storage.schema, '');
    if (difference !== undefined && version.convert === undefined) {
      fail(
        at(version.name),
        `${difference} is not the same as in ${storage.name}, and no conversion is defined`,
        'Add convert: { toStorage, fromStorage }, or give both versions the same fields',
      );
    }
  }
  return storage;
}

/** The first field that one version has and the other has not, or has with another type: data would be lost between them. */
function firstDifference(left: StructuralSchema, right: StructuralSchema, path: string): string | undefined {
  const here = path === '' ? 'the object' : path;
  for (const key of ['type', 'nullable', 'x-kubernetes-int-or-string', 'x-kubernetes-preserve-unknown-fields'] as const)
    if (left[key] !== right[key]) return here;
  const names = new Set([...Object.keys(left.properties ?? {}), ...Object.keys(right.properties ?? {})]);
  const children: (readonly [string, StructuralSchema | undefined, StructuralSchema | undefined])[] = [...names].map(
    (name) => [path === '' ? name : `${path}.${name}`, left.properties?.[name], right.properties?.[name]],
  );
  children.push(
    [`${path}[]`, left.items, right.items],
    [`${path}.*`, left.additionalProperties, right.additionalProperties],
  );
  for (const [childPath, one, other] of children) {
    if (one === undefined && other === undefined) continue;
    if (one === undefined || other === undefined) return childPath;
    const difference = firstDifference(one, other, childPath);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
