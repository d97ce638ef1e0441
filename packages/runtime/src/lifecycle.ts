/**
 * A life cycle: the states an instance can be in and the transitions that are legal, as a table.
 *
 * Invariant: a life cycle that exists is sound: every state it names is declared, and every state can be reached from the
 * initial one. It is a value: the engine asks `check` before it writes a status (and makes each transition an event and a
 * metric), the reference docs print `toTable` and `toMermaid`, and tests ask `canMove`.
 */
import { isMap } from './plan/value.ts';

export interface LifecycleDefinition<State extends string> {
  /** The field of the status that holds the state, e.g. `phase` or `currentStatus.state`. */
  readonly field: string;
  /** The state of an instance that has none yet. */
  readonly initial: NoInfer<State>;
  readonly states: readonly State[];
  /** From each state to those that may follow it; a state that is left out has no way out. */
  readonly transitions: { readonly [From in NoInfer<State>]?: readonly NoInfer<State>[] };
  /** When given: exactly these states have no way out. It catches the one that lost its way out by mistake. */
  readonly terminal?: readonly NoInfer<State>[];
}

export type Move = { readonly legal: true } | { readonly legal: false; readonly message: string };

export interface Lifecycle<State extends string = string> {
  readonly field: string;
  readonly initial: State;
  readonly states: readonly State[];
  readonly transitions: Readonly<Record<State, readonly State[]>>;
  /** The states with no way out. */
  readonly terminal: readonly State[];
  /**
   * Whether an instance in `from` may be in `to` next; staying is always legal. No state yet, and a state that the table
   * does not know (left there by an older version of the operator), count as the initial state: neither can wedge an instance.
   */
  canMove(from: string | undefined, to: string): boolean;
  /** Like `canMove`, and says what would have been legal. */
  check(from: string | undefined, to: string): Move;
  isTerminal(state: string | undefined): boolean;
  /** The state that this status holds; undefined when it holds none. */
  stateIn(status: unknown): string | undefined;
  /** A Mermaid state diagram. */
  toMermaid(): string;
  /** A Markdown table: state, what may follow. */
  toTable(): string;
}

/** Makes a life cycle out of its table; throws and names every flaw when the table is not sound. */
export function defineLifecycle<const State extends string>(definition: LifecycleDefinition<State>): Lifecycle<State> {
  const { field, initial, states } = definition;
  const given = new Map<string, readonly State[]>(Object.entries(definition.transitions));
  const flaws = flawsOf(definition, given);
  if (flaws.length > 0) throw new TypeError(`life cycle of status.${field}: ${flaws.join('; ')}`);

  const transitions = Object.fromEntries(
    states.map((state) => [state, Object.freeze([...(given.get(state) ?? [])])]),
  ) as Record<State, readonly State[]>;
  const next = new Map<string, readonly State[]>(states.map((state) => [state, transitions[state]]));
  const followers = (from: string | undefined): readonly State[] => next.get(from ?? initial) ?? transitions[initial];

  const check = (from: string | undefined, to: string): Move => {
    if (!next.has(to))
      return { legal: false, message: `'${to}' is not a state of status.${field}: the states are ${list(states)}` };
    const origin = from !== undefined && next.has(from) ? from : initial;
    const legal = followers(origin);
    if (to === origin || legal.some((state) => state === to)) return { legal: true };
    const remedy = legal.length === 0 ? `'${origin}' is terminal` : `from '${origin}' only ${list(legal)} may follow`;
    return { legal: false, message: `status.${field} may not go from '${origin}' to '${to}': ${remedy}` };
  };

  return Object.freeze({
    field,
    initial,
    states: Object.freeze([...states]),
    transitions: Object.freeze(transitions),
    terminal: Object.freeze(states.filter((state) => transitions[state].length === 0)),
    canMove: (from: string | undefined, to: string) => check(from, to).legal,
    check,
    stateIn: (status: unknown) => {
      let found = status;
      for (const part of field.split('.')) found = isMap(found) ? found[part] : undefined;
      return typeof found === 'string' ? found : undefined;
    },
    isTerminal: (state: string | undefined) => followers(state).length === 0,
    toMermaid: () => {
      const arrows = states.flatMap((from) =>
        transitions[from].length === 0 ? [`${from} --> [*]`] : transitions[from].map((to) => `${from} --> ${to}`),
      );
      return ['stateDiagram-v2', `    [*] --> ${initial}`, ...arrows.map((arrow) => `    ${arrow}`), ''].join('\n');
    },
    toTable: () => {
      const rows = states.map((from) => {
        const name = from === initial ? `\`${from}\` (initial)` : `\`${from}\``;
        return `| ${name} | ${transitions[from].map((to) => `\`${to}\``).join(', ') || 'nothing: terminal'} |`;
      });
      return ['| state | may be followed by |', '|---|---|', ...rows, ''].join('\n');
    },
  });
}

function flawsOf<State extends string>(
  definition: LifecycleDefinition<State>,
  given: ReadonlyMap<string, readonly State[]>,
): string[] {
  const { field, initial, states, terminal } = definition;
  const known = new Set<string>(states);
  const flaws: string[] = [];
  if (!/^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*$/.test(field))
    flaws.push(`field '${field}' must be one field of the status, e.g. 'phase' or 'currentStatus.state'`);
  if (states.length === 0) return [...flaws, 'it has no states'];
  for (const [i, state] of states.entries()) {
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(state))
      flaws.push(`state '${state}' must be letters and digits, e.g. 'Running'`);
    if (states.indexOf(state) !== i) flaws.push(`state '${state}' is listed twice`);
  }
  if (!known.has(initial)) flaws.push(`initial state '${initial}' is not among the states ${list(states)}`);
  for (const [from, targets] of given) {
    if (!known.has(from)) flaws.push(`transitions from '${from}', which is not among the states ${list(states)}`);
    for (const [i, to] of targets.entries()) {
      if (!known.has(to)) flaws.push(`transition '${from}' → '${to}': '${to}' is not among the states ${list(states)}`);
      if (to === from) flaws.push(`transition '${from}' → '${to}': staying is always legal, remove it`);
      if (targets.indexOf(to) !== i) flaws.push(`transition '${from}' → '${to}' is listed twice`);
    }
  }
  const lost = known.has(initial) ? states.filter((state) => !reachable(initial, given).has(state)) : [];
  for (const state of lost)
    flaws.push(`state '${state}' cannot be reached from '${initial}': add a transition to it or remove it`);
  if (terminal !== undefined) {
    for (const state of terminal) {
      if (!known.has(state)) flaws.push(`terminal state '${state}' is not among the states ${list(states)}`);
      else if ((given.get(state) ?? []).length > 0)
        flaws.push(`state '${state}' is declared terminal but has transitions`);
    }
    for (const state of states) {
      if ((given.get(state) ?? []).length === 0 && !terminal.some((end) => end === state))
        flaws.push(`state '${state}' has no way out and is not declared terminal`);
    }
  }
  return flaws;
}

function reachable(initial: string, transitions: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set([initial]);
  // A set iterates over what is added to it on the way: this walks the whole graph.
  for (const state of seen) for (const next of transitions.get(state) ?? []) seen.add(next);
  return seen;
}

function list(states: readonly string[]): string {
  return states.map((state) => `'${state}'`).join(', ');
}
