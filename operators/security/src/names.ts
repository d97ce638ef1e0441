/** The names that more than one part of the operator speaks of: each stands here once, so that no two can drift apart. */
import { hash } from 'node:crypto';
import { toLabelValue } from '@keelson/runtime';

/** ConfigMap with the configuration of the collectors on the nodes. */
export const NODE_CONFIG = 'otel-node-collector-config';
/** ConfigMap with the configuration of the gateway. */
export const GATEWAY_CONFIG = 'otel-gateway-config';
/** The file in both. */
export const CONFIG_FILE = 'config.yaml';
/** DaemonSet of the collectors on the nodes. */
export const NODE_COLLECTOR = 'otel-node-collector';
/** Deployment and Service of the gateway. */
export const GATEWAY = 'otel-gateway';
/** Secret of the gateways: by which they prove who they are, and whom they let in. */
export const GATEWAY_TLS = 'otel-gateway-tls';
/** Secret of the collectors on the nodes: the same for them. */
export const NODE_TLS = 'otel-node-collector-tls';
/** Secret with the key of the authority behind both; no pod has it. */
export const PIPELINE_AUTHORITY = 'otel-pipeline-authority';
/** OTLP over gRPC. */
export const GATEWAY_PORT = 4317;

/** Label on all that a feature installs, pods included: the id of the feature. */
export const FEATURE_LABEL = 'security.ctem.io/feature';
/** Label on pods: the agent that they work for. */
export const AGENT_LABEL = 'security.ctem.io/agent';
/** Annotation on pod templates: changes when a ConfigMap that the pods mount does, so that they are rolled. */
export const CONFIG_CHECKSUM = 'security.ctem.io/config-checksum';
/** Annotation on pod templates: changes when a Secret does that the pods read only when they start. */
export const SECRET_VERSION = 'security.ctem.io/secret-version';

/** Annotation on pod templates: the authority of the pipeline, which the pods learn of only when they start. */
export const AUTHORITY = 'security.ctem.io/authority';
/** Annotation on Secrets of the pipeline: since when their bundle of authorities has been as it is. */
export const TRUST_SINCE = 'security.ctem.io/trust-since';

/** One agent in one word, unambiguous: a namespace has no dots. */
export function agentText(agent: { readonly namespace: string; readonly name: string }): string {
  return `${agent.namespace}.${agent.name}`;
}

/** The value of AGENT_LABEL. */
export function agentLabel(agent: { readonly namespace: string; readonly name: string }): string {
  return toLabelValue(agentText(agent));
}

/** The name of a cluster-scoped object of this agent: `falco.security-system.main`, cut and told apart by a hash at 253 characters. */
export function scopedName(agent: { readonly namespace: string; readonly name: string }, name: string): string {
  const whole = `${name}.${agentText(agent)}`;
  if (whole.length <= 253) return whole;
  // Ends in letters and digits, as names must, whatever the cut left before the hash.
  return `${whole.slice(0, 240).replace(/[^a-z0-9]+$/, '')}-${hash('sha256', whole, 'hex').slice(0, 12)}`;
}
