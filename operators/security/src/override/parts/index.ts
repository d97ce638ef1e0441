/**
 * The parts of an override, in the order in which they are merged. The patch comes after the words, so that it has the last one;
 * only mounts come later, for their volumes may come with the patch.
 */
import type { ToolOverride } from '../schema.ts';
import { args, env, image, resources, securityContext, volumeMounts } from './container.ts';
import { annotations, labels } from './metadata.ts';
import type { Part } from './part.ts';
import { podTemplate } from './pod-template.ts';
import { affinity, nodeSelector, priorityClassName, tolerations } from './scheduling.ts';
import { updateStrategy } from './update-strategy.ts';
import { volumes } from './volumes.ts';

type Parts = { readonly [Name in keyof ToolOverride]-?: Part<NonNullable<ToolOverride[Name]>> };

const parts: Parts = {
  image,
  resources,
  env,
  args,
  securityContext,
  tolerations,
  nodeSelector,
  affinity,
  priorityClassName,
  labels,
  annotations,
  updateStrategy,
  volumes,
  podTemplate,
  volumeMounts,
};

/** A part that is given, with its value. */
export interface GivenPart {
  readonly name: string;
  readonly part: Part<unknown>;
  readonly value: unknown;
}

/** The parts that an override gives, in the order in which they are merged. */
export function givenParts(override: ToolOverride): readonly GivenPart[] {
  return Object.entries(parts).flatMap(([name, part]) => {
    const value = override[name as keyof ToolOverride];
    return value === undefined ? [] : [{ name, part: part as Part<unknown>, value }];
  });
}
