/** Whether a workload could be applied, as far as its own text tells: no override may leave one that no server would take. */
import type { Problem } from '@keelson/schema';
import type { Container, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { templateOf } from '../workload/template.ts';
import type { Workload } from './parts/part.ts';
import { checkValue } from './patch/check-value.ts';
import { isMap } from './patch/plain.ts';
import { checkAnnotations, checkLabels } from './rules/keys.ts';
import { checkResources } from './rules/resources.ts';
import { checkSleeps } from './rules/sleeps.ts';
import { checkTolerations } from './rules/tolerations.ts';

/** Everything that is wrong with the pods of a workload, a line each. */
export function flawsOf({ object }: Workload): readonly string[] {
  const template = templateOf(object);
  if (template === undefined) return ['there is no pod template'];
  const misshapen = checkValue(template, 'PodTemplateSpec', '');
  // The rules below rely on the shape.
  const problems = misshapen.length > 0 ? misshapen : checkRules(template);
  if (problems.length > 0) return problems.map(({ path, message }) => `${path}: ${message}`);
  const containers = containersOf(template);
  return [
    ...((template.spec?.containers ?? []).length === 0 ? ['spec.containers: none is left'] : []),
    ...containers
      .filter(({ image }) => image === undefined || image === '')
      .map(({ name }) => `container ${name}: has no image`),
    ...danglingMounts(containers, [
      ...(template.spec?.volumes ?? []).map(({ name }) => name),
      ...claimNames(object.spec),
    ]),
  ];
}

function checkRules({ metadata, spec }: PodTemplateSpec): readonly Problem[] {
  return [
    ...checkLabels(metadata?.labels ?? {}, 'metadata.labels'),
    ...checkAnnotations(metadata?.annotations ?? {}, 'metadata.annotations'),
    ...checkLabels(spec?.nodeSelector ?? {}, 'spec.nodeSelector'),
    ...checkTolerations(spec?.tolerations ?? [], 'spec.tolerations'),
    ...(spec?.containers ?? []).flatMap(({ resources = {} }, index) =>
      checkResources(resources, `spec.containers[${index}].resources`),
    ),
    ...checkSleeps(spec?.containers ?? [], spec?.terminationGracePeriodSeconds, 'spec.containers'),
    ...checkSleeps(spec?.initContainers ?? [], spec?.terminationGracePeriodSeconds, 'spec.initContainers'),
  ];
}

function containersOf({ spec }: PodTemplateSpec): readonly Container[] {
  return [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
}

function danglingMounts(containers: readonly Container[], volumes: readonly string[]): readonly string[] {
  const known = new Set(volumes);
  return containers.flatMap(({ name, volumeMounts = [] }) =>
    volumeMounts
      .filter((mount) => !known.has(mount.name))
      .map((mount) => `container ${name}: mounts volume '${mount.name}', which the pod does not have`),
  );
}

/** A StatefulSet's claims are volumes of its pods. */
function claimNames(spec: unknown): readonly string[] {
  const claims = isMap(spec) && Array.isArray(spec.volumeClaimTemplates) ? spec.volumeClaimTemplates : [];
  return claims.flatMap((claim: unknown) => {
    const name = isMap(claim) && isMap(claim.metadata) ? claim.metadata.name : undefined;
    return typeof name === 'string' ? [name] : [];
  });
}
