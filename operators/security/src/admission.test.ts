import { renderInstance, reviewInstance } from '@keelson/runtime';
import type { KubeObject } from '@keelson/schema';
import { describe, expect, test } from 'vitest';
import { security } from './operator.ts';
import { agentOf } from './testing/agent.ts';

const review = (object: KubeObject) => reviewInstance(security, object);

describe('admission', () => {
  test('what is right is let in without a word', () => {
    const { problems, warnings } = review(
      agentOf(['otel_pipeline', 'falco', 'tetragon', 'osquery', 'trivy', 'kyverno']),
    );
    expect([problems, warnings]).toEqual([[], []]);
  });

  test.each<[string, KubeObject, string, string]>([
    ['an unknown feature', agentOf(['falcoo']), 'spec.features[name=falcoo].name', "there is no feature 'falcoo'"],
    [
      'a wrong type',
      agentOf([{ name: 'falco', config: { driver: 7 } }]),
      'spec.features[name=falco].config.driver',
      'must be',
    ],
    ['a typo', agentOf([{ name: 'falco', config: { drivr: 'kmod' } }]), 'spec.features[name=falco].config.drivr', ''],
    [
      'enabled without output',
      agentOf(['falco'], { output: undefined }),
      'spec.output',
      'is required as soon as a feature is enabled',
    ],
    [
      'credentials in the URL',
      agentOf([], { output: { elasticsearch: { url: 'https://a:b@es' } } }),
      'spec.output.elasticsearch.url',
      'must not hold credentials',
    ],
    [
      'an API key for OpenSearch',
      agentOf([], {
        output: { opensearch: { url: 'https://os', auth: { apiKeySecretRef: { name: 'a', key: 'b' } } } },
      }),
      'spec.output.opensearch.auth.apiKeySecretRef',
      'OpenSearch has no API keys',
    ],
    [
      'one name for two indices',
      agentOf([], { output: { elasticsearch: { url: 'https://es', indices: { deadLetters: 'security-events' } } } }),
      'spec.output.elasticsearch.indices',
      'two of them have one name',
    ],
    [
      'two stores',
      agentOf([], { output: { elasticsearch: { url: 'https://es' }, opensearch: { url: 'https://os' } } }),
      'spec.output',
      'exactly one of',
    ],
    ['a feature twice', agentOf(['falco', 'falco']), 'spec.features', ''],
  ])('%s is refused with its path', (_case, object, path, message) => {
    const { problems } = review(object);
    expect(
      problems.some((problem) => problem.path.startsWith(path) && problem.message.includes(message)),
      JSON.stringify(problems),
    ).toBe(true);
    expect(renderInstance(security, object).objects).toEqual([]);
  });

  test.each<[string, KubeObject, string]>([
    ['the pipeline that comes by itself', agentOf(['falco']), 'otel_pipeline is added'],
    [
      'events that go nowhere',
      agentOf(['falco', { name: 'otel_pipeline', enabled: false }]),
      'nobody carries to the store',
    ],
    [
      'an override that reaches nothing',
      agentOf(['falco'], { override: { perTool: { falcoo: { image: 'x' } } } }),
      'spec.override.perTool.falcoo',
    ],
    [
      'a mistake in what is off',
      agentOf([{ name: 'falco', enabled: false, config: { driver: 7 } }]),
      '(the feature is off)',
    ],
    [
      'trust in any certificate',
      agentOf([], { output: { elasticsearch: { url: 'https://es', tls: { insecureSkipVerify: true } } } }),
      'use caSecretRef',
    ],
  ])('%s is a warning', (_case, object, warning) => {
    const { problems, warnings } = review(object);
    expect(problems).toEqual([]);
    expect(
      warnings.some((text) => text.includes(warning)),
      JSON.stringify(warnings),
    ).toBe(true);
  });
});
