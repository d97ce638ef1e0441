import { defineConfig } from '@keelson/cli';
import { website } from '@keelson/example-website';
import { featureCards, security } from '@keelson/security';

export default defineConfig({
  operators: [security, website],
  features: () => featureCards(),
  samples: ['./samples/security/full.yaml', './examples/website/samples'],
  generate: {
    extra: async () => {
      const { cliReference } = await import('@keelson/cli/reference');
      const { toMetricsReference } = await import('@keelson/runtime');
      const { toFeatureReference } = await import('@keelson/security');
      return [
        { path: 'docs/reference/cli.md', content: cliReference() },
        { path: 'docs/reference/metrics.md', content: toMetricsReference() },
        { path: 'docs/reference/features.md', content: toFeatureReference() },
      ];
    },
  },
});
