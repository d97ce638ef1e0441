/**
 * The pipeline: collectors on the nodes and the gateways that they send to. Their configurations are not made here but by
 * telemetry/, out of what the other features write (steps/synthesise.ts adds them). Where nobody writes, there is nothing to install.
 */
import { assessWorkloads } from '../../assess/workloads.ts';
import { defineFeature } from '../../feature.ts';
import { OWN_IMAGE } from '../../own-image.ts';
import { isRelayed } from '../../telemetry/relay.ts';
import { LOG_ROOT } from '../../telemetry/source.ts';
import { checkConfig, config, IMAGE, VERSION } from './config.ts';
import { gateway, REREAD } from './gateway.ts';
import { nodeCollector, STATE_ROOT } from './node-collector.ts';

export const otelPipeline = defineFeature({
  id: 'otel_pipeline',
  title: 'Telemetry pipeline',
  description: 'Collects what the tools write on every node, and stores it: events and inventory, each in its index.',
  priority: 10,
  version: VERSION,
  privileges: [
    { what: 'root on nodes, without capabilities', why: 'the files of tools and its own on the node belong to root' },
    { what: `${LOG_ROOT} read-only`, why: 'to read what tools write' },
    { what: STATE_ROOT, why: 'to remember how far each file was read, and to keep what no gateway has taken yet' },
    { what: 'SELinux spc_t', why: 'the default type hides files of the node from containers' },
  ],
  usesOutput: true,
  // Not the certificates that a collector trusts the store by, where there is no relay: those it reads when it starts.
  rereads: REREAD,
  followsSources: true,
  config,
  check: checkConfig,
  deadLetters: ({ deadLetters }) => deadLetters,
  contribute: ({ image, relayImage, deadLetters, replicas, queue }, context) => {
    const { sources, store } = context;
    if (sources.length === 0 || store === undefined) return [];
    const pulled = image ?? context.image(IMAGE);
    const relay = isRelayed(store, deadLetters) ? (relayImage ?? context.image(OWN_IMAGE)) : undefined;
    return [nodeCollector(pulled, context), ...gateway({ image: pulled, relay, replicas, queue, store }, context)];
  },
  assess: (_config, context) =>
    context.wanted.length > 0
      ? assessWorkloads(context)
      : {
          status: 'True',
          reason: 'NothingToCollect',
          message: 'Telemetry pipeline not needed: no enabled feature writes events',
        },
});
