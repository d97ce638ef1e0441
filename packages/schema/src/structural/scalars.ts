/** Scalars: the values at the leaves of a schema, and the constraints that OpenAPI 3.0 words differently. */
import { toPattern } from './pattern.ts';
import { carry, fail, type Node, type Place, type StructuralSchema } from './schema.ts';

const formats: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time', 'date', 'byte', 'ipv4', 'ipv6', 'cidr', 'uuid', 'password'],
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** A string, integer, number or boolean with its constraints. */
export function rewriteScalar(node: Node, type: string, place: Place): StructuralSchema {
  const format = node.format as string | undefined;
  if (format !== undefined && !formats[type]?.includes(format)) {
    fail(
      place,
      `the format '${format}' is not one that the API server and the offline validation both check`,
      `Use a pattern, or one of: ${(formats[type] ?? []).join(', ') || 'none for this type'}`,
    );
  }
  const values = 'const' in node ? [node.const] : (node.enum as readonly unknown[] | undefined);
  return {
    type: type as 'string',
    ...(format === undefined ? {} : { format }),
    ...(values === undefined ? {} : { enum: [...new Set(values)] }),
    ...carry(node, ['minLength', 'maxLength', 'multipleOf']),
    ...(node.pattern === undefined ? {} : { pattern: toPattern(node.pattern, place) }),
    ...bounds(node, format),
  };
}

/** A value that is an integer or a string, such as a port. */
export function rewriteIntOrString(node: Node, place: Place): StructuralSchema {
  return {
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...carry(node, ['minimum', 'maximum', 'minLength', 'maxLength']),
    ...(node.pattern === undefined ? {} : { pattern: toPattern(node.pattern, place) }),
  };
}

/** JSON Schema gives exclusive bounds as numbers, OpenAPI 3.0 as flags on the inclusive ones. The server ignores int32 as a format, so its range is spelt out. */
function bounds(node: Node, format: string | undefined): StructuralSchema {
  const floor = format === 'int32' ? -(2 ** 31) : undefined;
  const ceiling = format === 'int32' ? 2 ** 31 - 1 : undefined;
  const minimum = Math.max(...numbers(node.minimum, node.exclusiveMinimum, floor));
  const maximum = Math.min(...numbers(node.maximum, node.exclusiveMaximum, ceiling));
  return {
    ...(Number.isFinite(minimum) ? { minimum } : {}),
    ...(Number.isFinite(minimum) && node.exclusiveMinimum !== undefined && Number(node.exclusiveMinimum) === minimum
      ? { exclusiveMinimum: true }
      : {}),
    ...(Number.isFinite(maximum) ? { maximum } : {}),
    ...(Number.isFinite(maximum) && node.exclusiveMaximum !== undefined && Number(node.exclusiveMaximum) === maximum
      ? { exclusiveMaximum: true }
      : {}),
  };
}

function numbers(...values: unknown[]): number[] {
  return values.filter((value) => value !== undefined).map(Number);
}
