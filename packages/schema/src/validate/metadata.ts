/** Object metadata: its schema is the server's own, so it is not part of a CRD, but offline validation must know it. */
import type { StructuralSchema } from '../structural/schema.ts';
import { isPlainObject } from './plain.ts';
import { note, type Report } from './report.ts';
import { labelPattern, labelValuePattern, subdomainPattern } from './words.ts';

const text: StructuralSchema = { type: 'string' };
const filled: StructuralSchema = { type: 'string', minLength: 1 };

/** ObjectMeta as a structural schema. */
export const metadataSchema: StructuralSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', maxLength: 253, pattern: subdomainPattern },
    generateName: text,
    namespace: { type: 'string', maxLength: 63, pattern: labelPattern },
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer', minimum: 0 },
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: { type: 'integer' },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63, pattern: labelValuePattern } },
    annotations: { type: 'object', additionalProperties: text },
    finalizers: { type: 'array', items: filled },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: {
          apiVersion: filled,
          kind: filled,
          name: filled,
          uid: filled,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  },
};

const qualifiedName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const subdomain = new RegExp(subdomainPattern);

/** Notes label and annotation keys that the server refuses: a schema says nothing about the keys of a map. */
export function checkMetadataKeys(metadata: unknown, report: Report): void {
  if (!isPlainObject(metadata)) return;
  for (const field of ['labels', 'annotations']) {
    const map = metadata[field];
    if (!isPlainObject(map)) continue;
    for (const key of Object.keys(map)) {
      if (!isQualifiedName(field === 'annotations' ? key.toLowerCase() : key)) {
        note(
          report,
          "must have a key of the form name or example.com/name (letters, digits, '-', '_', '.'; at most 63 characters after the slash)",
          'metadata',
          field,
          key,
        );
      }
    }
  }
}

function isQualifiedName(key: string): boolean {
  const parts = key.split('/');
  const name = parts.pop() ?? '';
  const prefix = parts.length === 0 ? undefined : parts.join('/');
  return (
    name.length <= 63 &&
    qualifiedName.test(name) &&
    (prefix === undefined || (prefix.length <= 253 && subdomain.test(prefix)))
  );
}
