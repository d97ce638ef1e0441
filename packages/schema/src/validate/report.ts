/** What is wrong with a value, in words for people, and where the validation stands while it looks. */

/** One thing that is wrong: `spec.replicas` `must be at least 1, got 0`. */
export interface Problem {
  readonly path: string;
  readonly message: string;
}

export interface Report {
  readonly path: (string | number)[];
  readonly problems: Problem[];
  /** How many more values may be copied: data that refers to itself must end. */
  budget: number;
}

/** An empty report, at the root or at a path. */
export function createReport(path: readonly (string | number)[] = []): Report {
  return { path: [...path], problems: [], budget: 1_000_000 };
}

/** Notes a problem at the present path, or at a field below it. */
export function note(report: Report, message: string, ...below: (string | number)[]): void {
  report.problems.push({ path: formatPath([...report.path, ...below]), message });
}

/** `spec.features[0].labels["app.kubernetes.io/name"]`. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}

/** A value as it is shown in a message: short, and never a whole document. */
export function show(value: unknown): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 57)}…` : value}'`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
