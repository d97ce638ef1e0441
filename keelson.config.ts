import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { defineConfig } from '@keelson/cli';
import { website } from '@keelson/example-website';
import { featureCards, security } from '@keelson/security';

export default defineConfig({
  operators: [security, website],
  features: () => featureCards(),
  samples: ['./samples/security/full.yaml', './examples/website/samples'],
  up: {
    // The CRDs that features wait for, and no others: all of them would cost the API server seconds.
    crds: async (tell) => {
      const { ensurePart } = await import('@keelson/testbed');
      const { path } = await ensurePart('crds', { onProgress: tell });
      const wanted = new Set(
        featureCards().flatMap(({ requires }) => requires.map(({ kind }) => `${kind.group}_${kind.plural}.yaml`)),
      );
      const files = await readdir(path, { recursive: true });
      return files.filter((file) => wanted.has(basename(file))).map((file) => join(path, file));
    },
    tryIt: [
      { command: 'kubectl get secagent -A', why: 'the whole security stack at a glance' },
      {
        command: 'keelson status securityagent/ctem-security-agent -n security-system',
        why: 'every tool: image, nodes, what it says',
      },
      { command: 'keelson explain feature falco', why: 'what a tool installs, what it may do and why' },
      {
        command: 'kubectl delete daemonset/falco -n security-system',
        why: 'break something: it is back within a second, and an event tells',
      },
      {
        command:
          'kubectl patch secagent ctem-security-agent -n security-system --type=json -p \'[{"op":"replace","path":"/spec/features/1/enabled","value":false}]\'',
        why: 'switch Falco off: everything it installed goes, and its receiver leaves the collectors',
      },
    ],
  },
  generate: {
    extra: async () => {
      const { cliReference } = await import('@keelson/cli/reference');
      const { toMetricsReference } = await import('@keelson/runtime');
      const { templateFiles, toFeatureReference } = await import('@keelson/security');
      const indices = {
        events: 'security-events',
        inventory: 'security-inventory',
        vulnerability: 'security-vuln',
        deadLetters: 'security-dead-letters',
      };
      return [
        { path: 'docs/reference/cli.md', content: cliReference() },
        { path: 'docs/reference/metrics.md', content: toMetricsReference() },
        { path: 'docs/reference/features.md', content: toFeatureReference() },
        ...templateFiles(indices),
      ];
    },
  },
});
