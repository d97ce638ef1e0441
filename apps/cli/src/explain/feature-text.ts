/** A feature for people: what it gives, what it costs, how to switch it on. Pure. */
import { toYaml } from '../output/format.ts';
import type { Palette } from '../output/palette.ts';
import { table } from '../output/table.ts';
import type { FeatureExplanation } from './feature.ts';
import { fieldLine, permissionLines, section } from './text.ts';

export function featureText(feature: FeatureExplanation, paint: Palette): string {
  const head = [
    `${paint.strong(feature.title)} ${feature.version} (feature ${paint.strong(feature.id)} of the operator ${feature.operator})`,
    feature.description,
  ];
  const sections = [
    section('Switch it on with', toYaml(feature.example).trimEnd().split('\n')),
    section(
      'Config',
      feature.config.map((field) => fieldLine(field, paint)),
    ),
    section('Installs', installed(feature)),
    section(
      'May do on a node',
      rows(
        ['WHAT', 'WHY'],
        feature.privileges.map(({ what, why }) => [what, why]),
      ),
    ),
    section('May ask the API server', permissionLines(feature.rights)),
    section(
      'Needs',
      feature.requires.map(({ kind, remedy }) => `${kind}: ${remedy}`),
    ),
    section('Events', feature.events === undefined ? [] : [`${feature.events.from} → ${feature.events.to}`]),
    section('Once on a node', feature.exclusive === undefined ? [] : [feature.exclusive]),
    section('Condition', [feature.condition]),
  ];
  return `${head.join('\n')}\n${sections.join('')}`;
}

function installed({ installs }: FeatureExplanation): string[] {
  return rows(
    ['KIND', 'NAME', 'SCOPE'],
    installs.map(({ kind, name, scope }) => [kind, name, scope]),
  );
}

function rows(heads: readonly string[], lines: readonly (readonly string[])[]): string[] {
  return lines.length === 0 ? [] : table(heads, lines).trimEnd().split('\n');
}
