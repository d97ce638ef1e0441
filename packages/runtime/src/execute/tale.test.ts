import { expect, test } from 'vitest';
import { changed, created, createdAgain, deleted, summarise } from './tale.ts';

const objects = (count: number) => Array.from({ length: count }, (_, n) => `ConfigMap ns/c${n}`);

test('a few are told one by one', () => {
  const few = objects(3).map(created);
  expect(summarise(few)).toEqual(few);
});

test('many of a sort are summed up, and name every object', () => {
  const told = summarise(objects(5).map(created));
  expect(told.map(({ message }) => message)).toEqual([
    'created 5 objects: ConfigMap ns/c0, ConfigMap ns/c1, ConfigMap ns/c2, ConfigMap ns/c3, ConfigMap ns/c4',
  ]);
});

test('what has another reason is another sort', () => {
  const gone = [...objects(4).map((one) => deleted(one, 'no longer wanted')), deleted('Job ns/j', 'it has failed')];
  expect(summarise(gone).map(({ message }) => message)).toEqual([
    'deleted 4 objects (no longer wanted): ConfigMap ns/c0, ConfigMap ns/c1, ConfigMap ns/c2, ConfigMap ns/c3',
    'deleted Job ns/j: it has failed',
  ]);
});

test('repairs and changes are never summed up', () => {
  const repairs = objects(5).flatMap((one) => [
    changed(one, 'data.a: 1 → 2'),
    createdAgain(one, 'deleted by somebody else'),
  ]);
  expect(summarise(repairs)).toEqual(repairs);
});
