import { describe, expect, it } from 'vitest';
import { isTaken, withFeature } from './feature-list.ts';
import { featureNamesFor } from './feature-names.ts';

const list = `/** The list. */
import { type Feature, featureList } from '../feature.ts';
import { falco } from './falco/feature.ts';
import { otelPipeline } from './otel-pipeline/feature.ts';

export const features: readonly Feature[] = featureList([
  // One a line.
  falco,
  otelPipeline,
]);
`;

/** The lines that a name adds, with the line after each. */
function added(name: string): string[] {
  const lines = (withFeature(list, featureNamesFor(name)) ?? '').split('\n');
  return lines.flatMap((line, index) => (list.includes(line) ? [] : [line, lines[index + 1] ?? '']));
}

describe('the list of features', () => {
  it.each([
    ['audit', "import { falco } from './falco/feature.ts';", '  falco,'],
    ['host-scan', "import { otelPipeline } from './otel-pipeline/feature.ts';", '  otelPipeline,'],
    ['zeek', '', ']);'],
  ])(
    'given %s, when added, then an import and a line stand where the alphabet puts them, and all else is as it was',
    (name, afterImport, afterEntry) => {
      const { value, folder } = featureNamesFor(name);
      expect(added(name)).toEqual([
        `import { ${value} } from './${folder}/feature.ts';`,
        afterImport,
        `  ${value},`,
        afterEntry,
      ]);
      const left = withFeature(list, featureNamesFor(name))
        ?.split('\n')
        .filter((line) => !line.includes(value));
      expect(left?.join('\n')).toBe(list);
    },
  );

  it('given a file of another kind, when a feature is to be added, then there is no result', () => {
    expect(withFeature('export const features = [];\n', featureNamesFor('zeek'))).toBeUndefined();
  });

  it.each([
    ['falco', true],
    ['feature-list', true],
    ['features', true],
    ['otel-pipeline', true],
    ['list', false],
    ['line', false],
  ])('given %s, when looked for, then it is taken: %s', (name, taken) => {
    expect(isTaken(list, featureNamesFor(name))).toBe(taken);
  });
});

describe('the names of a feature', () => {
  it.each(['port-scan', 'port_scan'])('given %s, when named, then all forms are derived', (name) => {
    expect(featureNamesFor(name)).toEqual({
      id: 'port_scan',
      folder: 'port-scan',
      value: 'portScan',
      title: 'Port scan',
    });
  });

  it.each(['Demo', '', '-demo', 'demo-', 'a--b', 'scan-2', '2scan', 'a.b', '../x', 'class', 'a'.repeat(41)])(
    'given %j, when named, then it is refused',
    (name) => {
      expect(() => featureNamesFor(name)).toThrow('is no name for a feature');
    },
  );
});
