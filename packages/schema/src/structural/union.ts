/**
 * Unions. A CRD has no union of shapes, but five common unions are one shape in other words: literals (enum), null (nullable),
 * integer or string, one scalar with alternative constraints, and objects told apart by a literal field. The rest is refused.
 */
import { fail, type Node, type Place, type Rewrite, type StructuralSchema } from './schema.ts';

/** Rewrites `anyOf` of whole schemas. */
export function rewriteUnion(node: Node, place: Place, rewrite: Rewrite): StructuralSchema {
  const members = node.anyOf as readonly Node[];
  const others = members.filter((member) => member.type !== 'null');
  const nullable = others.length < members.length;
  if (others.length === 0)
    fail(place, 'a union of nothing but null cannot be expressed in a CRD', 'Give the value a type');
  const shapes = others.map((member) => rewrite(member, place));
  const merged = mergeShapes(shapes, place);
  return nullable ? toNullable(merged) : merged;
}

function mergeShapes(shapes: readonly StructuralSchema[], place: Place): StructuralSchema {
  const [first] = shapes;
  if (first === undefined) fail(place, 'an empty union cannot be expressed in a CRD', 'Give it members');
  if (shapes.length === 1) return first;
  const types = new Set(shapes.map((shape) => shape.type));
  const type = types.size === 1 ? first.type : undefined;
  if (type !== undefined && type !== 'object' && type !== 'array') {
    return shapes.every(isPlainEnum)
      ? { type, enum: [...new Set(shapes.flatMap((shape) => shape.enum ?? []))] }
      : mergeScalars(type, shapes, place);
  }
  if (types.size === 2 && shapes.length === 2 && types.has('integer') && types.has('string'))
    return mergeIntOrString(shapes, place);
  if (type === 'object') return mergeVariants(shapes, place);
  fail(
    place,
    `a union of ${[...types].map((name) => name ?? 'free-form').join(' and ')} cannot be expressed in a CRD`,
    'Give the field one type, or two fields of which exactly one is set: exactlyOneOf({ a, b })',
  );
}

function isPlainEnum(shape: StructuralSchema): boolean {
  return (
    shape.enum !== undefined &&
    Object.keys(shape).every((key) => ['type', 'enum', 'description', 'title'].includes(key))
  );
}

function mergeScalars(
  type: 'string' | 'integer' | 'number' | 'boolean',
  shapes: readonly StructuralSchema[],
  place: Place,
): StructuralSchema {
  const branches = shapes.map((shape) => {
    const { type: _type, title: _title, description: _description, example: _example, ...judgement } = shape;
    const foreign = Object.keys(judgement).find(
      (key) => key === 'default' || key === 'nullable' || key === 'format' || key.startsWith('x-'),
    );
    if (foreign !== undefined)
      fail(place, `'${foreign}' on one member of a union cannot be expressed in a CRD`, 'Put it on the union itself');
    return judgement;
  });
  return branches.some((branch) => Object.keys(branch).length === 0) ? { type } : { type, anyOf: branches };
}

function mergeIntOrString(shapes: readonly StructuralSchema[], place: Place): StructuralSchema {
  const { type: _type, description: _description, ...constraints } = { ...shapes[0], ...shapes[1] };
  const foreign = Object.keys(constraints).find(
    (key) => !['minimum', 'maximum', 'minLength', 'maxLength', 'pattern'].includes(key),
  );
  if (foreign !== undefined)
    fail(place, `'${foreign}' on an integer-or-string cannot be expressed in a CRD`, 'Use intOrString() and a rule');
  return { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], ...constraints };
}

/** Objects that a literal field tells apart become one object whose other fields are demanded by variant. */
function mergeVariants(shapes: readonly StructuralSchema[], place: Place): StructuralSchema {
  const tag = discriminator(shapes);
  if (tag === undefined) {
    fail(
      place,
      'a union of objects cannot be expressed in a CRD unless one required field with different literals tells them apart',
      'Add such a field, or use one object with exactlyOneOf({ a, b })',
    );
  }
  const properties: Record<string, StructuralSchema> = {};
  for (const shape of shapes) {
    const foreign = Object.keys(shape).find(
      (key) => !['type', 'properties', 'required', 'description', 'title'].includes(key),
    );
    if (foreign !== undefined)
      fail(
        place,
        `'${foreign}' on one variant of a union cannot be expressed in a CRD`,
        'Put it on the union, or into a rule',
      );
    for (const [name, field] of Object.entries(shape.properties ?? {})) {
      if (name === tag) continue;
      const before = properties[name];
      const at = { ...place, path: `${place.path}.${name}` };
      if (before !== undefined && !sameShape(before, field))
        fail(at, 'the variants of a union give this field different schemas', 'Make them the same, or use two names');
      const everywhere = shapes.every((other) => other.properties?.[name] !== undefined);
      if (field.default !== undefined && !everywhere)
        fail(
          at,
          'a default on a field of one variant would be set in every variant',
          'Leave the default out, or give every variant the field',
        );
      properties[name] = before ?? field;
    }
  }
  const common = Object.keys(properties).filter((name) => shapes.every((shape) => shape.required?.includes(name)));
  return {
    type: 'object',
    properties: {
      [tag]: { type: 'string', enum: shapes.flatMap((shape) => shape.properties?.[tag]?.enum ?? []) },
      ...properties,
    },
    required: [tag, ...common],
    anyOf: shapes.map((shape) => {
      const required = (shape.required ?? []).filter((name) => name !== tag && !common.includes(name));
      return {
        properties: { [tag]: { enum: shape.properties?.[tag]?.enum ?? [] } },
        ...(required.length > 0 ? { required } : {}),
      };
    }),
  };
}

function discriminator(shapes: readonly StructuralSchema[]): string | undefined {
  return Object.keys(shapes[0]?.properties ?? {}).find((name) => {
    const values = shapes.flatMap((shape) => {
      const field = shape.properties?.[name];
      return field?.type === 'string' && shape.required?.includes(name) ? (field.enum ?? [undefined]) : [undefined];
    });
    return !values.includes(undefined) && new Set(values).size === values.length;
  });
}

/** The server never accepts null against an enum, not even one that lists it; behind allOf it asks only for values that are not null. */
function toNullable(shape: StructuralSchema): StructuralSchema {
  const { enum: values, ...rest } = shape;
  return values === undefined ? { ...shape, nullable: true } : { ...rest, nullable: true, allOf: [{ enum: values }] };
}

/** Equal but for what only describes. */
export function sameShape(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return left === right;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keysOf = (value: object): string[] =>
    Object.keys(value).filter(
      (key) =>
        Array.isArray(value) ||
        !['description', 'title', 'example'].includes(key) ||
        typeof Reflect.get(value, key) === 'object',
    );
  const keys = keysOf(left);
  return (
    keys.length === keysOf(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameShape(Reflect.get(left, key), Reflect.get(right, key)))
  );
}
