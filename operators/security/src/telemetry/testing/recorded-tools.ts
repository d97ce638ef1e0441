/** The tools with what was recorded of them, and the index that their events belong to. */
import { recorded as falcoEvents } from '../../features/falco/testing/recorded.ts';
import { recorded as osqueryEvents } from '../../features/osquery/testing/recorded.ts';
import { recorded as tetragonEvents } from '../../features/tetragon/testing/recorded.ts';
import { falcoFile, osqueryFile, tetragonFile } from './flood.ts';

export const tools = [
  { source: falcoFile, events: falcoEvents, index: 'security-events' },
  { source: tetragonFile, events: tetragonEvents, index: 'security-events' },
  { source: osqueryFile, events: osqueryEvents, index: 'security-inventory' },
];

/** An event as one text, whatever the order of its keys: a store gives them back in any. */
export function asText(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort())
      : one,
  );
}
