/** Sorts what the user handed in: instances of our operators, and objects that those operators look at. */
import type { Operator, Problem } from '@keelson/runtime';
import { apiVersionOf, builtInKinds, type Kind, type KubeObject } from '@keelson/schema';
import { operatorFor } from '../config/operator-of.ts';
import { type Failure, failure } from '../failure.ts';
import type { Shell } from '../shell.ts';
import type { Manifest } from './manifests.ts';

export interface Sorted {
  readonly instances: readonly {
    readonly operator: Operator;
    readonly manifest: Manifest;
    /** What `reconcile` is to see beside it: objects of watched kinds, other instances among them. */
    readonly related: readonly { readonly kind: Kind; readonly object: KubeObject }[];
  }[];
  /** Built-in objects that no operator makes or watches: the Namespace or Secret that often stands beside an instance. */
  readonly others: readonly KubeObject[];
}

/** Everything else is an unknown kind, which is a failure that lists the known ones. */
export function sortManifests(manifests: readonly Manifest[], operators: readonly Operator[]): Sorted {
  const watched = operators.flatMap(({ watches }) => watches.map(({ kind }) => kind));
  const related = manifests.flatMap(({ object }) => {
    const kind = watched.find((one) => isOf(one, object));
    return kind === undefined ? [] : [{ kind, object }];
  });
  const instances: Sorted['instances'][number][] = [];
  const others: KubeObject[] = [];
  for (const manifest of manifests) {
    const { object, place } = manifest;
    const isResource = operators.some(({ resource }) => resource.kind === object.kind && isIn(resource.group, object));
    if (!isResource && related.some((one) => one.object === object)) continue;
    if (!isResource && builtInKinds.some((kind) => isOf(kind, object))) others.push(object);
    else {
      const operator = operatorFor(object, operators, place);
      instances.push({ manifest, operator, related: related.filter((one) => one.object !== object) });
    }
  }
  return { instances, others };
}

/** One line about what is not ours to look at. */
export function noteOthers(others: readonly KubeObject[], shell: Shell): void {
  if (others.length > 0) shell.note(`note: left out, no operator makes it: ${others.map(nameOf).join(', ')}\n`);
}

function isOf(kind: Kind, { kind: name, apiVersion }: KubeObject): boolean {
  return kind.kind === name && apiVersionOf(kind) === apiVersion;
}

function isIn(group: string, { apiVersion }: KubeObject): boolean {
  return apiVersion.startsWith(`${group}/`);
}

/** The failure for an instance that its schema or its operator's admission refuses: every path, one a line. */
export function invalidInstance({ object, place }: Manifest, problems: readonly Problem[]): Failure {
  const lines = problems.map(({ path, message }) => `\n  ${path === '' ? '' : `${path}: `}${message}`);
  const kind = object.kind.toLowerCase();
  return failure(
    'usage',
    `${place}: ${kind}/${object.metadata.name} is not valid:${lines.join('')}`,
    remedyFor(kind, problems),
  );
}

/** A problem without a path is about no field; the config of a feature is explained with that feature. */
function remedyFor(kind: string, problems: readonly Problem[]): string {
  const isOfFields = problems.some(({ path }) => path !== '');
  if (!isOfFields && problems.some(({ message }) => /namespace "[^"]*" does not exist/.test(message)))
    return 'create the namespace first, or put it into the same file';
  const features = problems.map(({ path }) => /^spec\.features\[name=([^\]]+)\]\.config\b/.exec(path)?.[1]);
  const commands = new Set(features.map((feature) => (feature === undefined ? kind : `feature ${feature}`)));
  const list = [...commands].map((command) => `\`keelson explain ${command}\``).join(' and ');
  return `correct these fields; ${list} ${commands.size > 1 ? 'list' : 'lists'} what is allowed`;
}

/** `website/front`: how an instance is called in messages. */
export function nameOf(object: KubeObject): string {
  return `${object.kind.toLowerCase()}/${object.metadata.name}`;
}
