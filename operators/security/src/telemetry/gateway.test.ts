import { describe, expect, test } from 'vitest';
import { gatewayConfig } from './gateway.ts';
import { census, guard, storeWith, watcher } from './testing/sources.ts';

describe('the configuration of the gateway', () => {
  test('sends every tool to the index that it declares, and what is nobody’s to events', () => {
    const { connectors, service } = gatewayConfig([guard, census], storeWith(), false);
    expect(connectors?.routing).toMatchObject({
      default_pipelines: ['logs/events'],
      table: [{ condition: 'resource.attributes["security_tool"] == "census"', pipelines: ['logs/inventory'] }],
    });
    expect(service.pipelines).toEqual({
      logs: { receivers: ['otlp'], processors: ['memory_limiter', 'transform'], exporters: ['routing'] },
      'logs/events': { receivers: ['routing'], exporters: ['elasticsearch/events'] },
      'logs/inventory': { receivers: ['routing'], exporters: ['elasticsearch/inventory'] },
    });
  });

  test('has nothing to choose where all goes to events', () => {
    const { connectors, service } = gatewayConfig([guard], storeWith(), false);
    expect(connectors).toBeUndefined();
    expect(service.pipelines).toEqual({
      'logs/events': {
        receivers: ['otlp'],
        processors: ['memory_limiter', 'transform'],
        exporters: ['elasticsearch/events'],
      },
    });
  });

  test('stays as it is when a tool that writes to events comes or goes', () => {
    expect(gatewayConfig([guard, watcher, census], storeWith(), false)).toEqual(
      gatewayConfig([census], storeWith(), false),
    );
  });

  test('has an exporter for each index in use, and always one for events', () => {
    const exporters = (...sources: Parameters<typeof gatewayConfig>[0]) =>
      Object.keys(gatewayConfig(sources, storeWith(), false).exporters);
    expect(exporters(guard, watcher)).toEqual(['elasticsearch/events']);
    expect(exporters(census)).toEqual(['elasticsearch/events', 'elasticsearch/inventory']);
  });

  test('lets nobody in who shows no certificate of its authority', () => {
    expect(gatewayConfig([guard], storeWith(), false).receivers.otlp).toMatchObject({
      protocols: { grpc: { tls: { client_ca_file: '/etc/otelcol-tls/ca.crt', client_ca_file_reload: true } } },
    });
  });

  test('runs every extension that it defines', () => {
    const { extensions, service } = gatewayConfig(
      [guard],
      storeWith({ auth: { secretRef: { name: 'login' } } }),
      false,
    );
    expect(service.extensions).toEqual(['health_check', 'file_storage', 'basicauth']);
    expect(Object.keys(extensions)).toEqual(service.extensions);
  });
});
