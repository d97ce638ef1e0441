/** What users may ask for, and what they are told in return. The CRD, the types and the docs come out of this. */
import { defineResource, int32, Type } from '@keelson/schema';

export const Widget = defineResource({
  group: 'widget.example.com',
  version: 'v1alpha1',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  description: 'A widget: a number of pods that run one image.',
  spec: Type.Object({
    image: Type.String({ default: 'registry.k8s.io/pause:3.10', minLength: 1, description: 'Image to run.' }),
    replicas: int32({ default: 1, minimum: 0, maximum: 10, description: 'How many pods.' }),
  }),
  status: Type.Object({
    readyReplicas: int32({ description: 'How many pods are ready.' }),
  }),
});
