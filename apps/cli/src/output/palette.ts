/** The few colours that the CLI uses, by meaning. A palette that is off returns text as it is. */
import { stripVTControlCharacters } from 'node:util';

export interface Palette {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly name: (text: string) => string;
}

const codes = {
  strong: [1, 22],
  faint: [2, 22],
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  name: [36, 39],
} as const;

export function palette(on: boolean): Palette {
  const colour = (meaning: keyof typeof codes) => {
    const [open, close] = codes[meaning];
    return (text: string): string => (on && text !== '' ? `\u001b[${open}m${text}\u001b[${close}m` : text);
  };
  return {
    strong: colour('strong'),
    faint: colour('faint'),
    good: colour('good'),
    bad: colour('bad'),
    warn: colour('warn'),
    name: colour('name'),
  };
}

/** How many columns a text takes on a terminal. */
export function widthOf(text: string): number {
  return [...stripVTControlCharacters(text)].length;
}
