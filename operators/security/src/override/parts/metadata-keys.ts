/** Keys of labels, annotations, node selectors and taints: a name of 63 characters, after the domain that it belongs to. */
import type { Problem } from '@keelson/schema';
import { below } from '../patch/plain.ts';

const name = /^([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** What is wrong with a key. */
export function keyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const prefix = key.slice(0, Math.max(0, slash));
  const isRight = name.test(key.slice(slash + 1)) && (slash === -1 || (domain.test(prefix) && prefix.length <= 253));
  return isRight
    ? undefined
    : "is no key: letters, digits, '-', '_' and '.', at most 63, after a domain and '/' if it has one, e.g. example.com/team";
}

/** What is wrong with the keys of a map. */
export function checkKeys(map: Readonly<Record<string, string>>, path: string): readonly Problem[] {
  return Object.keys(map).flatMap((key) => {
    const message = keyProblem(key);
    return message === undefined ? [] : [{ path: below(path, key), message }];
  });
}
