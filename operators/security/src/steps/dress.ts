/**
 * What the host puts on everything that features contribute: namespace, labels and annotations, and on pods the account, the
 * priority, pull secrets and the checksum of their configuration. So a feature says only what is its own.
 */
import { hash } from 'node:crypto';
import { toLabelValue } from '@keelson/runtime';
import { type ConfigMap, type KubeObject, manifest, PriorityClass } from '@keelson/schema';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { Contribution } from '../contribution.ts';
import type { Feature } from '../feature.ts';
import {
  AGENT_LABEL,
  AUTHORITY,
  agentLabel,
  CONFIG_CHECKSUM,
  FEATURE_LABEL,
  NODE_TLS,
  SECRET_VERSION,
  scopedName,
} from '../names.ts';
import type { Agent } from '../resource.ts';
import { authorityWord } from '../telemetry/trust.ts';
import { mapTemplate, templateOf } from '../workload/template.ts';
import { accountName } from './account.ts';
import { identityOf, targetNamespace } from './context.ts';
import { secretVersion } from './credentials.ts';
import { kindOf, type OwnedKind } from './kinds.ts';
import type { Outside } from './outside.ts';

export interface Wardrobe {
  readonly self: Agent;
  readonly features: readonly Feature[];
  readonly kinds: readonly OwnedKind[];
  readonly outside: Outside | undefined;
}

/** Dresses every contribution. */
export function dress(contributions: readonly Contribution[], wardrobe: Wardrobe): readonly Contribution[] {
  const configMaps = new Map(
    contributions.flatMap(({ objects }) =>
      objects.filter(({ kind }) => kind === 'ConfigMap').map((object) => [object.metadata.name, object as ConfigMap]),
    ),
  );
  return contributions.map(({ feature: id, objects }) => {
    const feature = wardrobe.features.find((one) => one.id === id);
    if (feature === undefined) return { feature: id, objects };
    return { feature: id, objects: objects.map((object) => dressObject(object, feature, wardrobe, configMaps)) };
  });
}

type ConfigMaps = ReadonlyMap<string, ConfigMap>;

function dressObject(object: KubeObject, feature: Feature, wardrobe: Wardrobe, configMaps: ConfigMaps): KubeObject {
  const { self, kinds } = wardrobe;
  const kind = kindOf(object, kinds);
  const { global } = self.spec;
  const labels = labelsOf(feature, self);
  const dressed: KubeObject = {
    ...object,
    metadata: {
      ...object.metadata,
      ...(kind?.scope === 'Namespaced' ? { namespace: targetNamespace(self) } : {}),
      labels: { ...global?.labels, ...object.metadata.labels, ...labels },
      ...annotationsOf(global?.annotations, object.metadata.annotations),
    },
  };
  if (templateOf(dressed) === undefined) return dressed;
  const selecting = selectorOf(feature, self, object.metadata.name);
  const templated = mapTemplate(dressed, (template) => dressPods(template, feature, wardrobe, configMaps, selecting));
  return withSelector(templated, selecting);
}

function dressPods(
  template: PodTemplateSpec,
  feature: Feature,
  { self, outside }: Wardrobe,
  configMaps: ConfigMaps,
  selecting: Readonly<Record<string, string>>,
): PodTemplateSpec {
  const { global } = self.spec;
  const { spec, metadata } = template;
  const checksum = checksumOf(template, configMaps);
  const secrets = secretVersion(outside?.secrets, secretsOf(template, feature));
  const authority = mounts(template, NODE_TLS) ? outside?.trust?.signer : undefined;
  const annotations = {
    ...(checksum === undefined ? {} : { [CONFIG_CHECKSUM]: checksum }),
    ...(secrets === undefined ? {} : { [SECRET_VERSION]: secrets }),
    ...(authority === undefined ? {} : { [AUTHORITY]: authorityWord(authority) }),
  };
  return {
    ...template,
    metadata: {
      ...metadata,
      labels: {
        ...global?.labels,
        ...metadata?.labels,
        ...labelsOf(feature, self),
        ...selecting,
        [AGENT_LABEL]: agentLabel(identityOf(self)),
      },
      ...annotationsOf(global?.annotations, metadata?.annotations, annotations),
    },
    spec: {
      serviceAccountName: accountName(feature),
      automountServiceAccountToken: (feature.rights?.length ?? 0) > 0,
      priorityClassName: priorityName(self),
      enableServiceLinks: false,
      ...(global?.imagePullSecrets === undefined ? {} : { imagePullSecrets: [...global.imagePullSecrets] }),
      ...spec,
      containers: spec?.containers ?? [],
    },
  };
}

/** The labels that Kubernetes recommends, and the one by which the host finds what a feature installed. */
function labelsOf(feature: Feature, self: Agent): Record<string, string> {
  return {
    'app.kubernetes.io/name': accountName(feature),
    'app.kubernetes.io/instance': toLabelValue(self.metadata.name),
    'app.kubernetes.io/version': toLabelValue(feature.version),
    [FEATURE_LABEL]: feature.id,
  };
}

/** Never changes for a workload: selectors cannot. */
function selectorOf(feature: Feature, self: Agent, workload: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': accountName(feature),
    'app.kubernetes.io/instance': toLabelValue(self.metadata.name),
    'app.kubernetes.io/component': toLabelValue(workload),
  };
}

function withSelector(object: KubeObject, matchLabels: Readonly<Record<string, string>>): KubeObject {
  if (object.kind === 'CronJob' || object.kind === 'Job') return object;
  return { ...object, spec: { ...(object.spec as Record<string, unknown>), selector: { matchLabels } } };
}

function annotationsOf(...parts: readonly (Readonly<Record<string, string>> | undefined)[]) {
  const annotations: Record<string, string> = Object.assign({}, ...parts);
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

function mounts({ spec }: PodTemplateSpec, secretName: string): boolean {
  return spec?.volumes?.some(({ secret }) => secret?.secretName === secretName) === true;
}

/** The Secrets whose change the pods do not notice: those that they take their environment from, and mount without looking again. */
function secretsOf({ spec }: PodTemplateSpec, { rereads = [] }: Feature): ReadonlySet<string> {
  const volumes = (spec?.volumes ?? []).filter(({ name }) => !rereads.includes(name));
  const mounted = volumes.map(({ secret }) => secret?.secretName);
  const taken = (spec?.containers ?? []).flatMap(({ env = [] }) =>
    env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
  );
  return new Set([...mounted, ...taken].filter((name) => name !== undefined));
}

/** Of the ConfigMaps that the pods mount, and of no others: a change rolls exactly the pods concerned. */
function checksumOf(template: PodTemplateSpec, configMaps: ConfigMaps): string | undefined {
  const mounted = (template.spec?.volumes ?? []).flatMap(({ configMap }) => {
    const found = configMap?.name === undefined ? undefined : configMaps.get(configMap.name);
    return found === undefined ? [] : [found];
  });
  if (mounted.length === 0) return undefined;
  const content = mounted.map(({ metadata, data }) => [metadata.name, Object.entries(data ?? {}).sort()]);
  return hash('sha256', JSON.stringify(content), 'hex').slice(0, 16);
}

function priorityName(self: Agent): string {
  return scopedName(identityOf(self), 'security-agent');
}

/**
 * What all features of an agent share: the priority of their pods, above workloads, so that a full node does not lose its guards, and
 * below the system's own. The built-in system classes are no choice: some providers allow them in kube-system only. It is there as long as
 * any pod names it, also those of features that are held.
 */
export function sharedObjects(self: Agent, installed: readonly KubeObject[]): readonly KubeObject[] {
  if (!installed.some((object) => templateOf(object) !== undefined)) return [];
  const { labels, annotations } = self.spec.global ?? {};
  const metadata = {
    name: priorityName(self),
    labels: { ...labels, 'app.kubernetes.io/instance': toLabelValue(self.metadata.name) },
    ...annotationsOf(annotations),
  };
  const description = 'Security tools of a SecurityAgent: placed before workloads.';
  return [manifest(PriorityClass, metadata, { value: 900_000_000, description })];
}
