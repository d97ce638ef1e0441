/** One version of a resource: its schema rewritten for the API server, and everything that points into it checked. */
import { fieldAt, fieldsOf } from './field-path.ts';
import type { Column, ResourceVersion, VersionDefinition } from './resource.ts';
import { checkDefaults } from './structural/defaults.ts';
import { rewrite } from './structural/rewrite.ts';
import { checkRules } from './structural/rules.ts';
import { fail, type StructuralSchema } from './structural/schema.ts';
import { metadataSchema } from './validate/metadata.ts';
import { compileVisit, type Visit } from './validate/visit.ts';
import { conditionReasonPattern, conditionTypePattern } from './validate/words.ts';

/** The column that shows the status of a condition. */
export function conditionColumn(type: string): Column {
  return { name: type, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status` };
}

/** The column that shows how old an object is. kubectl leaves it out as soon as there are columns of one's own. */
export const ageColumn: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Checks and completes one version. */
export function resolveVersion(kind: string, description: string, definition: VersionDefinition): ResourceVersion {
  const subject = `${kind} ${definition.name}`;
  if (!/^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/.test(definition.name)) {
    fail(
      { subject: kind, path: 'versions' },
      `'${definition.name}' is not a version`,
      'Write v1alpha1, v1beta1, v1 or the like: kubectl orders versions by it',
    );
  }
  const schema = rootSchema(subject, description, definition);
  checkDefaults(schema, { subject, path: '', correlatable: true });
  const version: ResourceVersion = {
    ...definition,
    served: definition.served ?? true,
    storage: definition.storage ?? false,
    columns: definition.columns ?? [conditionColumn('Ready'), ageColumn],
    selectableFields: definition.selectableFields ?? [],
    deprecated: definition.deprecated ?? false,
    schema,
    visit: lazyVisit(schema),
  };
  checkPointers(subject, version);
  return Object.freeze(version);
}

function rootSchema(subject: string, description: string, definition: VersionDefinition): StructuralSchema {
  const place = { subject, correlatable: true };
  const spec = rewrite(definition.spec, { ...place, path: 'spec' });
  if (spec.type !== 'object') fail({ subject, path: 'spec' }, 'a spec must be an object', 'Use Type.Object');
  const status =
    definition.status === undefined
      ? { type: 'object' as const }
      : rewrite(definition.status, { ...place, path: 'status' });
  if (status.type !== 'object') fail({ subject, path: 'status' }, 'a status must be an object', 'Use Type.Object');
  for (const name of Object.keys(baseStatus)) {
    if (status.properties?.[name] !== undefined)
      fail({ subject, path: `status.${name}` }, 'every status has this field already', 'Leave it out');
  }
  // An operator that waits or rejects writes nothing but conditions, so no field of a status can be demanded.
  const { required: _required, ...openStatus } = status;
  const schema: StructuralSchema = {
    type: 'object',
    description,
    properties: {
      apiVersion: { type: 'string', description: 'The version of the schema of this object.' },
      kind: { type: 'string', description: 'The kind of this object.' },
      metadata: { type: 'object' },
      spec,
      status: { ...openStatus, properties: { ...status.properties, ...baseStatus } },
    },
    ...(spec.default === undefined ? { required: ['spec'] } : {}),
    ...(definition.rules === undefined || definition.rules.length === 0
      ? {}
      : { 'x-kubernetes-validations': definition.rules }),
  };
  checkRules(schema, definition.rules ?? [], { ...place, path: '' });
  return Object.freeze(schema);
}

/** The fields that every status has; the limits are those of metav1.Condition. */
const baseStatus: Readonly<Record<string, StructuralSchema>> = {
  observedGeneration: {
    type: 'integer',
    format: 'int64',
    minimum: 0,
    description: 'The generation of the spec that this status speaks of.',
  },
  conditions: {
    type: 'array',
    description: 'What is known about the object, one entry a type.',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      required: ['type', 'status', 'reason', 'message'],
      properties: {
        type: {
          type: 'string',
          maxLength: 316,
          pattern: conditionTypePattern,
          description: 'CamelCase, for example Ready.',
        },
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        reason: {
          type: 'string',
          minLength: 1,
          maxLength: 1024,
          pattern: conditionReasonPattern,
          description: 'Why, in one CamelCase word for programs.',
        },
        message: { type: 'string', maxLength: 32768, description: 'Why, in words for people.' },
        observedGeneration: {
          type: 'integer',
          format: 'int64',
          minimum: 0,
          description: 'The generation of the spec that this condition speaks of.',
        },
        lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status last changed.' },
      },
    },
  },
};

function checkPointers(subject: string, version: ResourceVersion): void {
  const at = (path: string): { subject: string; path: string } => ({ subject, path });
  for (const column of version.columns) {
    const field = fieldAt(fieldsOf(version.schema), column.jsonPath);
    if (field === undefined)
      fail(
        at(`columns.${column.name}`),
        `${column.jsonPath} is not in the schema`,
        'Write a JSON path such as .spec.replicas or .status.conditions[?(@.type=="Ready")].status',
      );
  }
  for (const [name, path, type] of [
    ['scale.specReplicas', version.scale?.specReplicas, 'integer'],
    ['scale.statusReplicas', version.scale?.statusReplicas, 'integer'],
    ['scale.selector', version.scale?.selector, 'string'],
  ] as const) {
    if (path === undefined) continue;
    const root = name === 'scale.specReplicas' ? '.spec.' : name === 'scale.statusReplicas' ? '.status.' : '.';
    const field = /[[*]/.test(path) || !path.startsWith(root) ? undefined : fieldAt(fieldsOf(version.schema), path);
    if (field?.type !== type)
      fail(
        at(name),
        `${path} is not a field of type ${type} under ${root}`,
        `Write for example ${root}${type === 'integer' ? 'replicas' : 'status.selector'}`,
      );
  }
  if (version.selectableFields.length > 8)
    fail(at('selectableFields'), 'more than eight fields are selectable', 'The API server takes at most eight');
  for (const path of version.selectableFields) {
    const field =
      /[[*]/.test(path) || path.startsWith('.metadata') ? undefined : fieldAt(fieldsOf(version.schema), path);
    if (field === undefined || !['string', 'integer', 'boolean'].includes(field.type ?? ''))
      fail(
        at('selectableFields'),
        `${path} is not a string, integer or boolean of the schema`,
        'Write for example .spec.serviceType',
      );
  }
  if (version.deprecationWarning !== undefined && !version.deprecated)
    fail(at('deprecationWarning'), 'only a deprecated version may warn', 'Set deprecated: true');
  if ((version.deprecationWarning ?? '').length > 256)
    fail(at('deprecationWarning'), 'the warning is longer than 256 characters', 'Shorten it');
}

/** Compiles at the first call: a process that only renders CRDs never pays for it. */
function lazyVisit(schema: StructuralSchema): Visit {
  let compiled: Visit | undefined;
  return (value, report) => {
    compiled ??= compileVisit({
      ...schema,
      required: ['apiVersion', 'kind', 'metadata', ...(schema.required ?? [])],
      properties: { ...schema.properties, metadata: metadataSchema },
    });
    return compiled(value, report);
  };
}
