/** Cron schedules as Kubernetes takes them (https://pkg.go.dev/github.com/robfig/cron/v3, the standard parser): what is wrong with one, in words. */

interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Names of values, from the least on. */
  readonly words?: readonly string[];
}

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  {
    name: 'month',
    least: 1,
    most: 12,
    words: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of the week', least: 0, most: 6, words: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

const nicknames = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** What is wrong with a schedule; undefined when nothing is. */
export function scheduleFlaw(schedule: string): string | undefined {
  if (schedule.startsWith('@'))
    return nicknames.includes(schedule) ? undefined : `must be five fields or one of ${nicknames.join(', ')}`;
  if (/^(CRON_)?TZ=/.test(schedule)) return 'must not hold a time zone: set timeZone';
  const parts = schedule.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    const count = schedule.trim() === '' ? 0 : parts.length;
    return `must have five fields (${fields.map(({ name }) => name).join(', ')}), e.g. '0 */6 * * *', got ${count}`;
  }
  for (const [index, field] of fields.entries()) {
    const part = parts[index] ?? '';
    const flaw = part
      .split(',')
      .map((term) => termFlaw(term, field))
      .find((one) => one !== undefined);
    if (flaw !== undefined) return `${field.name} '${part}': ${flaw}`;
  }
  return undefined;
}

/** `*`, `5`, `1-5`, and each of them with a step: `*` + `/10`. */
function termFlaw(term: string, field: Field): string | undefined {
  const [range = '', step, ...rest] = term.split('/');
  if (rest.length > 0 || (step !== undefined && !/^[1-9]\d*$/.test(step))) return "a step is '/' and a number above 0";
  if (range === '*' || range === '?') return undefined;
  const bounds = range.split('-');
  const values = bounds.map((bound) => numberOf(bound, field));
  if (bounds.length > 2 || values.includes(undefined)) {
    const named = field.words === undefined ? '' : ` or ${field.words[0]} to ${field.words.at(-1)}`;
    return `must be *, or numbers from ${field.least} to ${field.most}${named}, as in 1, 1-3, 1,3 or */2`;
  }
  const [from = 0, to = from] = values;
  return from > to ? 'the range ends before it begins' : undefined;
}

function numberOf(text: string, { least, most, words = [] }: Field): number | undefined {
  const word = words.indexOf(text.toLowerCase());
  const value = word >= 0 ? least + word : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}
