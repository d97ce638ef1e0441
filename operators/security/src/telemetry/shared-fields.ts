/**
 * What all tools have in common, taken out of the event of one: operators of the file receiver, because what a tool's fields mean is
 * decided where the tool runs, and the gateways need not know which tools there are.
 *
 * Invariant: a shared field holds a text, or a list of texts, or is not there. An event of another shape than its tool promises is
 * stored all the same, without the fields that it does not fit.
 */
import { literal } from './collector.ts';
import type { EventPath, LogSource } from './source.ts';

/** What an operator cannot do with an event is left undone, without a line in the collector's log each time. */
export const lenient = { on_error: 'send_quiet' };

/** Ids of techniques and sub-techniques, as MITRE ATT&CK writes them. */
const TECHNIQUE = '^T[0-9]{4}([.][0-9]{3})?$';

/** The operators that fill the shared fields of an event, which stands in the attribute `event`. */
export function sharedFields(source: LogSource, event: string): readonly object[] {
  const { severity, shared = {}, nothing = [], techniques } = source;
  const unknown = list(['', ...nothing]);
  return [
    ...(severity === undefined ? [] : severityOperators(severity, event)),
    ...Object.entries(shared).map(([name, paths]) => {
      const value = first(event, paths);
      return add(
        name,
        `let found = ${value}; type(found) == "string" && found not in ${unknown}`,
        // As Kubernetes writes it, with the runtime before it: containerd://6f2a…
        name === 'container.id' ? `last(split(${value}, "://"))` : value,
      );
    }),
    ...(techniques === undefined ? [] : [techniqueOperator(first(event, techniques))]),
  ];
}

function severityOperators({ fields, levels }: NonNullable<LogSource['severity']>, event: string): readonly object[] {
  const words = list(Object.values(levels).flat());
  const found = `let found = ${first(event, fields)}; type(found) == "array"`;
  return [
    add(
      'log.level',
      `${found} ? any(found, # in ${words}) : type(found) == "string" && found != ""`,
      `${found} ? find(found, # in ${words}) : found`,
    ),
    {
      type: 'severity_parser',
      if: 'attributes["log.level"] != nil',
      parse_from: 'attributes["log.level"]',
      mapping: levels,
      ...lenient,
    },
  ];
}

function techniqueOperator(labels: string): object {
  const isTechnique = `type(#) == "string" && # matches "${TECHNIQUE}"`;
  return add('threat.technique.id', `any(${labels} ?? [], ${isTechnique})`, `filter(${labels}, ${isTechnique})`);
}

/** Sets an attribute to the value of an expression, where a condition holds. */
function add(name: string, condition: string, value: string): object {
  return {
    type: 'add',
    if: literal(condition),
    field: `attributes["${name}"]`,
    value: literal(`EXPR(${value})`),
    ...lenient,
  };
}

/** The first of the paths that is there. */
function first(event: string, paths: readonly EventPath[]): string {
  return `(${paths.map((path) => optional(event, path)).join(' ?? ')})`;
}

/** A path in the collector's expression language that is nil where any part of it is missing. */
export function optional(event: string, path: EventPath): string {
  const links = path.replaceAll(/\.(?![^[]*\])/g, '?.').replaceAll('[', '?.[');
  return `${event}?.${links}`;
}

function list(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;
}
