/** One line for a person out of one line of JSON: time, level, which controller and key, the message, then the rest as name=value. */
interface Line {
  readonly time?: string;
  readonly level?: string;
  readonly message?: string;
  readonly controller?: string;
  readonly key?: string;
  readonly [name: string]: unknown;
}

const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 };

/** A stream for pino that writes the readable form of each line. */
export function createPrettyStream(write: (text: string) => unknown, colour: boolean): { write(text: string): void } {
  return { write: (text) => void write(`${toPrettyLine(JSON.parse(text) as Line, colour)}\n`) };
}

/** The readable form of one record, on one line but for a stack. */
export function toPrettyLine(line: Line, colour: boolean): string {
  const { time = '', level = 'info', message = '', controller, key, reconcileId: _, ...rest } = line;
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const parts = [paint(90, time.slice(11, 19)), paint(COLOURS[level] ?? 0, level.toUpperCase().padEnd(5))];
  const subject = [controller, key].filter((part) => part !== undefined).join(' ');
  if (subject !== '') parts.push(paint(1, subject));
  if (message !== '') parts.push(message);
  let stack = '';
  for (const [name, value] of Object.entries(rest)) {
    if (isError(value)) {
      parts.push(`${paint(90, `${name}=`)}${JSON.stringify(value.message)}`);
      if (level === 'error' && value.stack !== undefined) stack = `\n${value.stack.replace(/^/gm, '    ')}`;
    } else parts.push(`${paint(90, `${name}=`)}${toText(value)}`);
  }
  return parts.join(' ') + stack;
}

function isError(value: unknown): value is { message: string; stack?: string } {
  return typeof value === 'object' && value !== null && 'message' in value && 'name' in value;
}

function toText(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
