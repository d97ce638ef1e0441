/** Defaults that would not pass their own schema. The API server refuses such a CRD; so do we, with the field's path. */
import { createReport, show } from '../validate/report.ts';
import { compileVisit } from '../validate/visit.ts';
import { childPath, fail, type Place, type StructuralSchema } from './schema.ts';

/** Refuses every default of a schema that is invalid, or that holds fields the schema does not know. */
export function checkDefaults(schema: StructuralSchema, place: Place): void {
  if (schema.default !== undefined) {
    const report = createReport();
    const { default: _default, ...bare } = schema;
    const kept = compileVisit(bare)(schema.default, report);
    const [problem] = report.problems;
    if (problem !== undefined) {
      fail(
        place,
        `the default ${show(schema.default)} is not valid: ${problem.path === '' ? '' : `${problem.path} `}${problem.message}`,
        'Correct the default or the schema',
      );
    }
    const lost = lostField(schema.default, kept);
    if (lost !== undefined)
      fail(
        place,
        `the default holds the field '${lost}', which the schema does not know`,
        'Remove it from the default, or add it to the schema',
      );
  }
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    checkDefaults(field, { ...place, path: childPath(place.path, name) });
  if (schema.items !== undefined) checkDefaults(schema.items, { ...place, path: `${place.path}[]` });
  if (schema.additionalProperties !== undefined)
    checkDefaults(schema.additionalProperties, { ...place, path: `${place.path}.*` });
}

function lostField(given: unknown, kept: unknown): string | undefined {
  if (typeof given !== 'object' || given === null || typeof kept !== 'object' || kept === null) return undefined;
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(kept, name)) return name;
    const below = lostField(value, Reflect.get(kept, name));
    if (below !== undefined) return `${name}.${below}`;
  }
  return undefined;
}
