/** Every feature as one Markdown page, out of the same values that the operator runs. */
import { resourceNameOf, toFieldTable } from '@keelson/schema';
import { featureCards } from './feature-card.ts';

type Card = ReturnType<typeof featureCards>[number];

/** The reference page of all features. */
export function toFeatureReference(cards: readonly Card[] = featureCards()): string {
  const sections = [
    '# Features of a SecurityAgent',
    'What each one installs, may do and can be told. `keelson explain feature <name>` says the same in a terminal.',
    ...cards.flatMap(sectionsOf),
  ];
  return `${sections.join('\n\n')}\n`;
}

function sectionsOf(card: Card): readonly string[] {
  const {
    id,
    title,
    description,
    version,
    condition,
    installs,
    privileges,
    rights,
    requires,
    config,
    events,
    exclusive,
  } = card;
  const kinds = countBy(installs.map(({ kind }) => kind));
  const facts = [
    `Version ${version}; condition \`${condition}\`.`,
    `Installs ${kinds.map(([kind, count]) => (count === 1 ? kind : `${count} × ${kind}`)).join(', ')}.`,
    events === undefined ? '' : `Its events go from ${events.from} to ${events.to}.`,
    requires.length === 0
      ? ''
      : `Waits until the cluster has ${requires.map(({ kind }) => `\`${resourceNameOf(kind)}\``).join(' and ')}.`,
    exclusive === undefined
      ? ''
      : `Once a node: two agents that want it on one node are told apart, because ${exclusive}.`,
  ].filter((fact) => fact !== '');
  return [
    `## ${id}`,
    `**${title}.** ${description}`,
    facts.join(' '),
    ...(privileges.length === 0
      ? []
      : [
          table(
            ['On the node', 'Why'],
            privileges.map(({ what, why }) => [what, why]),
          ),
        ]),
    ...(rights.length === 0
      ? []
      : [
          table(
            ['May ask the API server', 'Why'],
            rights.map(({ kind, subresource, verbs, why }) => [
              `${verbs.join(', ')} ${resourceNameOf(kind)}${subresource === undefined ? '' : `/${subresource}`}`,
              why,
            ]),
          ),
        ]),
    toFieldTable(config, 'config'),
  ];
}

function countBy(kinds: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((text) => text.replaceAll('|', '\\|')));
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
