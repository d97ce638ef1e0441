/** What no other cluster is called. Two that share a store and a name would mark each other's findings as resolved, in turn, for ever. */
import type { KubeClient } from '@keelson/kube';
import { Namespace } from '@keelson/schema';
import { isAnyFault } from '../cluster/fault-to-failure.ts';
import { failure } from '../failure.ts';

const SYSTEM = 'kube-system';

/** The uid of the namespace kube-system: every cluster has it, and keeps it for life. */
export async function clusterIdentity(client: Pick<KubeClient, 'get'>, signal: AbortSignal): Promise<string> {
  try {
    const { metadata } = await client.get(Namespace, { name: SYSTEM }, { signal });
    if (metadata.uid !== undefined) return metadata.uid;
  } catch (error) {
    if (!isAnyFault(error) || (error.code !== 'Forbidden' && error.code !== 'NotFound')) throw error;
    const exit = error.code === 'Forbidden' ? 'forbidden' : 'missing';
    throw failure(exit, `this cluster has no name to be told from others by: ${error.message}`, remedy, error);
  }
  throw failure('missing', `the namespace ${SYSTEM} has no uid`, remedy);
}

const remedy = `name the cluster with --cluster-name (of a SecurityAgent: spec.global.clusterName), or allow to get the namespace ${SYSTEM}`;
