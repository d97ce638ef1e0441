/**
 * `spec.override` as users write it: what may be changed on the pods that features make, in the words of a pod. The CRD checks what
 * it has types for; the rest is free form, so that it covers every field of every Kubernetes, and is checked by the parts.
 */
import {
  affinity,
  annotations,
  envVars,
  freeForm,
  labels,
  objectName,
  resourceRequirements,
  type Static,
  Type,
  tolerations,
} from '@keelson/schema';
import type { SecurityContext, Volume, VolumeMount } from 'kubernetes-types/core/v1.js';

/** `kubectl apply` drops every null before it sends an object, unless it applies on the server. */
const takingAway =
  'Null takes a field away, if it is applied with --server-side; {$patch: delete} in the place of an object always does.';

const common = {
  tolerations: Type.Optional(
    tolerations({ maxItems: 50, description: 'Added; one of the same key and effect is replaced.' }),
  ),
  nodeSelector: Type.Optional(labels({ description: 'Merged by key.' })),
  affinity: Type.Optional(affinity({ description: 'Replaced, as spec.affinity of a Pod.' })),
  priorityClassName: Type.Optional(objectName({ description: 'Replaced.' })),
  labels: Type.Optional(labels({ description: 'Of the pods; merged by key. Those that select the pods stay.' })),
  annotations: Type.Optional(annotations({ description: 'Of the pods; merged by key.' })),
  resources: Type.Optional(resourceRequirements({ description: 'Of the first container; replaced as a whole.' })),
  env: Type.Optional(envVars({ maxItems: 200, description: 'Of the first container; merged by name.' })),
  args: Type.Optional(
    Type.Array(Type.String(), { maxItems: 100, description: 'Of the first container; added after those it has.' }),
  ),
  securityContext: Type.Optional(
    freeForm<SecurityContext>({
      description: `Of the first container; merged by field, as in a container. ${takingAway}`,
    }),
  ),
  volumes: Type.Optional(
    Type.Array(freeForm<Volume>(), { maxItems: 50, description: 'Of the pods; merged by name, as in a Pod.' }),
  ),
  volumeMounts: Type.Optional(
    Type.Array(freeForm<VolumeMount>(), { maxItems: 50, description: 'Of the first container; merged by mountPath.' }),
  ),
  updateStrategy: Type.Optional(
    freeForm({
      description: 'Replaced: updateStrategy of a DaemonSet or StatefulSet, strategy of a Deployment.',
      examples: [{ type: 'OnDelete' }],
    }),
  ),
  podTemplate: Type.Optional(
    freeForm({
      description: `A strategic merge patch on the pod template (metadata and spec), as kubectl patch takes it, for every field that has no word here. A container that is not there yet is added. ${takingAway}`,
      examples: [{ spec: { hostNetwork: true, containers: [{ name: 'falco', tty: true }] } }],
    }),
  ),
};

/** For the pods of every DaemonSet. */
export const nodeAgentOverride = Type.Object(common, { description: 'For the pods of every DaemonSet.' });

/** For the pods of one tool. */
export const toolOverride = Type.Object({
  image: Type.Optional(
    Type.String({
      pattern: '^\\S+$',
      maxLength: 512,
      description: 'Of the first container; taken as it is, from no mirror.',
      examples: ['registry.example.com/falco:0.41.0'],
    }),
  ),
  ...common,
});

export const override = Type.Object(
  {
    nodeAgent: Type.Optional(nodeAgentOverride),
    perTool: Type.Optional(
      Type.Record(Type.String(), toolOverride, {
        maxProperties: 50,
        description: 'By feature, or by the name of one of its workloads. Applied after nodeAgent, the narrower last.',
      }),
    ),
  },
  {
    description: 'What shall be otherwise on the pods. What reaches nothing is told by the condition OverridesApplied.',
  },
);

export type ToolOverride = Static<typeof toolOverride>;
export type Override = Static<typeof override>;
