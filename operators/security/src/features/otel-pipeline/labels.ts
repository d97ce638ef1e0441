/** By which labels the pods of the pipeline are found; the host puts them on. */
import { toLabelValue } from '@keelson/runtime';
import type { FeatureContext } from '../../feature.ts';
import { AGENT_LABEL, agentLabel } from '../../names.ts';

/** The pods of one workload of this agent. */
export function podsOf(workload: string, { agent }: Pick<FeatureContext, 'agent'>): Record<string, string> {
  return { 'app.kubernetes.io/component': toLabelValue(workload), [AGENT_LABEL]: agentLabel(agent) };
}
