/** JSON paths as kubectl and CRDs write them, followed through a schema instead of an object. */
import type { StructuralSchema } from './structural/schema.ts';
import { metadataSchema } from './validate/metadata.ts';

/** The schema of a whole object with its metadata, which the CRD itself leaves to the server. */
export function fieldsOf(schema: StructuralSchema): StructuralSchema {
  return { ...schema, properties: { ...schema.properties, metadata: metadataSchema } };
}

/** The schema of the field that a path leads to; undefined when it leads nowhere. Free-form data may hold any field. */
export function fieldAt(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  const steps = path.match(/\.(?:\\.|[^.[\]\\])+|\[\?\([^\]]*\)\]|\[[^\]]*\]/g);
  if (steps === null || steps.join('') !== path) return undefined;
  return walk(schema, steps);
}

function walk(at: StructuralSchema | undefined, steps: readonly string[]): StructuralSchema | undefined {
  const [step, ...rest] = steps;
  if (at === undefined || step === undefined || isFreeForm(at)) return at;
  if (step !== ANY) return walk(follow(at, step), rest);
  return Object.values(at.properties ?? {})
    .map((property) => walk(property, rest))
    .find((found) => found !== undefined);
}

/** Every field of an object: enough that one of them has the rest. */
const ANY = '.*';

function isFreeForm(schema: StructuralSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true && schema.properties === undefined;
}

function follow(schema: StructuralSchema, step: string): StructuralSchema | undefined {
  const quoted = /^\['(.*)'\]$/.exec(step)?.[1];
  if (step.startsWith('[') && quoted === undefined) return schema.items;
  const name = quoted ?? step.slice(1).replace(/\\(.)/g, '$1');
  if (schema.properties !== undefined && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  return schema.additionalProperties;
}
