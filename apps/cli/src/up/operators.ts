/** The operators of a project in this process, as themselves: their own ServiceAccount, their log in a file. */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createClient, type KubeClient } from '@keelson/kube';
import { createLogger, createManager } from '@keelson/runtime';
import type { Project } from '../config/load-config.ts';
import { serviceAccountIdentity } from './identity.ts';
import type { Stage } from './stage.ts';

export interface RunningOperators extends AsyncDisposable {
  readonly log: string;
  /** Resolves when they have stopped; rejects when they cannot go on. */
  readonly ended: Promise<void>;
}

/** `client` is the administrator's: it gets the token that the operators run with. */
export async function startOperators(
  project: Project,
  client: KubeClient,
  stage: Stage,
  signal: AbortSignal,
): Promise<RunningOperators> {
  const account = { name: project.name, namespace: project.namespace };
  const identity = await serviceAccountIdentity(client, stage.config, account, stage.folder);
  const log = join(stage.folder, 'operators.log');
  const stopping = new AbortController();
  const ending = AbortSignal.any([signal, stopping.signal]);
  const own = createClient(identity.config, { userAgent: project.name });
  const manager = createManager({
    client: own,
    operators: project.operators,
    leaderElection: false,
    logger: createLogger({ format: 'json', destination: createWriteStream(log) }),
  });
  const ended = Promise.all([manager.run(ending), identity.renew(ending)]).then(() => {});
  // They may end before anybody asks.
  ended.catch(() => {});
  return {
    log,
    ended,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await ended.catch(() => {});
      await own.close();
    },
  };
}
