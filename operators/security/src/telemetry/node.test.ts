import { describe, expect, test } from 'vitest';
import { nodeConfig } from './node.ts';
import { census, guard } from './testing/sources.ts';

describe('the configuration of the collectors on the nodes', () => {
  test('has one receiver a tool, in one pipeline to the gateway', () => {
    const { receivers, service, exporters } = nodeConfig([guard, census], undefined);
    expect(Object.keys(receivers)).toEqual(['filelog/guard', 'filelog/census']);
    expect(service.pipelines).toEqual({
      logs: {
        receivers: ['filelog/guard', 'filelog/census'],
        processors: ['memory_limiter', 'transform'],
        exporters: ['otlp'],
      },
    });
    expect(exporters).toMatchObject({ otlp: { endpoint: 'otel-gateway:4317' } });
  });

  test('puts batches of about 1000 events or of 5 s together out of a queue on disk, and never gives up', () => {
    expect(nodeConfig([guard], undefined).exporters.otlp).toMatchObject({
      sending_queue: {
        storage: 'file_storage',
        block_on_overflow: true,
        batch: { sizer: 'bytes', min_size: 1_000_000, max_size: 16_000_000, flush_timeout: '5s' },
      },
      retry_on_failure: { enabled: true, max_elapsed_time: '0s' },
    });
  });

  test('holds no event in memory alone: what is read goes through nothing that waits', () => {
    expect(Object.keys(nodeConfig([guard], 'prod').processors)).not.toContain('batch');
  });

  test('talks TLS, and shows who it is', () => {
    expect(nodeConfig([guard], undefined).exporters.otlp).toMatchObject({
      tls: {
        ca_file: '/etc/otelcol-tls/ca.crt',
        cert_file: '/etc/otelcol-tls/tls.crt',
        key_file: '/etc/otelcol-tls/tls.key',
        min_version: '1.3',
      },
    });
  });

  test('names the cluster as it is called, whatever the collector would read into it', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the collector's own syntax
    const { processors, service } = nodeConfig([guard], 'a $5 ${env:HOME}');
    expect(processors.resource).toEqual({
      attributes: [{ key: 'k8s.cluster.name', value: 'a $$5 $${env:HOME}', action: 'upsert' }],
    });
    expect(service.pipelines.logs?.processors).toEqual(['memory_limiter', 'resource', 'transform']);
  });
});
