/** What of a feature could not be applied: the part of the engine's message that is about its objects, and of no others. */
import type { KubeObject } from '@keelson/schema';
import type { AssessContext } from './assessment.ts';

/** Why something that a feature wants was not applied at the last turn; undefined when all of it was. */
export function refusalOf({ wanted, failure }: Pick<AssessContext, 'wanted' | 'failure'>): string | undefined {
  if (failure === undefined) return undefined;
  const about = wanted.map(mention);
  // Each of several obstacles begins with the object that it is about, or with what could not be done to it.
  const parts = failure.message.split(/; (?=could not |likewise |and \d+ more|[A-Z]\w+ [a-z0-9])/);
  const ours = parts.filter((part) => about.some((pattern) => pattern.test(part)));
  return ours.length === 0 ? undefined : ours.join('; ');
}

/** An object as the engine calls it, and not one whose name only begins like its name. */
function mention({ kind, metadata: { namespace, name } }: KubeObject): RegExp {
  const text = namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
  return new RegExp(`(^|\\W)${text.replaceAll('.', '\\.')}(?![\\w-]|\\.\\w)`);
}
