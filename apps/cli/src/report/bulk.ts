/**
 * Sends batches by `_bulk` and answers for every single operation in them: the request as a whole can succeed while items of it
 * fail. Items that the store had no room for are sent again; items that it will never take are kept with their reason.
 */

import type { Operation } from './operation.ts';
import { attempts, type Store } from './store.ts';

export type Outcome =
  | { readonly kind: 'created' | 'updated' | 'unchanged' | 'conflict' }
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string };

interface Item {
  readonly status: number;
  readonly result?: string;
  readonly error?: {
    readonly type?: string;
    readonly reason?: string;
    readonly caused_by?: { readonly reason?: string };
  };
}

const wanted =
  'errors,items.*.status,items.*.result,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason';

/** Tells the outcome of each operation, once. Rejects when the store cannot be reached: the rest then has no outcome. */
export async function sendBulk(
  store: Store,
  index: string,
  batch: readonly Operation[],
  tell: (operation: Operation, outcome: Outcome) => void,
): Promise<void> {
  let left = batch;
  for (let attempt = 0; left.length > 0; attempt += 1) {
    const items = await send(store, index, left);
    if (items === undefined) return sendHalves(store, index, left, tell);
    const busy: { operation: Operation; item: Item }[] = [];
    for (const [position, operation] of left.entries()) {
      const item = items[position] ?? { status: 500, error: { reason: 'the store gave no answer for it' } };
      if (item.status === 429 || item.status >= 500) busy.push({ operation, item });
      else tell(operation, outcomeOf(item, store));
    }
    const [first] = busy;
    if (first === undefined) return;
    if (attempt + 1 >= attempts) {
      for (const { operation, item } of busy) tell(operation, refusal(item, store));
      return;
    }
    left = busy.map(({ operation }) => operation);
    await store.pause(attempt, `it took all but ${left.length} of a batch: ${refusal(first.item, store).reason}`);
  }
}

/** The items in the order of the operations; undefined when the batch is too large for the store or a proxy before it. */
async function send(store: Store, index: string, batch: readonly Operation[]): Promise<readonly Item[] | undefined> {
  const answer = await store.send({
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_bulk?filter_path=${wanted}`,
    lines: batch.map(({ lines }) => lines).join(''),
  });
  if (answer.status === 413) return undefined;
  if (answer.status !== 200) throw store.unexpected(`_bulk to ${index}`, answer);
  const { items = [] } = JSON.parse(answer.body) as { items?: readonly Readonly<Record<string, Item>>[] };
  return items.map((item) => Object.values(item)[0] ?? { status: 500 });
}

async function sendHalves(
  store: Store,
  index: string,
  batch: readonly Operation[],
  tell: (operation: Operation, outcome: Outcome) => void,
): Promise<void> {
  const [first] = batch;
  if (batch.length === 1 && first !== undefined) {
    tell(first, { kind: 'refused', status: 413, reason: `its ${first.bytes} bytes are too many for the store` });
    return;
  }
  const middle = Math.ceil(batch.length / 2);
  await sendBulk(store, index, batch.slice(0, middle), tell);
  await sendBulk(store, index, batch.slice(middle), tell);
}

function outcomeOf(item: Item, store: Store): Outcome {
  if (item.status === 409) return { kind: 'conflict' };
  if (item.status >= 400) return refusal(item, store);
  if (item.result === 'created') return { kind: 'created' };
  return { kind: item.result === 'noop' ? 'unchanged' : 'updated' };
}

function refusal({ status, error }: Item, store: Store): Extract<Outcome, { kind: 'refused' }> {
  const told = [error?.type, error?.reason, error?.caused_by?.reason].filter((part) => part !== undefined);
  return { kind: 'refused', status, reason: store.redact(told.length === 0 ? `status ${status}` : told.join(': ')) };
}
