/** The tool's own container: image, resources, env, args, securityContext, volumeMounts. */
import type { Problem } from '@keelson/schema';
import type { EnvVar, ResourceRequirements, SecurityContext, VolumeMount } from 'kubernetes-types/core/v1.js';
import { mergeByKey } from '../by-key.ts';
import { checkPatch } from '../patch/check-patch.ts';
import { checkValue } from '../patch/check-value.ts';
import { isMap, type PlainMap } from '../patch/plain.ts';
import { strategicMerge } from '../patch/strategic-merge.ts';
import { checkResources } from '../rules/resources.ts';
import { onMain } from './part.ts';

/** Replaced. */
export const image = onMain<string>((_container, value) => ({ image: value }));

/** Replaced as a whole. */
export const resources = onMain<ResourceRequirements>((_container, value) => ({ resources: value }), checkResources);

/** Merged by name. */
export const env = onMain<EnvVar[]>(
  (container, value) => ({ env: [...mergeByKey(container.env, value, ({ name }) => name)] }),
  (value, path) => checkValue(value, { list: 'EnvVar', keys: ['name'] }, path),
);

/** Added after those that it has. */
export const args = onMain<string[]>((container, value) => ({ args: [...(container.args ?? []), ...value] }));

/** Merged by field; a profile, whose fields belong together, is replaced. */
export const securityContext = onMain<SecurityContext>(
  (container, value) => {
    const before = (container.securityContext ?? {}) as PlainMap;
    const patch = value as PlainMap;
    const rest = Object.entries(before).filter(([name]) => !(profiles.includes(name) && isMap(patch[name])));
    return { securityContext: strategicMerge(Object.fromEntries(rest), patch, 'SecurityContext') as SecurityContext };
  },
  (value, path) => checkPatch(value, 'SecurityContext', path),
);

/** Merged by mountPath. */
export const volumeMounts = onMain<VolumeMount[]>(
  (container, value) => ({
    volumeMounts: [...mergeByKey(container.volumeMounts, value, ({ mountPath }) => mountPath)],
  }),
  (value, path): readonly Problem[] => checkValue(value, { list: 'VolumeMount', keys: ['mountPath'] }, path),
);

const profiles = ['seccompProfile', 'appArmorProfile'];
