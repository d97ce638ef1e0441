/** `explain feature`: every feature of the project's operators, or one in full. Needs no cluster. */
import { apiVersionOf, closest, mergeGrants } from '@keelson/schema';
import type { ExplainOptions } from '../commands/explain.ts';
import type { FeatureCard } from '../config/feature-card.ts';
import { loadProject } from '../config/load-config.ts';
import { failure } from '../failure.ts';
import { format } from '../output/format.ts';
import { table } from '../output/table.ts';
import type { Shell } from '../shell.ts';
import { featureText } from './feature-text.ts';
import { type Field, fieldsOf, type OpenApi } from './fields.ts';
import { type Permission, permissionOf } from './permission.ts';

export interface FeatureExplanation extends Omit<FeatureCard, 'installs' | 'rights' | 'requires' | 'config'> {
  readonly config: readonly Field[];
  readonly installs: readonly { kind: string; name: string; scope: 'namespaced' | 'cluster-scoped' }[];
  readonly rights: readonly Permission[];
  readonly requires: readonly { kind: string; remedy: string }[];
}

export async function explainFeature(name: string | undefined, options: ExplainOptions, shell: Shell): Promise<void> {
  const project = await loadProject(options, shell);
  const cards = project.features();
  if (cards.length === 0)
    throw failure('usage', 'the operators of this project have no features', '`keelson explain` lists the operators');
  if (name === undefined) return shell.out(overview(cards, options, shell));
  const explanation = explanationOf(find(name, cards));
  shell.out(options.output === undefined ? featureText(explanation, shell.paint) : format(explanation, options.output));
}

function find(name: string, cards: readonly FeatureCard[]): FeatureCard {
  const found = cards.find(({ id, title }) => id === name || title.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const ids = cards.map(({ id }) => id);
  const meant = closest(name, ids);
  throw failure(
    'usage',
    `no feature '${name}'`,
    `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${ids.join(', ')}`,
  );
}

function overview(cards: readonly FeatureCard[], { output }: ExplainOptions, shell: Shell): string {
  if (output !== undefined) return format({ features: cards.map(explanationOf) }, output);
  return table(
    ['FEATURE', 'OPERATOR', 'VERSION', 'WHAT IT GIVES'],
    cards.map(({ id, operator, version, description }) => [id, operator, version, description]),
    shell.live ? shell.columns : undefined,
  );
}

function explanationOf(card: FeatureCard): FeatureExplanation {
  return {
    ...card,
    config: fieldsOf(card.config as OpenApi, ''),
    installs: card.installs.map(({ apiVersion, kind, metadata }) => ({
      kind: `${kind} (${apiVersion})`,
      name: metadata.name,
      scope: metadata.namespace === undefined ? 'cluster-scoped' : 'namespaced',
    })),
    rights: mergeGrants(card.rights).map(permissionOf),
    requires: card.requires.map(({ kind, remedy }) => ({ kind: `${kind.kind} (${apiVersionOf(kind)})`, remedy })),
  };
}
