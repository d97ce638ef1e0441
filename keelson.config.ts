import { defineConfig } from '@keelson/cli';
import { website } from '@keelson/example-website';

export default defineConfig({
  operators: [website],
  samples: './examples/website/samples',
  generate: {
    extra: async () => {
      const { cliReference } = await import('@keelson/cli/reference');
      const { toMetricsReference } = await import('@keelson/runtime');
      return [
        { path: 'docs/reference/cli.md', content: cliReference() },
        { path: 'docs/reference/metrics.md', content: toMetricsReference() },
      ];
    },
  },
});
