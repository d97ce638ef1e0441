/** A table of what a cluster shows and what is told of it. */
import type { KubeObject } from '@keelson/schema';
import { expect } from 'vitest';
import { assessWorkloads } from '../workloads.ts';
import { contextOf } from './recorded.ts';

export interface Case {
  readonly given: string;
  readonly title?: string;
  /** What is wanted and exists. */
  readonly workloads: readonly KubeObject[];
  readonly around?: readonly KubeObject[];
  readonly status?: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly counts?: readonly [ready: number, desired: number];
}

/** Holds what is told of a case to what it says. */
export function check({
  title = 'Falco',
  workloads,
  around = [],
  status = 'False',
  reason,
  message,
  counts,
}: Case): void {
  expect(assessWorkloads(contextOf(title, workloads, [...workloads, ...around]))).toEqual({
    status,
    reason,
    message,
    ...(counts === undefined ? {} : { ready: counts[0], desired: counts[1] }),
  });
}
