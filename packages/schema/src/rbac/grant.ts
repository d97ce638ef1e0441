/**
 * Permissions as data. A *grant* says what is needed and why; operators' grants are merged into the least set of RBAC rules that
 * covers them.
 *
 * Invariant: `mergeGrants` never grants more than the union of what it was given, and what a wider grant already covers is not
 * repeated. The runtime computes grants from what operators declare; toRbac and the permissions reference read the merged form.
 */
import { type Kind, resourceNameOf } from '../kind.ts';

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'bind'
  | 'escalate'
  | 'impersonate'
  | 'use'
  | '*';

export interface Grant {
  /** A kind, or only its group and plural. */
  readonly kind: Pick<Kind, 'group' | 'plural'> & Partial<Pick<Kind, 'scope'>>;
  readonly verbs: readonly Verb[];
  /**
   * Only these objects. `get`, `update`, `patch` and `delete` are checked by name; `list` and `watch` are when the request has the field
   * selector metadata.name; `create` is when the object is made by server-side apply, not when it is posted.
   */
  readonly names?: readonly string[];
  /** Only in this namespace. */
  readonly namespace?: string;
  /** `status`, `scale`, `finalizers`, `token`, `log`. */
  readonly subresource?: string;
  /** What for, in words for the person who has to approve it. */
  readonly why: string;
}

/** One RBAC rule and the reasons for it. */
export interface MergedRule {
  /** '' for the whole cluster. */
  readonly namespace: string;
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  /** Empty for all names. */
  readonly names: readonly string[];
  readonly why: readonly string[];
}

/** Names of objects, or all of them. */
type Names = ReadonlySet<string> | 'all';

interface Cell {
  readonly namespace: string;
  readonly group: string;
  readonly resource: string;
  readonly verbs: Map<Verb, Names>;
  readonly why: Map<Verb, Set<string>>;
}

const verbOrder: readonly Verb[] = [
  '*',
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'bind',
  'escalate',
  'impersonate',
  'use',
];

/** The least rules that cover the grants, in a stable order: whole cluster first, then by namespace, group, resource. */
export function mergeGrants(grants: readonly Grant[]): readonly MergedRule[] {
  const cells = new Map<string, Cell>();
  for (const grant of grants) addGrant(cells, grant);
  for (const cell of cells.values()) {
    dropCovered(cell, cell.verbs.get('*'), true);
    if (cell.namespace === '') continue;
    const wide = cells.get(keyOf('', cell.group, cell.resource));
    for (const [verb, names] of wide?.verbs ?? []) dropCovered(cell, names, false, verb);
  }
  return joinResources([...cells.values()].flatMap(toRules)).sort(compareRules);
}

function addGrant(cells: Map<string, Cell>, grant: Grant): void {
  checkGrant(grant);
  // In RBAC an empty list of names means every name; in a grant it means none.
  if (grant.names?.length === 0) return;
  const { group } = grant.kind;
  const namespace = grant.namespace ?? '';
  const resource = grant.subresource === undefined ? grant.kind.plural : `${grant.kind.plural}/${grant.subresource}`;
  const key = keyOf(namespace, group, resource);
  const cell = cells.get(key) ?? {
    namespace,
    group,
    resource,
    verbs: new Map<Verb, Names>(),
    why: new Map<Verb, Set<string>>(),
  };
  cells.set(key, cell);
  for (const verb of grant.verbs) {
    const before = cell.verbs.get(verb);
    cell.verbs.set(
      verb,
      before === 'all' || grant.names === undefined ? 'all' : new Set([...(before ?? []), ...grant.names]),
    );
    cell.why.set(verb, (cell.why.get(verb) ?? new Set()).add(grant.why));
  }
}

function checkGrant(grant: Grant): void {
  const what = `the grant on ${resourceNameOf(grant.kind)}`;
  if (grant.verbs.length === 0) throw new TypeError(`${what} has no verbs. Name at least one, for example get.`);
  if (grant.why.trim() === '')
    throw new TypeError(`${what} does not say why. Whoever installs the operator has to approve it: give the reason.`);
  if (grant.names !== undefined && grant.verbs.includes('deletecollection')) {
    throw new TypeError(`${what} restricts deletecollection by name, which the API server cannot check. Use delete.`);
  }
}

/** Removes from a cell what the given names already allow; with `verb` for that verb alone, without for all but `*`. */
function dropCovered(cell: Cell, names: Names | undefined, exceptStar: boolean, verb?: Verb): void {
  if (names === undefined) return;
  for (const [own, ownNames] of cell.verbs) {
    if (verb !== undefined && verb !== '*' && own !== verb) continue;
    if (exceptStar && own === '*') continue;
    if (names === 'all') cell.verbs.delete(own);
    else if (ownNames !== 'all') {
      const left = new Set([...ownNames].filter((name) => !names.has(name)));
      if (left.size === 0) cell.verbs.delete(own);
      else cell.verbs.set(own, left);
    }
  }
}

function toRules(cell: Cell): MergedRule[] {
  const byNames = new Map<string, { names: readonly string[]; verbs: Verb[] }>();
  for (const [verb, names] of cell.verbs) {
    const sorted = names === 'all' ? [] : [...names].sort();
    const key = sorted.join('\n');
    const rule = byNames.get(key) ?? { names: sorted, verbs: [] };
    rule.verbs.push(verb);
    byNames.set(key, rule);
  }
  return [...byNames.values()].map(({ names, verbs }) => ({
    namespace: cell.namespace,
    group: cell.group,
    resources: [cell.resource],
    verbs: verbs.sort((left, right) => verbOrder.indexOf(left) - verbOrder.indexOf(right)),
    names,
    why: [...new Set(verbs.flatMap((verb) => [...(cell.why.get(verb) ?? [])]))].sort(),
  }));
}

/** Resources of one group with the same verbs and names share a rule. */
function joinResources(rules: readonly MergedRule[]): MergedRule[] {
  const joined = new Map<string, MergedRule>();
  for (const rule of [...rules].sort(compareRules)) {
    const key = [rule.namespace, rule.group, rule.verbs.join(), rule.names.join()].join('\n');
    const before = joined.get(key);
    joined.set(
      key,
      before === undefined
        ? rule
        : {
            ...before,
            resources: [...before.resources, ...rule.resources],
            why: [...new Set([...before.why, ...rule.why])].sort(),
          },
    );
  }
  return [...joined.values()];
}

function keyOf(namespace: string, group: string, resource: string): string {
  return `${namespace}\n${group}\n${resource}`;
}

function compareRules(left: MergedRule, right: MergedRule): number {
  const keys = (rule: MergedRule): string[] => [
    rule.namespace,
    rule.group,
    rule.resources[0] ?? '',
    rule.names.join(),
    rule.verbs.join(),
  ];
  const [one, other] = [keys(left), keys(right)];
  const index = one.findIndex((key, at) => key !== other[at]);
  return index === -1 ? 0 : (one[index] ?? '') < (other[index] ?? '') ? -1 : 1;
}
