/** Intersections: several objects that are one object together. Anything else has no counterpart in a CRD. */
import { fail, type Node, type Place, type Rewrite, type StructuralSchema } from './schema.ts';
import { sameShape } from './union.ts';

/** Rewrites `allOf` of whole schemas by merging their fields. */
export function rewriteIntersect(node: Node, place: Place, rewrite: Rewrite): StructuralSchema {
  const shapes = (node.allOf as readonly unknown[]).map((member) => rewrite(member, place));
  const properties: Record<string, StructuralSchema> = {};
  const required = new Set<string>();
  for (const shape of shapes) {
    const foreign = Object.keys(shape).find(
      (key) => !['type', 'properties', 'required', 'description', 'title'].includes(key),
    );
    if (shape.type !== 'object' || foreign !== undefined) {
      fail(
        place,
        `an intersection with ${foreign === undefined ? `a ${shape.type ?? 'free-form value'}` : `'${foreign}'`} in it cannot be expressed in a CRD`,
        'Intersect plain objects only, or write one object',
      );
    }
    for (const [name, field] of Object.entries(shape.properties ?? {})) {
      const before = properties[name];
      if (before !== undefined && !sameShape(before, field)) {
        fail(
          { ...place, path: `${place.path}.${name}` },
          'the members of an intersection give this field different schemas',
          'Define it in one of them',
        );
      }
      properties[name] = field;
    }
    for (const name of shape.required ?? []) required.add(name);
  }
  return { type: 'object', properties, ...(required.size > 0 ? { required: [...required] } : {}) };
}
