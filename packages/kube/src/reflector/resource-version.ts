/**
 * Comparing resource versions. Kubernetes' own are decimal numbers that only grow (etcd revisions; KEP-5504 makes that a
 * promise); an aggregated API may use anything else, and then no order is claimed.
 */
const decimal = /^[1-9]\d*$/;

/** True when `a` is certainly older than `b`. */
export function isOlder(a: string, b: string): boolean {
  if (!decimal.test(a) || !decimal.test(b)) return false;
  return a.length === b.length ? a < b : a.length < b.length;
}
