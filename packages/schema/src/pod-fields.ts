/** Fields that speak of pods and of objects beside them, with the names and shapes that users know from Deployments. */
import type { Affinity, EnvVarSource, ResourceRequirements } from 'kubernetes-types/core/v1.js';
import Type, { type TObject, type TSchema, type TUnsafe } from 'typebox';
import { type FieldOptions, freeForm, int64, type ListFieldOptions, listMap, objectName, quantity } from './fields.ts';
import { labelValuePattern } from './validate/words.ts';

/** Labels, also a node selector. */
export function labels(options: FieldOptions = {}): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: Type.String({ maxLength: 63, pattern: labelValuePattern }),
    ...options,
  });
}

/** Annotations. */
export function annotations(options: FieldOptions = {}): TUnsafe<Record<string, string>> {
  return Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: Type.String(), ...options });
}

/** Names an object in the same namespace: a Secret, a ConfigMap. */
export function localRef(options: FieldOptions = {}): TObject<{ name: ReturnType<typeof Type.String> }> {
  return Type.Object({ name: objectName({ description: 'Name of the object.' }) }, { ...options });
}

/** Names one key of a Secret or ConfigMap in the same namespace. */
export function keyRef(
  options: FieldOptions = {},
): TObject<{ name: ReturnType<typeof Type.String>; key: ReturnType<typeof Type.String> }> {
  return Type.Object(
    {
      name: objectName({ description: 'Name of the object.' }),
      key: Type.String({ minLength: 1, maxLength: 253, description: 'Key within it.' }),
    },
    { ...options },
  );
}

/** Which pods: a label selector as in a Deployment. */
export const labelSelector = (options: FieldOptions = {}) =>
  Type.Object(
    {
      matchLabels: Type.Optional(labels({ description: 'Labels that must all be there.' })),
      matchExpressions: Type.Optional(
        Type.Array(
          Type.Object({
            key: Type.String({ minLength: 1 }),
            operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
            values: Type.Optional(Type.Array(Type.String())),
          }),
        ),
      ),
    },
    { 'x-kubernetes-map-type': 'atomic', ...options },
  );

/** What a container asks for and may use at most. */
export function resourceRequirements(options: FieldOptions = {}): TUnsafe<ResourceRequirements> {
  const amounts = (description: string): TSchema =>
    Type.Optional(Type.Unsafe({ type: 'object', additionalProperties: quantity(), description }));
  // The upstream type knows quantities as strings only; the server takes numbers as well, and so does whoever we hand them to.
  return Type.Unsafe<ResourceRequirements>(
    Type.Object(
      { limits: amounts('The most it may use.'), requests: amounts('What is set aside for it.') },
      { ...options },
    ),
  );
}

/** Taints that pods put up with. */
export const tolerations = (options: ListFieldOptions = {}) =>
  Type.Array(
    Type.Object({
      key: Type.Optional(Type.String()),
      operator: Type.Optional(Type.Enum(['Exists', 'Equal'])),
      value: Type.Optional(Type.String()),
      effect: Type.Optional(Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
      tolerationSeconds: Type.Optional(int64()),
    }),
    { ...options },
  );

/** Environment variables of a container, by name. */
export const envVars = (options: ListFieldOptions = {}) =>
  listMap(
    Type.Object({
      name: Type.String({ minLength: 1 }),
      value: Type.Optional(Type.String()),
      valueFrom: Type.Optional(
        freeForm<EnvVarSource>({
          description: 'As in a container: secretKeyRef, configMapKeyRef, fieldRef, resourceFieldRef.',
        }),
      ),
    }),
    ['name'],
    options,
  );

/** Scheduling constraints; their fields are those of a Pod and are checked when the pod is made. */
export function affinity(options: FieldOptions = {}): TUnsafe<Affinity> {
  return freeForm<Affinity>({ description: 'As spec.affinity of a Pod.', ...options });
}
