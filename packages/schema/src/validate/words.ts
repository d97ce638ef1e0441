/** Patterns that Keelson's own fields use, with the words that a person needs when a value does not match. */

export const subdomainPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
export const labelPattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
export const labelValuePattern = '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$';
export const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';
export const durationPattern = '^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$';
export const urlPattern = '^https?://[^/\\s?#]+(/[^\\s]*)?$';
export const conditionTypePattern =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';
export const conditionReasonPattern = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';

const meanings = new Map([
  [
    subdomainPattern,
    "must be a name of lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
  ],
  [labelPattern, "must be a name of lower-case letters, digits and '-', beginning and ending with a letter or digit"],
  [labelValuePattern, "must be letters, digits, '-', '_' and '.', beginning and ending with a letter or digit"],
  [quantityPattern, 'must be a quantity such as 500m, 2 or 128Mi'],
  [durationPattern, 'must be a duration such as 500ms, 30s, 5m or 1h'],
  [conditionTypePattern, 'must be a name such as Ready or example.com/Ready'],
  [conditionReasonPattern, 'must be a word such as AllPodsReady'],
  [urlPattern, 'must be a URL that begins with http:// or https://'],
]);

/** What a well-known pattern asks for, in words. */
export function describePattern(pattern: string): string | undefined {
  return meanings.get(pattern);
}
