import { expect, test } from 'vitest';
import { closest, didYouMean } from './closest.ts';

const names = ['falco', 'tetragon', 'otel_pipeline', 'otel-gateway', 'hostNetwork', 'fsGroup', 'ip'];

test.each([
  ['falcoo', 'falco'],
  ['flaco', 'falco'],
  ['Falco', 'falco'],
  ['otel-pipeline', 'otel_pipeline'],
  ['otelgateway', 'otel-gateway'],
  ['hostNetwrok', 'hostNetwork'],
  ['hostnetwork', 'hostNetwork'],
  ['HOST_NETWORK', 'hostNetwork'],
  ['tetragno', 'tetragon'],
])('%s is meant for %s', (name, meant) => {
  expect(closest(name, names)).toBe(meant);
});

test.each(['', 'osquery', 'faco_x', 'ap', 'iq', 'hostPID', 'x'.repeat(100_000)])('%s is meant for none', (name) => {
  expect(closest(name, names)).toBeUndefined();
});

test('of two near ones the nearer, of two equally near ones the first', () => {
  expect(closest('falcos', ['balcon', 'falco'])).toBe('falco');
  expect(closest('falco1', ['falco2', 'falco3'])).toBe('falco2');
});

test('a hint for a message, or nothing', () => {
  expect(didYouMean('falko', names)).toBe("; did you mean 'falco'?");
  expect(didYouMean('nothing', names)).toBe('');
});
