/** A binary heap whose items know their place, so that an item can be moved forward or taken out in O(log n). */
export interface HeapItem {
  /** Place in the heap; -1 when not in it. */
  place: number;
}

export interface Heap<T extends HeapItem> {
  readonly size: number;
  peek(): T | undefined;
  push(item: T): void;
  /** To be called after the order of an item that is in the heap has changed. */
  moved(item: T): void;
  remove(item: T): void;
}

export function createHeap<T extends HeapItem>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];

  function put(item: T, place: number): void {
    items[place] = item;
    item.place = place;
  }

  function settle(item: T, from: number): void {
    let place = from;
    for (;;) {
      const parent = (place - 1) >> 1;
      const above = place > 0 ? items[parent] : undefined;
      if (above === undefined || !isBefore(item, above)) break;
      put(above, place);
      place = parent;
    }
    for (;;) {
      const left = items[2 * place + 1];
      const right = items[2 * place + 2];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, item)) break;
      const next = child.place;
      put(child, place);
      place = next;
    }
    put(item, place);
  }

  return {
    get size() {
      return items.length;
    },
    peek: () => items[0],
    push(item) {
      settle(item, items.length);
    },
    moved: (item) => settle(item, item.place),
    remove(item) {
      const last = items.pop();
      if (last !== undefined && last !== item) settle(last, item.place);
      item.place = -1;
    },
  };
}
