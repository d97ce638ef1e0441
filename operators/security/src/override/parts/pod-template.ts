/**
 * `podTemplate`: a strategic merge patch on the whole pod template, for every field of a pod that has no word of its own. A container that
 * the pod does not have is added if it has an image; otherwise nobody could have meant it.
 */
import { didYouMean, type Problem } from '@keelson/schema';
import type { Container, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { mapTemplate, templateOf } from '../../workload/template.ts';
import { checkPatch } from '../patch/check-patch.ts';
import { below, isMap, type PlainMap } from '../patch/plain.ts';
import { podFields } from '../patch/pod-fields.ts';
import { DIRECTIVE, strategicMerge } from '../patch/strategic-merge.ts';
import { holdKeys } from './held-keys.ts';
import { type Merged, type Part, titleOf, type Workload } from './part.ts';

const TYPE = 'PodTemplateSpec';
/** Containers that a message names. */
const MOST_SHOWN = 20;
const lists = ['containers', 'initContainers'] as const;

export const podTemplate: Part<PlainMap> = {
  check(patch, path) {
    // The only place where a field that we do not know cannot be one of a newer Kubernetes.
    const strange = Object.keys(patch)
      .filter((name) => podFields.get(TYPE)?.fields.has(name) !== true)
      .map((name) => ({ path: below(path, name), message: 'unknown field: a pod template has metadata and spec' }));
    return strange.length > 0 ? strange : checkPatch(patch, TYPE, path);
  },

  merge(workload, patch, path): Merged {
    const strangers = lists.flatMap((list) => findStrangers(workload, patch, list, path));
    const fitting = withoutStrangers(patch, strangers);
    const object = mapTemplate(workload.object, (template) => ownFirst(template, merge(template, fitting)));
    const metadata = below(path, 'metadata');
    const labelled = holdKeys(workload, { ...workload, object }, 'labels', below(metadata, 'labels'));
    const annotated = holdKeys(workload, labelled.workload, 'annotations', below(metadata, 'annotations'));
    return {
      workload: annotated.workload,
      refused: [...labelled.refused, ...annotated.refused],
      missed: strangers.map(({ problem }) => problem),
    };
  },
};

function merge(template: PodTemplateSpec, patch: PlainMap): PodTemplateSpec {
  return strategicMerge(template as PlainMap, patch, TYPE) as PodTemplateSpec;
}

/** A server puts added containers before those that there are; but the first is the one that people and tools take for the main one. */
function ownFirst(before: PodTemplateSpec, after: PodTemplateSpec): PodTemplateSpec {
  const own = new Set(before.spec?.containers.map(({ name }) => name));
  const containers: readonly Container[] = after.spec?.containers ?? [];
  if (after.spec === undefined || containers.length === 0) return after;
  const isOwn = ({ name }: Container): boolean => own.has(name);
  const sorted = [...containers.filter(isOwn), ...containers.filter((one) => !isOwn(one))];
  return { ...after, spec: { ...after.spec, containers: sorted } };
}

interface Stranger {
  readonly list: string;
  readonly index: number;
  readonly problem: Problem;
}

/** The containers of the patch that neither are in the pod nor could be added to it. */
function findStrangers(workload: Workload, patch: PlainMap, list: (typeof lists)[number], path: string): Stranger[] {
  const spec = isMap(patch.spec) ? patch.spec : {};
  const items: readonly unknown[] = Array.isArray(spec[list]) ? spec[list] : [];
  const names = (templateOf(workload.object)?.spec?.[list] ?? []).map(({ name }) => name);
  const own = new Set(names);
  // Another level may have added thousands, and each stranger has a message of its own.
  const shown = names.slice(0, MOST_SHOWN);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return items.flatMap((item, index) => {
    if (!isMap(item) || typeof item.name !== 'string' || own.has(item.name)) return [];
    const isAddition = typeof item.image === 'string' && item[DIRECTIVE] === undefined;
    if (isAddition) return [];
    const there = names.length === 0 ? 'it has none' : `it has ${shown.join(', ')}${more}`;
    const hint = didYouMean(item.name, shown) || '; to add one, give it an image';
    const message = `${titleOf(workload)} has no ${list === 'containers' ? 'container' : 'init container'} '${item.name}': ${there}${hint}`;
    return [{ list, index, problem: { path: below(below(below(path, 'spec'), list), index), message } }];
  });
}

function withoutStrangers(patch: PlainMap, strangers: readonly Stranger[]): PlainMap {
  if (strangers.length === 0 || !isMap(patch.spec)) return patch;
  const spec = Object.entries(patch.spec).flatMap(([name, value]) => {
    const gone = new Set(strangers.filter(({ list }) => list === name).map(({ index }) => index));
    if (gone.size === 0 || !Array.isArray(value)) return [[name, value]];
    const rest = value.filter((_, index) => !gone.has(index));
    return rest.length === 0 ? [] : [[name, rest]];
  });
  return { ...patch, spec: Object.fromEntries(spec) };
}
