/**
 * A *part* is one field of an override: what it may hold, and how it changes a workload. parts/index.ts lists them all.
 *
 * Invariant: pure; what it is given is never changed. A value that passed `check` never makes `merge` throw.
 */
import type { KubeObject, Problem } from '@keelson/schema';
import type { Container, PodSpec, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { mapTemplate, templateOf } from '../../workload/template.ts';

/** A workload on its way through the overrides. */
export interface Workload {
  readonly object: KubeObject;
  /** The tool's own container: the first that its feature contributed, wherever a patch moves it. */
  readonly main: string | undefined;
}

export interface Merged {
  readonly workload: Workload;
  /** What must not be: said whatever becomes of the other workloads. */
  readonly refused?: readonly Problem[];
  /** What this workload has no place for: said if it is so with all that the override reaches. */
  readonly missed?: readonly Problem[];
}

export interface Part<Value> {
  /** What is wrong with the value, whatever it is applied to. */
  check?(value: Value, path: string): readonly Problem[];
  merge(workload: Workload, value: Value, path: string): Merged;
}

/** The workload as people name it: `DaemonSet falco`. */
export function titleOf({ object }: Workload): string {
  return `${object.kind} ${object.metadata.name}`;
}

/** A part that changes the pod template. */
export function onTemplate<Value>(
  merge: (template: PodTemplateSpec, value: Value) => PodTemplateSpec,
  check?: Part<Value>['check'],
): Part<Value> {
  return {
    ...(check === undefined ? {} : { check }),
    merge: (workload, value) => ({
      workload: { ...workload, object: mapTemplate(workload.object, (template) => merge(template, value)) },
    }),
  };
}

/** A part that changes fields of the pod's spec. */
export function onPodSpec<Value>(
  change: (spec: PodSpec, value: Value) => Partial<PodSpec>,
  check?: Part<Value>['check'],
): Part<Value> {
  return onTemplate((template, value) => {
    const spec = template.spec ?? { containers: [] };
    return { ...template, spec: { ...spec, ...change(spec, value) } };
  }, check);
}

/** A part that changes fields of the tool's own container. */
export function onMain<Value>(
  change: (container: Container, value: Value) => Partial<Container>,
  check?: Part<Value>['check'],
): Part<Value> {
  const part = onPodSpec<{ readonly value: Value; readonly index: number }>(({ containers }, { value, index }) => ({
    containers: containers.map((one, at) => (at === index ? { ...one, ...change(one, value) } : one)),
  }));
  return {
    ...(check === undefined ? {} : { check }),
    merge(workload, value, path) {
      const containers = templateOf(workload.object)?.spec?.containers ?? [];
      if (containers.length === 0)
        return { workload, missed: [{ path, message: `${titleOf(workload)} has no container` }] };
      // A patch may have taken the tool's own container away; then whatever stands first took its place.
      const index = Math.max(
        0,
        containers.findIndex(({ name }) => name === workload.main),
      );
      return part.merge(workload, { value, index }, path);
    },
  };
}
