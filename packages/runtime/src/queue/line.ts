/** A line of items: first in, first out, and any of them can leave it in O(1). */
export interface LineItem<T> {
  before: T | undefined;
  after: T | undefined;
}

export interface Line<T extends LineItem<T>> {
  readonly size: number;
  readonly first: T | undefined;
  push(item: T): void;
  remove(item: T): void;
}

export function createLine<T extends LineItem<T>>(): Line<T> {
  let first: T | undefined;
  let last: T | undefined;
  let size = 0;
  return {
    get size() {
      return size;
    },
    get first() {
      return first;
    },
    push(item) {
      item.before = last;
      item.after = undefined;
      if (last === undefined) first = item;
      else last.after = item;
      last = item;
      size += 1;
    },
    remove(item) {
      if (item.before === undefined) first = item.after;
      else item.before.after = item.after;
      if (item.after === undefined) last = item.before;
      else item.after.before = item.before;
      item.before = undefined;
      item.after = undefined;
      size -= 1;
    },
  };
}
