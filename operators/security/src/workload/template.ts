/** Where the pod template of a workload is: in its spec, and for a CronJob one level deeper. */
import type { KubeObject } from '@keelson/schema';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';

type Loose = { readonly [field: string]: unknown };

const workloads = ['DaemonSet', 'Deployment', 'StatefulSet', 'Job', 'CronJob'];

/** The pod template of an object; undefined when it is no workload. */
export function templateOf(object: KubeObject): PodTemplateSpec | undefined {
  if (!workloads.includes(object.kind)) return undefined;
  const spec = object.spec as Loose | undefined;
  if (object.kind !== 'CronJob') return spec?.template as PodTemplateSpec | undefined;
  const job = (spec?.jobTemplate as Loose | undefined)?.spec as Loose | undefined;
  return job?.template as PodTemplateSpec | undefined;
}

/** The object with another pod template; as it is when it has none. */
export function mapTemplate<T extends KubeObject>(
  object: T,
  change: (template: PodTemplateSpec) => PodTemplateSpec,
): T {
  const template = templateOf(object);
  if (template === undefined) return object;
  const spec = object.spec as Loose;
  if (object.kind !== 'CronJob') return { ...object, spec: { ...spec, template: change(template) } };
  const jobTemplate = spec.jobTemplate as Loose;
  const job = jobTemplate.spec as Loose;
  return {
    ...object,
    spec: { ...spec, jobTemplate: { ...jobTemplate, spec: { ...job, template: change(template) } } },
  };
}
