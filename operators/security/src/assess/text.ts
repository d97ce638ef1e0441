/** Short texts out of long ones: what the messages of conditions have in common. */

/** The longest message of one feature: a person reads it in a terminal. */
export const LONGEST_MESSAGE = 600;

/** `node-1, node-2 and node-3`; of many the first few and how many more: `node-1, node-2, node-3 and 17 more`. */
export function enumerate(names: readonly string[], shown = names.length): string {
  const more = names.length - shown;
  const parts = more > 0 ? [...names.slice(0, shown), `${more} more`] : names;
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** One line of at most so many characters. */
export function shorten(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`;
}

/** `1 restart`, `2 restarts` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
