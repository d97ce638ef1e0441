/** The names of a new operator, all out of the one that the user gave. Pure. */
import { failure } from '../failure.ts';

export interface Names {
  /** `mail-box`: the operator, the folder, the package. */
  readonly name: string;
  /** `MailBox`: the kind. */
  readonly kind: string;
  /** `mailBox`: the operator as a value. */
  readonly value: string;
  /** `mailboxes`: the resource. */
  readonly plural: string;
  /** `mail.example.com` */
  readonly group: string;
}

export function namesFor(name: string, group: string): Names {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 40) {
    throw failure(
      'usage',
      `'${name}' is no name for an operator`,
      'use at most 40 lower-case letters, digits and single hyphens, starting with a letter: mail-box',
    );
  }
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group)) {
    throw failure(
      'usage',
      `'${group}' is no API group`,
      'use a domain that you own, in lower case: --group mail.example.com',
    );
  }
  const kind = name.replace(/(^|-)([a-z0-9])/g, (_, _hyphen, letter: string) => letter.toUpperCase());
  return {
    name,
    kind,
    value: kind.charAt(0).toLowerCase() + kind.slice(1),
    plural: pluralOf(kind.toLowerCase()),
    group,
  };
}

/** As the Kubernetes code generators form plurals: proxies, boxes, classes, websites. */
function pluralOf(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}
