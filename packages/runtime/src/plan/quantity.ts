/**
 * Quantities: the API server stores `1000m` as `1` and `1024Mi` as `1Gi`, so amounts are compared by what they are worth.
 * Notation: Kubernetes docs, "Quantity" (apimachinery `resource.Quantity`).
 */
const binary: Readonly<Record<string, bigint>> = {
  Ki: 1024n,
  Mi: 1024n ** 2n,
  Gi: 1024n ** 3n,
  Ti: 1024n ** 4n,
  Pi: 1024n ** 5n,
  Ei: 1024n ** 6n,
};
const decimal: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** The server keeps nothing finer than a billionth. */
const FINEST = 9;

/** What a quantity is worth in billionths (rounded up, as the server does); undefined when it is none. */
export function toBillionths(quantity: unknown): bigint | undefined {
  if (typeof quantity !== 'string' && typeof quantity !== 'number') return undefined;
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,2}))?$/.exec(String(quantity));
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', power2, power10 = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const shift = (exponent === undefined ? (decimal[power10] ?? 0) : Number(exponent)) + FINEST - fraction.length;
  let worth = BigInt(whole + fraction) * (power2 === undefined ? 1n : (binary[power2] ?? 1n));
  if (shift >= 0) worth *= 10n ** BigInt(shift);
  else {
    const divisor = 10n ** BigInt(-shift);
    worth = (worth + divisor - 1n) / divisor;
  }
  return sign === '-' ? -worth : worth;
}

/** Fields whose members are quantities, and fields that are one, in every built-in kind. */
const lists = new Set([
  'limits',
  'requests',
  'capacity',
  'hard',
  'default',
  'defaultRequest',
  'max',
  'min',
  'maxLimitRequestRatio',
  'podFixed',
]);
const single = new Set(['sizeLimit', 'divisor', 'averageValue']);

/** True when the field holds a quantity. */
export function isQuantityField(name: string, parent: string): boolean {
  return lists.has(parent) || single.has(name);
}
