/** `run`: the operators of a project as one process, from the first watch to a clean end. */
import { createClient, type KubeConfig, systemClock } from '@keelson/kube';
import {
  createLogger,
  createManager,
  createMetrics,
  createWebhooks,
  type LeaderElection,
  type ManagerOptions,
  needsWebhooks,
  type Reach,
} from '@keelson/runtime';
import { chosenConfig } from '../cluster/connect.ts';
import type { RunOptions } from '../commands/run.ts';
import { loadProject, type Project } from '../config/load-config.ts';
import { failure } from '../failure.ts';
import type { Shell } from '../shell.ts';
import { warnOfOtherLeader } from './other-leader.ts';
import { onInterrupt } from './signals.ts';

export async function run(options: RunOptions, shell: Shell): Promise<void> {
  const project = await loadProject(options, shell);
  const config = await chosenConfig(options, shell);
  const logger = createLogger({
    level: options.logLevel,
    ...(options.logFormat === undefined ? {} : { format: options.logFormat === 'human' ? 'pretty' : 'json' }),
  });
  const metrics = createMetrics({ clock: systemClock });
  const client = createClient(config, { userAgent: project.name, observer: metrics.client });
  const interruption = onInterrupt(shell, (signal) =>
    logger.info({ signal }, 'stopping when the work at hand is done; a second signal ends at once'),
  );
  const reach = reachOf(options);
  if (reach === undefined && needsWebhooks(project.operators))
    logger.warn({}, 'webhooks are off: give --webhook-service or --webhook-url to serve them');
  const lease = leaseOf(project, config, options, shell);
  const elects = options.leaderElect ?? isInCluster(shell);
  if (!elects) void warnOfOtherLeader({ client, lease, logger, clock: systemClock });
  const manager = createManager({
    client,
    operators: project.operators,
    // In a cluster there may be other replicas; elsewhere a developer wants to begin at once.
    leaderElection: elects ? lease : false,
    ...(options.namespace === undefined ? {} : { namespaces: [options.namespace] }),
    health: { port: options.healthPort },
    metricsAddress: { port: options.metricsPort },
    metrics,
    logger,
    ...(reach === undefined ? {} : { webhooks: webhooksOf(project, config, client, reach, options) }),
  });
  try {
    await manager.run(interruption.signal);
  } catch (error) {
    throw portTaken(error) ?? error;
  } finally {
    interruption.release();
    await client.close();
  }
}

/** What the replicas of a project compete for. */
function leaseOf(project: Project, config: KubeConfig, options: RunOptions, shell: Shell): LeaderElection {
  return {
    name: project.name,
    namespace: options.leaseNamespace ?? (isInCluster(shell) ? config.namespace : project.namespace),
  };
}

function isInCluster(shell: Shell): boolean {
  return shell.env.KUBERNETES_SERVICE_HOST !== undefined;
}

function reachOf({ webhookService, webhookUrl }: RunOptions): Reach | undefined {
  if (webhookUrl !== undefined && webhookService !== undefined) {
    throw failure(
      'usage',
      '--webhook-service and --webhook-url exclude each other',
      'give the one through which the API server reaches this process',
    );
  }
  if (webhookUrl !== undefined) {
    if (!/^https:\/\/[^/]+/.test(webhookUrl))
      throw failure(
        'usage',
        `--webhook-url ${webhookUrl} is no https URL`,
        'the API server calls webhooks over TLS only: https://host:port',
      );
    return { url: webhookUrl };
  }
  if (webhookService === undefined) return undefined;
  const [namespace, name, rest] = webhookService.split('/');
  if (!namespace || !name || rest !== undefined)
    throw failure('usage', `--webhook-service ${webhookService} names no Service`, 'write namespace/name');
  return { service: { namespace, name } };
}

function webhooksOf(
  project: Project,
  config: KubeConfig,
  client: ManagerOptions['client'],
  reach: Reach,
  options: RunOptions,
): NonNullable<ManagerOptions['webhooks']> {
  const namespace = 'service' in reach ? reach.service.namespace : (options.leaseNamespace ?? config.namespace);
  return ({ fence, logger, metrics, clock }) => {
    const webhooks = createWebhooks({
      operators: project.operators,
      client,
      reach,
      certificates: { secret: { namespace, name: `${project.name}-webhooks` } },
      port: options.webhookPort,
      fence,
      logger,
      observer: metrics.webhooks,
      clock,
    });
    return {
      name: 'webhooks',
      start: (signal) => webhooks.start(signal),
      ready: () => webhooks.ready(),
      stop: () => webhooks.stop(),
    };
  };
}

/** Which option moves a port that another process has. */
function portTaken(error: unknown): Error | undefined {
  if (!(error instanceof Error) || !error.message.includes('cannot listen on')) return undefined;
  return failure(
    'failed',
    error.message,
    'end the other process, or choose with --health-port, --metrics-port or --webhook-port; 0 takes a free one',
    error,
  );
}
