/** Relay and exporter stand in different packages, and must mean the same by 'later'. */
import { expect, test } from 'vitest';
import { elasticsearchExporter } from '../../../../operators/security/src/telemetry/exporter.ts';
import { storeWith } from '../../../../operators/security/src/telemetry/testing/sources.ts';
import { CURABLE } from './refusal.ts';

interface Retry {
  readonly retry_on_status: readonly number[];
  readonly retry_on_document_status: readonly number[];
}

test('the exporter repeats what the relay answers for a document that has to wait: a status that only one of them knew would lose it', () => {
  const { retry } = elasticsearchExporter('events', storeWith(), true) as { retry: Retry };

  expect(retry.retry_on_document_status).toEqual(CURABLE);
  expect(retry.retry_on_status).toEqual(expect.arrayContaining([...CURABLE]));
});
