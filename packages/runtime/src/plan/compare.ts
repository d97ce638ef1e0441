/**
 * Compares what is wanted with what is there, on the fields that our field manager owns. Pure, and knows no schema: how the
 * server merges a list (by key, as a set, as a whole) is read from the field set.
 *
 * A difference is: a wanted value that is not there; a wanted field that we do not own (somebody took it, or it is new); a
 * field that we own and no longer want. An empty value is a value: `{}` selects everything or turns a feature on, and `[]` is
 * how rights are taken away. Fields of others are never looked at. What the server writes differently than we send it (defaults
 * inside atomic values, canonical forms, empty values that it does not store) and is not covered here shows up as a difference
 * that an apply does not remove: `settled.ts` keeps that from becoming a loop.
 */
import type { KubeObject } from '@keelson/schema';
import type { Live } from '../cache/store.ts';
import { childFields, type Fields, fieldNames, isLeaf, setMembers } from './fields.ts';
import { isTakenWhole } from './holders.ts';
import { matchItems } from './match.ts';
import { field, index, keyed, member, order, type Path, toText } from './path.ts';
import type { Change } from './plan.ts';
import { isQuantityField, toBillionths } from './quantity.ts';
import { isAbsent, isEmpty, isMap, isSame, isZero, type PlainMap } from './value.ts';

/** What identifies an object or belongs to the server: never applied, so never compared. */
const identity = new Set(['apiVersion', 'kind', 'metadata', 'status']);
const appliedMetadata = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

/** One field that differs, and where. */
export interface Difference {
  readonly path: Path;
  readonly from: unknown;
  readonly to: unknown;
}

/** What was found so far, in the live object that is looked at. */
interface Findings {
  readonly live: Live;
  readonly found: Difference[];
}

/** Every difference between a wanted object (as `toWanted` makes it) and the live one. */
export function differencesAt(wanted: KubeObject, live: Live, fieldManager: string): Difference[] {
  const findings: Findings = { live, found: [] };
  const { fields } = live;
  for (const part of appliedMetadata) {
    const here = childFields(childFields(fields, 'f:metadata'), `f:${part}`);
    compareField(
      field(field(undefined, 'metadata'), part),
      wanted.metadata[part],
      live.object.metadata[part],
      here,
      findings,
    );
  }
  const names = new Set([...Object.keys(wanted), ...fieldNames(fields ?? {})]);
  for (const name of [...names].sort()) {
    if (identity.has(name)) continue;
    const here = childFields(fields, `f:${name}`);
    compareField(field(undefined, name), wanted[name], live.object[name], here, findings);
  }
  // Restored from a backup, or written without server-side apply: nothing of it is ours until it is applied once.
  if (fields === undefined && findings.found.length === 0) {
    const path = field(field(undefined, 'metadata'), 'managedFields');
    findings.found.push({ path, from: undefined, to: fieldManager });
  }
  return findings.found;
}

/** Every difference between a wanted object and the live one, by path. */
export function differences(wanted: KubeObject, live: Live, fieldManager: string): Change[] {
  return differencesAt(wanted, live, fieldManager).map(toChange);
}

/** Every difference between a wanted status and the live one; nothing else of the object is looked at. */
export function statusDifferences(wanted: KubeObject, live: Live): Change[] {
  const findings: Findings = { live, found: [] };
  const fields = childFields(live.fields, 'f:status');
  compareField(field(undefined, 'status'), wanted.status, live.object.status, fields, findings);
  return findings.found.map(toChange);
}

/** A difference with its place in words. */
export function toChange({ path, from, to }: Difference): Change {
  return { path: toText(path), from, to };
}

/** Compares one field that may be wanted, there, and owned, in any combination. */
function compareField(
  path: Path,
  wanted: unknown,
  live: unknown,
  fields: Fields | undefined,
  findings: Findings,
): void {
  if (isAbsent(wanted)) {
    if (fields !== undefined && !isAbsent(live)) findings.found.push({ path, from: live, to: undefined });
  } else if (isAbsent(live)) {
    // Of many fields the server does not store the zero value; it is still ours then. Had somebody removed the field, it were not.
    if (fields !== undefined && (isZero(wanted) || isEmpty(wanted))) return;
    findings.found.push({ path, from: undefined, to: wanted });
  } else if (fields === undefined) compareUnowned(path, wanted, live, findings);
  else if (isLeaf(fields)) compareWhole(path, wanted, live, findings);
  else if (isMap(wanted) && isMap(live)) compareMap(path, wanted, live, fields, findings);
  else if (Array.isArray(wanted) && Array.isArray(live)) compareList(path, wanted, live, fields, findings);
  else findings.found.push({ path, from: live, to: wanted });
}

function compareMap(path: Path, wanted: PlainMap, live: PlainMap, fields: Fields, findings: Findings): void {
  for (const name of Object.keys(wanted)) {
    compareField(field(path, name), wanted[name], live[name], childFields(fields, `f:${name}`), findings);
  }
  for (const name of fieldNames(fields)) {
    if (isAbsent(wanted[name]) && !isAbsent(live[name])) {
      findings.found.push({ path: field(path, name), from: live[name], to: undefined });
    }
  }
}

function compareList(
  path: Path,
  wanted: readonly unknown[],
  live: readonly unknown[],
  fields: Fields,
  findings: Findings,
): void {
  const matches = matchItems(wanted, live, fields);
  if (matches === undefined) {
    compareSet(path, wanted, live, setMembers(fields), findings);
    return;
  }
  for (const item of matches.items) {
    compareField(keyed(path, item.key), item.wanted, item.live, item.fields, findings);
  }
  if (!matches.ordered) findings.found.push({ path: order(path), from: live, to: wanted });
}

function compareSet(
  path: Path,
  wanted: readonly unknown[],
  live: readonly unknown[],
  owned: readonly unknown[],
  findings: Findings,
): void {
  const has = (members: readonly unknown[], value: unknown) => members.some((other) => isSame(other, value));
  for (const value of wanted) {
    if (!has(live, value) || !has(owned, value)) {
      findings.found.push({ path: member(path, value), from: has(live, value) ? value : undefined, to: value });
    }
  }
  for (const value of owned) {
    if (has(wanted, value) || !has(live, value)) continue;
    findings.found.push({ path: member(path, value), from: value, to: undefined });
  }
}

/** Nothing here is ours: the difference names each field that becomes ours, also where the value is right already. */
function compareUnowned(path: Path, wanted: unknown, live: unknown, findings: Findings): void {
  const { found } = findings;
  const before = found.length;
  if (isTakenWhole(findings.live, path)) compareTaken(path, wanted, live, findings);
  else if (isMap(wanted) && isMap(live)) {
    for (const name of Object.keys(wanted)) {
      compareField(field(path, name), wanted[name], live[name], undefined, findings);
    }
  }
  if (found.length === before) found.push({ path, from: live, to: wanted });
}

/** Walks into a value that is somebody else's as a whole, to name what they made of it: also which items they added or took away. */
function compareTaken(path: Path, wanted: unknown, live: unknown, findings: Findings): void {
  if (!Array.isArray(wanted) || !Array.isArray(live) || wanted.length === live.length) {
    compareWhole(path, wanted, live, findings);
    return;
  }
  const [short, long] = wanted.length < live.length ? [wanted, live] : [live, wanted];
  let start = 0;
  while (start < short.length && isSame(short[start], long[start])) start += 1;
  const end = start + long.length - short.length;
  if (!short.slice(start).every((item, i) => isSame(item, long[end + i]))) {
    findings.found.push({ path, from: live, to: wanted });
    return;
  }
  for (const [i, item] of long.slice(start, end).entries()) {
    const here = index(path, start + i);
    findings.found.push(
      long === live ? { path: here, from: item, to: undefined } : { path: here, from: undefined, to: item },
    );
  }
}

/**
 * Compares a value that is owned as a whole; walks into it only to name what differs. A map or list that is owned without content
 * counts as such a value: whether it is atomic, and then nobody else has filled it, or others own what is in it, nothing here
 * tells. If it is the latter, one apply leaves it as it is, and that settles it.
 */
function compareWhole(path: Path, wanted: unknown, live: unknown, findings: Findings): void {
  if (isMap(wanted) && isMap(live)) {
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(live)])) {
      const here = field(path, name);
      if (isAbsent(wanted[name]) && (isAbsent(live[name]) || isDefault(here, live[name]))) continue;
      if (isAbsent(wanted[name]) || isAbsent(live[name])) {
        findings.found.push({ path: here, from: live[name], to: wanted[name] });
      } else compareWhole(here, wanted[name], live[name], findings);
    }
  } else if (Array.isArray(wanted) && Array.isArray(live) && wanted.length === live.length) {
    for (const [i, item] of wanted.entries()) compareWhole(index(path, i), item, live[i], findings);
  } else if (!isSameScalar(path, wanted, live)) {
    findings.found.push({ path, from: live, to: wanted });
  }
}

function isSameScalar(path: Path, wanted: unknown, live: unknown): boolean {
  if (isSame(wanted, live)) return true;
  if (!isQuantityField(path.name, path.up?.name ?? '')) return false;
  const worth = toBillionths(wanted);
  return worth !== undefined && worth === toBillionths(live);
}

/**
 * Defaults that the API server fills in inside atomic values of the built-in kinds, where they count as ours. (Defaults
 * elsewhere belong to nobody and are not compared.) Values: the `SetDefaults_*` functions of the Kubernetes API groups.
 */
function isDefault(path: Path, value: unknown): boolean {
  const above = path.up?.name === '' ? path.up.up : path.up;
  const parent = above?.name ?? '';
  switch (path.name) {
    case 'protocol':
      return value === 'TCP';
    case 'apiGroup':
      return (parent === 'subjects' || parent === 'roleRef') && (value === 'rbac.authorization.k8s.io' || value === '');
    case 'apiVersion':
      return (parent === 'fieldRef' || parent === 'volumeClaimTemplates') && value === 'v1';
    case 'kind':
      return parent === 'volumeClaimTemplates' && value === 'PersistentVolumeClaim';
    case 'status':
      return parent === 'volumeClaimTemplates';
    case 'volumeMode':
      return above?.up?.up?.name === 'volumeClaimTemplates' && value === 'Filesystem';
    case 'divisor':
      return parent === 'resourceFieldRef' && value === '0';
    default:
      return false;
  }
}
