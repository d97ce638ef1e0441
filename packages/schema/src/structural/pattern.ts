/** Regular expressions that mean the same to JavaScript and to the API server, which uses Go's RE2. */
import { fail, type Place } from './schema.ts';

const notInRe2: readonly (readonly [RegExp, string])[] = [
  [/\(\?[=!]/, 'a lookahead'],
  [/\(\?<[=!]/, 'a lookbehind'],
  [/\\[1-9]/, 'a back-reference'],
  [/\\k</, 'a back-reference'],
  [/\\u/, 'a \\u escape (RE2 writes \\x{…})'],
  [/\\c[A-Za-z]/, 'a control escape'],
];

/** The source of a pattern, refused when RE2 or JavaScript would not take it. */
export function toPattern(value: unknown, place: Place): string {
  const source = value instanceof RegExp ? value.source : String(value);
  if (value instanceof RegExp && value.flags.replace(/[uvdgy]/g, '') !== '') {
    fail(
      place,
      `the pattern /${source}/${value.flags} carries flags, which a CRD has no place for`,
      'Write the pattern without flags',
    );
  }
  // Escaped backslashes hide what follows them: `\\1` is a backslash and a digit.
  const bare = source.replace(/\\\\/g, '');
  for (const [sign, name] of notInRe2) {
    if (sign.test(bare)) {
      fail(
        place,
        `the pattern ${source} uses ${name}, which the API server's regular expressions (RE2) do not know`,
        'Write it without, or check it in a rule',
      );
    }
  }
  compilePattern(source, place);
  return source;
}

/** Compiles a pattern as the API server would apply it: by code points, unanchored. */
export function compilePattern(source: string, place: Pick<Place, 'subject' | 'path'>): RegExp {
  const compiled = tryCompile(source, 'u') ?? tryCompile(source, '');
  return compiled ?? fail(place, `the pattern ${source} is not a regular expression`, 'Correct it');
}

function tryCompile(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}
