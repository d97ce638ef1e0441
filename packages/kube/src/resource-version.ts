/**
 * Comparing resource versions. Kubernetes' own are decimal numbers that only grow (etcd revisions; KEP-5504 makes that a
 * promise); an aggregated API may use anything else, and then no order is claimed. They are compared as digits: no number type
 * would hold them all, and no BigInt is allocated for each event.
 */
const decimal = /^[1-9]\d*$/;

/** Below, equal to or above 0 as `a` is older than, the same as or newer than `b`; NaN when nobody can tell. */
export function compareResourceVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (!decimal.test(a) || !decimal.test(b)) return Number.NaN;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** True when `a` is certainly older than `b`. */
export function isOlder(a: string, b: string): boolean {
  return compareResourceVersions(a, b) < 0;
}
