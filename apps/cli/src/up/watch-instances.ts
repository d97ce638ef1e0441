/**
 * Shows how the instances are, says once when all are Ready and what to try, and goes on until it is interrupted. Instances that
 * take long to become Ready do not keep the things to try from the user.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '@keelson/kube';
import { isAnyFault } from '../cluster/fault-to-failure.ts';
import type { Project } from '../config/load-config.ts';
import type { Shell } from '../shell.ts';
import { gatherStatus, type InstanceReport } from '../status/gather.ts';
import { createLiveView } from './live-view.ts';
import type { Stage } from './stage.ts';
import { suggestions } from './try-it.ts';

export interface Watched {
  readonly project: Project;
  readonly client: KubeClient;
  readonly stage: Stage;
  /** When `up` began, by `performance.now()`. */
  readonly started: number;
  readonly shell: Shell;
  /** How long instances may take before what to try is told all the same. */
  readonly patienceMs?: number;
}

const pollMs = { before: 250, after: 1000 };

export async function watchInstances(watched: Watched, signal: AbortSignal): Promise<void> {
  const { project, client, shell } = watched;
  const view = createLiveView(shell, () => new Date());
  const { patienceMs = 60_000 } = watched;
  const begun = performance.now();
  let isReady = false;
  let hasAdvised = false;
  let trouble = '';
  while (!signal.aborted) {
    try {
      const { instances } = await gatherStatus(client, project.operators, undefined);
      if (signal.aborted) return;
      view.show(instances);
      trouble = '';
      if (!isReady && instances.every(({ ready }) => ready === 'True')) {
        isReady = true;
        view.say(readyLine(watched));
      }
      if (!hasAdvised && (isReady || performance.now() - begun > patienceMs)) {
        hasAdvised = true;
        view.say(advice(watched, instances));
      }
    } catch (error) {
      // The cluster may be away for a moment; the operators wait for it, and so do we.
      if (!isAnyFault(error)) throw error;
      if (signal.aborted) return;
      if (error.message !== trouble) view.say(`note: ${error.message}\n`);
      trouble = error.message;
    }
    await sleep(isReady ? pollMs.after : pollMs.before, undefined, { signal }).catch(() => {});
  }
}

function readyLine({ started, shell }: Watched): string {
  return `\n${shell.paint.strong(`ready in ${((performance.now() - started) / 1000).toFixed(1)} s`)}\n`;
}

function advice({ project, stage, shell }: Watched, instances: readonly InstanceReport[]): string {
  const { name, faint } = shell.paint;
  const things = suggestions(project, instances, stage.call).flatMap(({ command, why }, index) => [
    `  ${index + 1}. ${faint(`${why}:`)}`,
    `     ${name(command)}`,
  ]);
  return ['', 'Things to try, in another terminal:', ...things, '', 'Ctrl-C ends it all.', ''].join('\n');
}
