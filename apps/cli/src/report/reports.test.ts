import type { KubeClient, ListOptions, Page } from '@keelson/kube';
import type { KubeObject } from '@keelson/schema';
import { describe, expect, it } from 'vitest';
import { reportsOf } from './reports.ts';
import { vulnerability, vulnerabilityReport } from './testing/reports.ts';

/** Reads a list of reports with so many vulnerabilities each, and tells how many were asked for at once. */
async function limits(sizes: readonly number[], pageSize: number): Promise<(number | undefined)[]> {
  const asked: (number | undefined)[] = [];
  const list = async (_: unknown, { limit = 0, continue: from = '0' }: ListOptions = {}): Promise<Page<KubeObject>> => {
    asked.push(limit);
    const end = Number(from) + limit;
    const items = sizes
      .slice(Number(from), end)
      .map((size, index) =>
        vulnerabilityReport(`web-${index}`, Array<ReturnType<typeof vulnerability>>(size).fill(vulnerability('CVE-1'))),
      );
    return { items, resourceVersion: '1', ...(end < sizes.length ? { continue: String(end) } : {}) };
  };
  let read = 0;
  const client = { list: list as KubeClient['list'] };
  for await (const _ of reportsOf(client, { pageSize, signal: new AbortController().signal })) read += 1;
  expect(read).toBe(sizes.length);
  return asked;
}

describe('reportsOf', () => {
  it('given small reports, when read, then pages are as large as allowed after a first small one', async () => {
    expect(await limits(Array<number>(250).fill(3), 100)).toEqual([10, 100, 100, 100]);
    expect(await limits(Array<number>(4).fill(3), 2)).toEqual([2, 2]);
  });

  it('given huge reports, when read, then pages are so small that memory stays bounded', async () => {
    expect(await limits(Array<number>(14).fill(2000), 100)).toEqual([10, 2, 2]);
    expect(await limits(Array<number>(12).fill(9000), 100)).toEqual([10, 1, 1]);
  });

  it('given reports without vulnerabilities, when read, then pages are as large as allowed', async () => {
    expect(await limits(Array<number>(30).fill(0), 15)).toEqual([10, 15, 15]);
  });
});
