/** Keys of labels, annotations, node selectors and taints (a name of 63 characters, after the domain that it belongs to), and label values. */
import type { Problem } from '@keelson/schema';
import { below } from '../patch/plain.ts';

const name = /^([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;
const domain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

type Texts = Readonly<Record<string, string>>;

/** What is wrong with a key. */
export function keyProblem(key: string): string | undefined {
  const slash = key.indexOf('/');
  const prefix = key.slice(0, Math.max(0, slash));
  const isRight = name.test(key.slice(slash + 1)) && (slash === -1 || (domain.test(prefix) && prefix.length <= 253));
  return isRight
    ? undefined
    : "is no key: letters, digits, '-', '_' and '.', at most 63, after a domain and '/' if it has one, e.g. example.com/team";
}

/** What is wrong with the value of a label, or of a taint. */
export function valueProblem(value: string): string | undefined {
  return value === '' || name.test(value)
    ? undefined
    : "must be at most 63 letters, digits, '-', '_' and '.', and begin and end with a letter or digit";
}

/** What is wrong with labels, or with a node selector. */
export function checkLabels(labels: Texts, path: string): readonly Problem[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const problem = keyProblem(key) ?? valueProblem(value);
    return problem === undefined ? [] : [{ path: below(path, key), message: problem }];
  });
}

/** What is wrong with annotations: their values may be anything, and their domains have no case. */
export function checkAnnotations(annotations: Texts, path: string): readonly Problem[] {
  return Object.keys(annotations).flatMap((key) => {
    const problem = keyProblem(key.toLowerCase());
    return problem === undefined ? [] : [{ path: below(path, key), message: problem }];
  });
}
