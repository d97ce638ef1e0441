import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentsOf } from './documents.ts';
import { inBatches, type Operation, sighted } from './operation.ts';
import { vulnerability, vulnerabilityReport } from './testing/reports.ts';

describe('sighted', () => {
  it('given an unknown value, when stored, then an update clears it, a new document lacks it and knows when it was first seen', () => {
    const sighting = { cluster: 'prod', seen: '2026-01-02T00:00:00.000Z' };
    const report = vulnerabilityReport('web', [vulnerability('CVE-1', { fixedVersion: '' })]);
    const [document] = documentsOf(report, sighting);
    if (document === undefined) throw new Error('no document');
    const [action = '', source = ''] = sighted(document).lines.split('\n');
    expect(JSON.parse(action)).toEqual({ update: { _id: document.id, retry_on_conflict: 3 } });
    const { doc, upsert } = JSON.parse(source);
    expect(doc.package.fixed_version).toBeNull();
    expect(doc.event).toMatchObject({ end: null, ingested: sighting.seen });
    expect(doc.event).not.toHaveProperty('created');
    expect(upsert.package).not.toHaveProperty('fixed_version');
    expect(upsert.event).toMatchObject({ created: sighting.seen });
  });
});

describe('inBatches', () => {
  it('given any sizes, when batched, then nothing is lost or moved, and a batch is within its limits unless it is one alone', async () => {
    const limits = { bytes: 100, count: 5 };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 150 }), { maxLength: 40 }), async (sizes) => {
        const operations = sizes.map((bytes, index): Operation => ({ id: String(index), lines: '', bytes }));
        const batches: Operation[][] = [];
        for await (const batch of inBatches(each(operations), limits)) batches.push(batch);
        expect(batches.flat()).toEqual(operations);
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(limits.count);
          if (batch.length > 1)
            expect(batch.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(limits.bytes);
        }
      }),
    );
  });
});

async function* each<T>(values: readonly T[]): AsyncGenerator<T, void, void> {
  yield* values;
}
