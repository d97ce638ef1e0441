/** The collectors on the nodes: read what tools write, remember on the node how far they got, and send it to the gateway. */
import type { DaemonSet } from '@keelson/schema';
import type { FeatureContext } from '../../feature.ts';
import { agentLabel, NODE_COLLECTOR, NODE_CONFIG, NODE_TLS } from '../../names.ts';
import { NODE_ARGS } from '../../telemetry/node.ts';
import { NODE_NAME_VARIABLE } from '../../telemetry/receiver.ts';
import { LOG_ROOT } from '../../telemetry/source.ts';
import { nodeAgent } from '../../workload/node-agent.ts';
import { collectorContainer, configVolume, tlsVolume } from './collector.ts';

/**
 * Below it each agent has a folder of its own: two collectors that share one would lock each other out. It is named by the label of the agent,
 * because a folder's name is shorter than those of the longest agents.
 */
export const STATE_ROOT = '/var/lib/keelson/otel';

/** The DaemonSet. */
export function nodeCollector(image: string, { agent }: Pick<FeatureContext, 'agent'>): DaemonSet {
  return nodeAgent(NODE_COLLECTOR, {
    // To hand over what it has read; what it cannot is on disk.
    terminationGracePeriodSeconds: 30,
    containers: [
      collectorContainer({
        name: NODE_COLLECTOR,
        image,
        // It reads a hundred lines at a time, and each is in memory some twice: with less, fifty of 2 MiB would be over the limit, refused
        // by it, and never let go of.
        memory: 512,
        requests: { cpu: '50m', memory: '128Mi' },
        args: NODE_ARGS,
        env: [{ name: NODE_NAME_VARIABLE, valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        mounts: [{ name: 'logs', mountPath: LOG_ROOT, readOnly: true }],
        securityContext: {
          // Files of tools and the folder of its own on the node belong to root and are closed to others. Without capabilities root is
          // no more than their owner.
          runAsUser: 0,
          runAsGroup: 0,
          // The default type of SELinux hides files of the node from containers.
          seLinuxOptions: { type: 'spc_t' },
        },
      }),
    ],
    volumes: [
      configVolume(NODE_CONFIG),
      tlsVolume(NODE_TLS),
      { name: 'logs', hostPath: { path: LOG_ROOT, type: 'DirectoryOrCreate' } },
      { name: 'storage', hostPath: { path: `${STATE_ROOT}/${agentLabel(agent)}`, type: 'DirectoryOrCreate' } },
    ],
  });
}
