/** A DaemonSet as every tool on a node wants it: on control-plane nodes too, and rolled a few nodes at a time. */
import { DaemonSet, manifest } from '@keelson/schema';
import type { PodSpec, Toleration } from 'kubernetes-types/core/v1.js';

/** Taints of control-plane nodes: an attacker there is the worst of all. Other taints are a matter of overrides. */
export const controlPlaneTolerations: readonly Toleration[] = [
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node-role.kubernetes.io/master', operator: 'Exists', effect: 'NoSchedule' },
];

/** In a mixed cluster the pods of these tools would hang on Windows nodes. */
const linux = { 'kubernetes.io/os': 'linux' };

/** The DaemonSet of a tool; selectors, labels, account and priority are the host's. */
export function nodeAgent(name: string, pod: PodSpec): DaemonSet {
  return manifest(
    DaemonSet,
    { name },
    {
      spec: {
        selector: {},
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
        template: { spec: { nodeSelector: linux, tolerations: [...controlPlaneTolerations], ...pod } },
      },
    },
  );
}
