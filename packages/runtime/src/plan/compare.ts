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
import { matchItems } from './match.ts';
import { field, index, keyed, type Path, toText } from './path.ts';
import type { Change } from './plan.ts';
import { isQuantityField, toBillionths } from './quantity.ts';
import { isAbsent, isEmpty, isMap, isSame, isZero, type PlainMap } from './value.ts';

/** What identifies an object or belongs to the server: never applied, so never compared. */
const identity = new Set(['apiVersion', 'kind', 'metadata', 'status']);
const appliedMetadata = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const;

/** Every difference between a wanted object (as `toWanted` makes it) and the live one, by path. */
export function differences(wanted: KubeObject, live: Live, fieldManager: string): Change[] {
  const changes: Change[] = [];
  const { fields } = live;
  for (const part of appliedMetadata) {
    const here = childFields(childFields(fields, 'f:metadata'), `f:${part}`);
    compareField(
      field(field(undefined, 'metadata'), part),
      wanted.metadata[part],
      live.object.metadata[part],
      here,
      changes,
    );
  }
  const names = new Set([...Object.keys(wanted), ...fieldNames(fields ?? {})]);
  for (const name of [...names].sort()) {
    if (identity.has(name)) continue;
    const here = childFields(fields, `f:${name}`);
    compareField(field(undefined, name), wanted[name], live.object[name], here, changes);
  }
  // Restored from a backup, or written without server-side apply: nothing of it is ours until it is applied once.
  if (fields === undefined && changes.length === 0) {
    changes.push({ path: 'metadata.managedFields', from: undefined, to: fieldManager });
  }
  return changes;
}

/** Every difference between a wanted status and the live one; nothing else of the object is looked at. */
export function statusDifferences(wanted: KubeObject, live: Live): Change[] {
  const changes: Change[] = [];
  const fields = childFields(live.fields, 'f:status');
  compareField(field(undefined, 'status'), wanted.status, live.object.status, fields, changes);
  return changes;
}

/** Compares one field that may be wanted, there, and owned, in any combination. */
function compareField(path: Path, wanted: unknown, live: unknown, fields: Fields | undefined, changes: Change[]): void {
  if (isAbsent(wanted)) {
    if (fields !== undefined && !isAbsent(live)) changes.push({ path: toText(path), from: live, to: undefined });
  } else if (isAbsent(live)) {
    // Of many fields the server does not store the zero value; it is still ours then. Had somebody removed the field, it were not.
    if (fields !== undefined && (isZero(wanted) || isEmpty(wanted))) return;
    changes.push({ path: toText(path), from: undefined, to: wanted });
  } else if (fields === undefined) compareUnowned(path, wanted, live, changes);
  else if (isLeaf(fields)) compareWhole(path, wanted, live, changes);
  else if (isMap(wanted) && isMap(live)) compareMap(path, wanted, live, fields, changes);
  else if (Array.isArray(wanted) && Array.isArray(live)) compareList(path, wanted, live, fields, changes);
  else changes.push({ path: toText(path), from: live, to: wanted });
}

function compareMap(path: Path, wanted: PlainMap, live: PlainMap, fields: Fields, changes: Change[]): void {
  for (const name of Object.keys(wanted)) {
    compareField(field(path, name), wanted[name], live[name], childFields(fields, `f:${name}`), changes);
  }
  for (const name of fieldNames(fields)) {
    if (isAbsent(wanted[name]) && !isAbsent(live[name])) {
      changes.push({ path: toText(field(path, name)), from: live[name], to: undefined });
    }
  }
}

function compareList(
  path: Path,
  wanted: readonly unknown[],
  live: readonly unknown[],
  fields: Fields,
  changes: Change[],
): void {
  const matches = matchItems(wanted, live, fields);
  if (matches === undefined) {
    compareSet(path, wanted, live, setMembers(fields), changes);
    return;
  }
  for (const item of matches.items) {
    compareField(keyed(path, item.key), item.wanted, item.live, item.fields, changes);
  }
  if (!matches.ordered) changes.push({ path: `${toText(path)} (order)`, from: live, to: wanted });
}

function compareSet(
  path: Path,
  wanted: readonly unknown[],
  live: readonly unknown[],
  owned: readonly unknown[],
  changes: Change[],
): void {
  const has = (members: readonly unknown[], member: unknown) => members.some((other) => isSame(other, member));
  for (const member of wanted) {
    if (!has(live, member) || !has(owned, member)) {
      changes.push({ path: toText(path), from: has(live, member) ? member : undefined, to: member });
    }
  }
  for (const member of owned) {
    if (!has(wanted, member) && has(live, member)) changes.push({ path: toText(path), from: member, to: undefined });
  }
}

/** Nothing here is ours yet: the change names each field that becomes ours, also where the value is right already. */
function compareUnowned(path: Path, wanted: unknown, live: unknown, changes: Change[]): void {
  if (!isMap(wanted) || !isMap(live) || isEmpty(wanted)) {
    changes.push({ path: toText(path), from: live, to: wanted });
    return;
  }
  for (const name of Object.keys(wanted)) {
    compareField(field(path, name), wanted[name], live[name], undefined, changes);
  }
}

/**
 * Compares a value that is owned as a whole; walks into it only to name what differs. A map or list that is owned without content
 * counts as such a value: whether it is atomic, and then nobody else has filled it, or others own what is in it, nothing here
 * tells. If it is the latter, one apply leaves it as it is, and that settles it.
 */
function compareWhole(path: Path, wanted: unknown, live: unknown, changes: Change[]): void {
  if (isMap(wanted) && isMap(live)) {
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(live)])) {
      const here = field(path, name);
      if (isAbsent(wanted[name]) && (isAbsent(live[name]) || isDefault(here, live[name]))) continue;
      if (isAbsent(wanted[name]) || isAbsent(live[name])) {
        changes.push({ path: toText(here), from: live[name], to: wanted[name] });
      } else compareWhole(here, wanted[name], live[name], changes);
    }
  } else if (Array.isArray(wanted) && Array.isArray(live) && wanted.length === live.length) {
    for (const [i, item] of wanted.entries()) compareWhole(index(path, i), item, live[i], changes);
  } else if (!isSameScalar(path, wanted, live)) {
    changes.push({ path: toText(path), from: live, to: wanted });
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
  const parent = path.up?.name === '' ? (path.up.up?.name ?? '') : (path.up?.name ?? '');
  switch (path.name) {
    case 'protocol':
      return value === 'TCP';
    case 'apiGroup':
      return (parent === 'subjects' || parent === 'roleRef') && (value === 'rbac.authorization.k8s.io' || value === '');
    case 'apiVersion':
      return parent === 'fieldRef' && value === 'v1';
    case 'divisor':
      return parent === 'resourceFieldRef' && value === '0';
    default:
      return false;
  }
}
