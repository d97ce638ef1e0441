/** Volumes of the pods. */
import type { Volume } from 'kubernetes-types/core/v1.js';
import { mergeByKey } from '../by-key.ts';
import { checkValue } from '../patch/check-value.ts';
import { onPodSpec } from './part.ts';

/** Merged by name: one of the same name is replaced as a whole, for two sources in one volume are none. */
export const volumes = onPodSpec<Volume[]>(
  (spec, value) => ({ volumes: [...mergeByKey(spec.volumes, value, ({ name }) => name)] }),
  (value, path) => checkValue(value, { list: 'Volume', keys: ['name'] }, path),
);
