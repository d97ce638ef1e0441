/**
 * Golden cases of a feature: `features/<id>/golden/<case>/input.yaml` (a SecurityAgent) and `expected.yaml` (what the operator makes of
 * it, of that feature only, as it is applied). `GOLDEN=write make test ARGS=<folder>` writes the expected files anew: read the diff.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderInstance } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Feature } from '../feature.ts';
import { features } from '../features/index.ts';
import { FEATURE_LABEL } from '../names.ts';
import { createSecurityOperator, security } from '../operator.ts';

/** One test a folder under `golden/` beside the caller. The feature is rendered with all that are in the list, or alone if it is not. */
export function goldenTests(here: string, feature: Feature): void {
  const root = fileURLToPath(new URL('golden/', here));
  for (const name of readdirSync(root).sort()) {
    test(`golden: ${feature.id}/${name}`, () => {
      const input = parse(readFileSync(`${root}${name}/input.yaml`, 'utf8')) as KubeObject;
      const { problems, objects } = renderInstance(operatorWith(feature), input);
      expect(problems).toEqual([]);
      const own = objects.filter(({ metadata }) => metadata.labels?.[FEATURE_LABEL] === feature.id);
      const text = own.map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
      const file = `${root}${name}/expected.yaml`;
      if (process.env.GOLDEN === 'write') writeFileSync(file, text);
      expect(existsSync(file), `${file} is missing: GOLDEN=write writes it`).toBe(true);
      expect(text).toBe(readFileSync(file, 'utf8'));
      expect(own.length).toBeGreaterThan(0);
    });
  }
}

function operatorWith(feature: Feature) {
  return features.includes(feature) ? security : createSecurityOperator([feature]);
}
