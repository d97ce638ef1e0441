/** A feature by all the names that it needs, derived from the one that the user gives. */
import { failure } from '../failure.ts';

export interface FeatureNames {
  /** `port_scan`: in a spec. */
  readonly id: string;
  /** `port-scan`: folder, workload, account. */
  readonly folder: string;
  /** `portScan`: the value. */
  readonly value: string;
  /** `Port scan`: for people. */
  readonly title: string;
}

/** Words that TypeScript keeps for itself and that would pass for a name otherwise. */
const reserved =
  /^(arguments|async|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield)$/;

export function featureNamesFor(name: string): FeatureNames {
  const words = name.split(/[-_]/);
  if (words.some((word) => !/^[a-z][a-z0-9]*$/.test(word)) || name.length > 40 || reserved.test(name)) {
    throw failure(
      'usage',
      `'${name}' is no name for a feature`,
      'use at most 40 lower-case letters and digits; words begin with a letter and are joined by one hyphen: port-scan',
    );
  }
  const [first = '', ...rest] = words;
  return {
    id: words.join('_'),
    folder: words.join('-'),
    value: [first, ...rest.map(capital)].join(''),
    title: [capital(first), ...rest].join(' '),
  };
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
