import { createClient, loadConfig } from '@keelson/kube';
import { startTestEnv } from '@keelson/testenv';
import { describe, expect, it, vi } from 'vitest';
import { loadProject } from '../config/load-config.ts';
import { crdsOf } from '../install/crds.ts';
import { paper } from '../testing/paper.ts';
import { watchInstances } from './watch-instances.ts';

describe('watching instances', () => {
  it('given an instance that does not become Ready, when patience ends, then what to try is told, without a ready line', async () => {
    const shell = paper();
    const project = await loadProject({}, shell);
    await using env = await startTestEnv({ crds: crdsOf(project) });
    await env.kubectl(['apply', '-f', '-'], {
      stdin:
        'apiVersion: example.keelson.io/v1alpha1\nkind: Website\nmetadata: {name: slow, namespace: default}\nspec: {html: hi}\n',
    });
    const config = await loadConfig({ kubeconfig: env.kubeconfig });
    const client = createClient(config);
    const stage = {
      config,
      folder: env.dir,
      call: { kubectl: 'kubectl', keelson: 'keelson' },
      intro: '',
      stays: false,
      end: async () => {},
    };
    const ending = new AbortController();
    const watching = watchInstances({ project, client, stage, started: 0, shell, patienceMs: 1000 }, ending.signal);
    await vi.waitFor(() => expect(shell.text()).toContain('Ctrl-C ends it all.'), 20_000);
    ending.abort();
    await watching;
    await client.close();
    expect(shell.text()).toMatch(/^website\/slow in default: Ready=Unknown[\s\S]*Things to try/);
    expect(shell.text()).toContain('kubectl scale website/slow --replicas=3 -n default');
    expect(shell.text()).not.toContain('ready in');
  });
});
