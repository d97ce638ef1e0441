/**
 * Resource versions are decimal integers of any length (Kubernetes API concepts, "resource versions"; comparable since v1.34),
 * so they are compared as digits: no number type would hold them all, and no BigInt is allocated for each event.
 */
const DECIMAL = /^(0|[1-9]\d*)$/;

/** Below, equal to or above 0 as `a` is older than, the same as or newer than `b`; NaN when an unusual server gives something else than integers. */
export function compareResourceVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return Number.NaN;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** True when `a` is known to be older than `b`. */
export function isOlder(a: string, b: string): boolean {
  return compareResourceVersions(a, b) < 0;
}
