/** A sample object of a resource: what must be there, and what its author gave an example for. */
import { apiVersionOf } from '../kind.ts';
import type { KubeObject } from '../object.ts';
import { formatProblems, parseInstance } from '../parse.ts';
import { type Resource, storageVersionOf } from '../resource.ts';
import { exactlyOneNames } from '../structural/exactly-one.ts';
import type { StructuralSchema } from '../structural/schema.ts';
import {
  durationPattern,
  labelPattern,
  labelValuePattern,
  quantityPattern,
  subdomainPattern,
  urlPattern,
} from '../validate/words.ts';

const byPattern = new Map([
  [subdomainPattern, 'example'],
  [labelPattern, 'example'],
  [labelValuePattern, 'example'],
  [quantityPattern, '100m'],
  [durationPattern, '30s'],
  [urlPattern, 'https://example.com'],
]);

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2030-01-31T12:00:00Z',
  date: '2030-01-31',
  byte: 'ZXhhbXBsZQ==',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  cidr: '192.0.2.0/24',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** A valid object of the stored version; throws when the schema gives no hint how a field may look. */
export function toSample(resource: Resource): KubeObject {
  const spec = storageVersionOf(resource).schema.properties?.spec ?? {};
  const sample: KubeObject = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name: 'example', ...(resource.scope === 'Namespaced' ? { namespace: 'default' } : {}) },
    spec: sampleOf(spec) ?? {},
  };
  const parsed = parseInstance(resource, sample);
  if (!parsed.ok)
    throw new TypeError(
      `${resource.kind}: no sample can be made: ${formatProblems(parsed.problems)}. Give the field an example: Type.String({ examples: ['…'] }).`,
    );
  return sample;
}

function sampleOf(schema: StructuralSchema): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema['x-kubernetes-int-or-string'] === true) return byPattern.get(schema.pattern ?? '') ?? 80;
  const [choice] = schema.enum ?? [];
  if (choice !== undefined) return choice;
  switch (schema.type) {
    case 'object':
      return sampleObject(schema);
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
    case 'string':
      return (
        byPattern.get(schema.pattern ?? '') ??
        byFormat[schema.format ?? ''] ??
        'example'.padEnd(schema.minLength ?? 0, '-').slice(0, schema.maxLength)
      );
    case 'integer':
    case 'number':
      return schema.minimum === undefined
        ? (schema.multipleOf ?? Math.min(1, schema.maximum ?? 1))
        : schema.minimum + (schema.exclusiveMinimum === true ? 1 : 0);
    case 'boolean':
      return true;
    default:
      return {};
  }
}

function sampleObject(schema: StructuralSchema): unknown {
  const exclusive = exactlyOneNames(schema).map((names) => choose(names, schema));
  const spurned = new Set(exclusive.flatMap(({ others }) => others));
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name, field]) => !spurned.has(name) && (schema.required?.includes(name) || hasExample(field)),
  );
  if (schema.additionalProperties !== undefined && fields.length === 0) {
    return Object.fromEntries(
      Array.from({ length: schema.minProperties ?? 0 }, (_, index) => [
        `key-${index + 1}`,
        sampleOf(schema.additionalProperties ?? {}),
      ]),
    );
  }
  const sample: Record<string, unknown> = Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field)]));
  // The first alternative is as good as any; its fields may not be among the required ones of the object.
  const alternatives = [(schema.anyOf ?? schema.oneOf)?.[0]?.required ?? [], exclusive.flatMap(({ chosen }) => chosen)];
  for (const name of alternatives.flat()) sample[name] ??= sampleOf(schema.properties?.[name] ?? {});
  return sample;
}

/** Of fields that exclude each other, the first that its author has shown, else the first. */
function choose(names: readonly string[], { properties = {} }: StructuralSchema) {
  const chosen = names.find((name) => hasExample(properties[name] ?? {})) ?? names[0];
  return { chosen: chosen === undefined ? [] : [chosen], others: names.filter((name) => name !== chosen) };
}

/** It, or something in it. */
function hasExample({ example, properties = {} }: StructuralSchema): boolean {
  return example !== undefined || Object.values(properties).some(hasExample);
}
