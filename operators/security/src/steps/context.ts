/** What features are told about the agent that they work for. */
import type { FeatureContext } from '../feature.ts';
import { scopedName } from '../names.ts';
import type { Agent } from '../resource.ts';
import { storeOf } from '../store.ts';
import type { LogSource } from '../telemetry/source.ts';

/** Where everything namespaced goes. */
export function targetNamespace(self: Agent): string {
  return self.spec.global?.namespace ?? self.metadata.namespace ?? 'default';
}

/** The agent as its namespace and name. */
export function identityOf({ metadata }: Agent): FeatureContext['agent'] {
  return { name: metadata.name, namespace: metadata.namespace ?? 'default' };
}

export function featureContext(self: Agent, sources: readonly LogSource[]): FeatureContext {
  const agent = identityOf(self);
  const mirror = self.spec.global?.imageRegistry;
  return {
    agent,
    namespace: targetNamespace(self),
    cluster: self.spec.global?.clusterName,
    store: storeOf(self.spec.output),
    sources,
    image: (reference) => (mirror === undefined ? reference : `${mirror}/${withoutRegistry(reference)}`),
    scopedName: (name) => scopedName(agent, name),
  };
}

/** `docker.io/falcosecurity/falco:0.41.0` → `falcosecurity/falco:0.41.0`: mirrors keep the path of an image. */
function withoutRegistry(reference: string): string {
  const [host = '', ...path] = reference.split('/');
  return path.length > 0 && /[.:]|^localhost$/.test(host) ? path.join('/') : reference;
}
