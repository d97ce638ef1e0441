import { defineConfig } from '@keelson/cli';
import { website } from '@keelson/example-website';

export default defineConfig({
  operators: [website],
  samples: './examples/website/samples',
  generate: {
    extra: async () => {
      const { cliReference } = await import('@keelson/cli/reference');
      return [{ path: 'docs/reference/cli.md', content: cliReference() }];
    },
  },
});
