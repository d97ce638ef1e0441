/** What a run has achieved, counted as it goes, and the line that says so at the end. */
import type { Outcome } from './bulk.ts';
import type { Operation } from './operation.ts';

/** So many examples of refused documents are shown, and so many ids are remembered. */
const shown = 20;
const remembered = 1000;

export class Tally {
  reports = 0;
  documents = 0;
  created = 0;
  updated = 0;
  unchanged = 0;
  resolved = 0;
  refused = 0;
  retries = 0;
  /** Why nothing was marked as resolved, if so. */
  resolveSkipped: string | undefined;
  /** Everything was read and has an outcome. */
  complete = false;
  readonly #reasons: { id: string; status: number; reason: string }[] = [];
  readonly #refusedIds: string[] = [];

  /** For a document that was seen. */
  stored({ id }: Operation, outcome: Outcome): void {
    if (outcome.kind === 'refused') this.#refuse(id, outcome);
    else if (outcome.kind === 'conflict')
      this.#refuse(id, { status: 409, reason: 'changed by somebody else meanwhile' });
    else this[outcome.kind] += 1;
  }

  /** For a document that is gone; a conflict means that it is not. */
  marked({ id }: Operation, outcome: Outcome): void {
    if (outcome.kind === 'refused') this.#refuse(id, outcome);
    else if (outcome.kind !== 'conflict') this.resolved += 1;
  }

  /** The ids of what was refused, or undefined when they are too many to name. */
  refusedIds(): readonly string[] | undefined {
    return this.refused > remembered ? undefined : this.#refusedIds;
  }

  /** Documents that were read and of which nobody can say that they are stored. */
  #missing(): number {
    return this.documents - this.created - this.updated - this.unchanged;
  }

  /** One line of JSON; what became of the documents only where they were to be stored. */
  summary(about: { cluster?: string; index: string; namespace?: string }, seconds: number, stores: boolean): string {
    const { complete, reports, documents } = this;
    const read = { ...about, complete, reports, documents };
    const took = { seconds: Math.round(seconds * 10) / 10 };
    if (!stores) return JSON.stringify({ ...read, ...took });
    return JSON.stringify({
      ...read,
      created: this.created,
      updated: this.updated,
      unchanged: this.unchanged,
      resolved: this.resolved,
      ...(this.resolveSkipped === undefined ? {} : { resolveSkipped: this.resolveSkipped }),
      missing: this.#missing(),
      refused: this.#reasons,
      retries: this.retries,
      ...took,
    });
  }

  #refuse(id: string, { status, reason }: { status: number; reason: string }): void {
    this.refused += 1;
    if (this.#reasons.length < shown) this.#reasons.push({ id, status, reason });
    if (this.#refusedIds.length < remembered) this.#refusedIds.push(id);
  }
}
