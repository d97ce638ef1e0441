/** Why pods find no node, in words that name what was asked of nodes. */
import type { KubeObject } from '@keelson/schema';
import type { NodeSelectorRequirement, NodeSelectorTerm, Pod, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { FEATURE_LABEL } from '../names.ts';
import type { AssessContext } from './assessment.ts';
import { enumerate, shorten } from './text.ts';
import type { Trouble } from './trouble.ts';

/** A DaemonSet that is meant for no node at all: by its selector, its affinity, or because of taints. Which of these, only nodes could tell. */
export function noMatchingNode(template: PodTemplateSpec | undefined, { override, selectors }: Places): Trouble {
  const { nodeSelector = {}, affinity } = template?.spec ?? {};
  const labels = Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`);
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const asked = [
    ...(labels.length === 0 ? [] : [`nodeSelector ${labels.join(',')}`]),
    ...(terms.length === 0 ? [] : [`node affinity ${terms.map(termText).join(' or ')}`]),
  ];
  if (asked.length === 0)
    return {
      reason: 'NoMatchingNode',
      key: 'taints',
      text: 'no node takes it: each has a taint that it does not tolerate, or there is none',
      remedy: `add what is missing to ${override}.tolerations`,
    };
  const change = selectors.length === 0 ? '' : `, or change ${enumerate(selectors)}`;
  return {
    reason: 'NoMatchingNode',
    key: 'labels',
    text: `no node takes it: none matches ${shorten(enumerate(asked), 200)}, or those that do have a taint that it does not tolerate`,
    remedy: `label nodes${change}`,
  };
}

/** Where a user changes which nodes are meant. */
export interface Places {
  /** `spec.override.perTool.falco` */
  readonly override: string;
  /** Everywhere in the override where these pods are given a selector or an affinity. */
  readonly selectors: readonly string[];
}

/** The places of an override that choose the nodes of a workload, those that have the last word first. */
export function selectorPaths({ metadata }: KubeObject, override: AssessContext['override']): readonly string[] {
  const { name, labels = {} } = metadata;
  const { nodeAgent, perTool = {} } = override ?? {};
  const feature = labels[FEATURE_LABEL];
  const levels = [
    ...[...new Set([name, feature])].flatMap((key) => {
      const tool = key === undefined ? undefined : perTool[key];
      return tool === undefined ? [] : [{ path: `spec.override.perTool.${key}`, words: tool }];
    }),
    ...(nodeAgent === undefined ? [] : [{ path: 'spec.override.nodeAgent', words: nodeAgent }]),
  ];
  return levels.flatMap(({ path, words }) => {
    const patched = (words.podTemplate as { spec?: Record<string, unknown> } | undefined)?.spec;
    const fields = ['nodeSelector', 'affinity'] as const;
    return [
      ...fields.filter((field) => patched?.[field] !== undefined).map((field) => `${path}.podTemplate.spec.${field}`),
      ...fields.filter((field) => words[field] !== undefined).map((field) => `${path}.${field}`),
    ];
  });
}

function termText({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm): string {
  return `(${[...matchExpressions, ...matchFields].map(requirementText).join(', ')})`;
}

function requirementText({ key, operator, values = [] }: NodeSelectorRequirement): string {
  return values.length === 0 ? `${key} ${operator}` : `${key} ${operator} ${values.join('|')}`;
}

/** A pod that the scheduler finds no place for, in the scheduler's words but for those about nodes that it was never meant for. */
export function unschedulable(message: string, override: string): Trouble {
  const said = message
    .replace(/^0\/\d+ nodes are available: /, '')
    .replace(/[.,]? *(no new claims to deallocate, *)?preemption: .*$/s, '')
    .replace(/,? ?\d+ node\(s\) didn't satisfy plugin\(s\) \[NodeAffinity\]/, '')
    .replace(/^, |\.$/g, '');
  if (/PersistentVolumeClaim|persistentvolumeclaim/.test(said))
    return {
      reason: 'Unschedulable',
      key: 'volume',
      text: `its volume is not there: ${shorten(said, 200)}`,
      remedy: 'see kubectl get pvc, and whether the cluster has the StorageClass',
    };
  const lacks = /Insufficient|Too many pods/.test(said);
  return {
    reason: 'Unschedulable',
    key: said,
    text: `no room: ${shorten(said, 200)}`,
    ...(lacks ? { remedy: `free the node, or ask for less by ${override}.resources` } : {}),
  };
}

/** The node of a pod, or the one that it is meant for: a DaemonSet makes a pod for one node by its name. */
export function nodeOf({ spec }: Pick<Pod, 'spec'>): string | undefined {
  if (spec?.nodeName !== undefined) return spec.nodeName;
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  return fields.find(({ key }) => key === 'metadata.name')?.values?.[0];
}
