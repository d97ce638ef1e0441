/** Makes the table of pod fields out of an API server's OpenAPI document: what patch/pod-fields.ts must say. */
import type { FieldTable, FieldType, ObjectType } from '../patch/field-type.ts';

interface Property {
  readonly type?: string;
  readonly $ref?: string;
  readonly items?: Property;
  readonly additionalProperties?: Property;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

interface Definition {
  readonly properties?: Readonly<Record<string, Property>>;
  readonly required?: readonly string[];
}

export interface OpenApiDocument {
  readonly definitions: Readonly<Record<string, Definition>>;
}

/** What an override may hold. */
const roots = [
  'io.k8s.api.core.v1.PodTemplateSpec',
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy',
  'io.k8s.api.apps.v1.DeploymentStrategy',
  'io.k8s.api.apps.v1.StatefulSetUpdateStrategy',
];

/** Definitions that are written as something else than an object. */
const scalars: Readonly<Record<string, string>> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': 'quantity',
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': 'int-or-string',
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time': 'string',
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': 'any',
};

/** The table, by the short names of the definitions, in alphabetical order. */
export function podFieldsOf({ definitions }: OpenApiDocument): FieldTable {
  const table = new Map<string, ObjectType>();
  const visit = (full: string): void => {
    const definition = definitions[full];
    if (definition === undefined) throw new Error(`the document has no ${full}`);
    if (table.has(shortName(full))) return;
    const properties = Object.entries(definition.properties ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
    table.set(shortName(full), {
      required: [...(definition.required ?? [])].sort(),
      fields: new Map(properties.map(([name, property]) => [name, fieldTypeOf(property)])),
    });
    for (const [, property] of properties) {
      const reference =
        referenceOf(property) ?? referenceOf(property.items) ?? referenceOf(property.additionalProperties);
      if (reference !== undefined && scalars[reference] === undefined) visit(reference);
    }
  };
  roots.forEach(visit);
  return new Map([...table].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fieldTypeOf(property: Property): FieldType {
  if (property.type === 'array') {
    const merged = property['x-kubernetes-patch-strategy']?.split(',').includes('merge') === true;
    const keys = property['x-kubernetes-list-map-keys'];
    return {
      list: nameOf(property.items ?? {}),
      ...(merged ? { mergeKey: property['x-kubernetes-patch-merge-key'] ?? '' } : {}),
      ...(keys === undefined ? {} : { keys: [...keys] }),
    };
  }
  if (property.type === 'object' && property.additionalProperties !== undefined)
    return { map: nameOf(property.additionalProperties) };
  return nameOf(property);
}

function nameOf(property: Property): string {
  const reference = referenceOf(property);
  if (reference !== undefined) return scalars[reference] ?? shortName(reference);
  return property.type === 'object' || property.type === undefined ? 'any' : property.type;
}

function referenceOf(property: Property | undefined): string | undefined {
  return property?.$ref?.replace('#/definitions/', '');
}

function shortName(full: string): string {
  return full.slice(full.lastIndexOf('.') + 1);
}

/** The source text of patch/pod-fields.ts. */
export function toSource(table: FieldTable): string {
  const lines = [...table].map(([name, type]) => `${name}: ${toLine(type)}`);
  return `${header}export const podFields = parseFieldTable(\`\n${lines.join('\n')}\n\`);\n`;
}

function toLine({ required, fields }: ObjectType): string {
  return [...fields].map(([name, type]) => `${name}${required.includes(name) ? '!' : ''} ${toText(type)}`).join(', ');
}

function toText(type: FieldType): string {
  if (typeof type === 'string') return type;
  if ('map' in type) return `{${type.map}}`;
  const merge = type.mergeKey === undefined ? '' : ` merge:${type.mergeKey}`;
  const keys = type.keys === undefined ? '' : ` keys:${type.keys.join('+')}`;
  return `[${type.list}${merge}${keys}]`;
}

const header = `/**
 * GENERATED from the OpenAPI document of an API server: the fields of a pod template and of update strategies, and what lists
 * are merged by. server.test.ts fails when a server says otherwise, and with GOLDEN=write it writes this file anew.
 */
import { parseFieldTable } from './field-type.ts';

`;
