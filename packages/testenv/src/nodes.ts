import { setTimeout as sleep } from 'node:timers/promises';
import { type AdminClient, type ApiObject, isApiError } from './admin.ts';

/** A simulated node; what is left out gets the values of an ordinary cloud machine. */
export interface SimulatedNode {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  readonly cpu?: string;
  readonly memory?: string;
  /** How many pods fit on it. */
  readonly pods?: number;
}

/** Gives so many ordinary nodes, spread over three zones. */
export function simulatedNodes(count: number): SimulatedNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `node-${index + 1}`,
    labels: { 'topology.kubernetes.io/zone': `zone-${'abc'[index % 3]}` },
  }));
}

/** Creates nodes and waits until KWOK has made them ready and pods can be scheduled on them; `first` numbers their addresses. */
export async function addNodes(admin: AdminClient, nodes: readonly SimulatedNode[], first = 0): Promise<void> {
  await Promise.all(
    nodes.map((node, index) => admin.request('POST', '/api/v1/nodes', nodeManifest(node, first + index))),
  );
  await Promise.all(nodes.map((node) => waitUntilSchedulable(admin, node.name)));
}

/** Deletes a node and at once the pods on it, which Kubernetes would collect a minute later. */
export async function removeNode(admin: AdminClient, name: string): Promise<void> {
  await admin.request('DELETE', `/api/v1/nodes/${name}`);
  const selector = encodeURIComponent(`spec.nodeName=${name}`);
  const { items } = (await admin.request('GET', `/api/v1/pods?fieldSelector=${selector}`)) as { items: ApiObject[] };
  await Promise.all(
    items.map(({ metadata }) =>
      admin
        .request('DELETE', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}?gracePeriodSeconds=0`)
        .catch((error: unknown) => {
          if (!isApiError(error, 404)) throw error;
        }),
    ),
  );
}

function nodeManifest(node: SimulatedNode, index: number): object {
  const resources = {
    cpu: node.cpu ?? '8',
    memory: node.memory ?? '32Gi',
    'ephemeral-storage': '100Gi',
    pods: String(node.pods ?? 110),
  };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      labels: {
        'kubernetes.io/hostname': node.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'node.kubernetes.io/instance-type': 'simulated.large',
        'topology.kubernetes.io/region': 'local',
        ...node.labels,
      },
    },
    spec: { ...(node.taints && { taints: node.taints }) },
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: 'InternalIP', address: `10.90.${index >> 8}.${(index % 256) + 1}` },
        { type: 'Hostname', address: node.name },
      ],
      nodeInfo: {
        architecture: 'amd64',
        operatingSystem: 'linux',
        osImage: 'simulated',
        kernelVersion: '6.12.0',
        kubeletVersion: 'v1.34.4',
        containerRuntimeVersion: 'containerd://2.1.0',
        bootID: '',
        machineID: '',
        systemUUID: '',
        kubeProxyVersion: '',
      },
    },
  };
}

interface Node {
  spec: { taints?: { key: string }[] };
  status: { conditions?: { type: string; status: string }[] };
}

async function waitUntilSchedulable(admin: AdminClient, name: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const node = (await admin.request('GET', `/api/v1/nodes/${name}`)) as Node;
    const isReady = node.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
    // The API server taints every new node; the controller-manager takes the taint away once the node is ready.
    const isTainted = node.spec.taints?.some((taint) => taint.key === 'node.kubernetes.io/not-ready') ?? false;
    if (isReady && !isTainted) return;
    if (Date.now() > deadline) {
      const missing = isReady
        ? 'is still tainted as not ready (see the log of kube-controller-manager)'
        : 'is not ready';
      throw new Error(`the simulated node ${name} ${missing} after 60 s (see the log of kwok)`);
    }
    await sleep(50);
  }
}
