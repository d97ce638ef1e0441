/**
 * Checks a strategic merge patch before it is merged: types, merge keys, and directives that would be ignored or would do something else
 * than they seem to. Null is fine anywhere: it takes a field away.
 */
import type { Problem } from '@keelson/schema';
import { checkValue } from './check-value.ts';
import type { FieldType } from './field-type.ts';
import { keyOf } from './list-order.ts';
import { below, isMap, type PlainMap } from './plain.ts';
import { podFields } from './pod-fields.ts';
import { mustBe, scalarOf } from './scalar.ts';
import { DELETE_FROM_LIST, DIRECTIVE, RETAIN_KEYS, SET_ELEMENT_ORDER } from './strategic-merge.ts';
import { unknownField } from './unknown-field.ts';

type ListType = Extract<FieldType, { readonly list: string }>;

/** Everything that is wrong with a patch on a value of this type; pure, and never throws. */
export function checkPatch(patch: unknown, type: FieldType, path: string): readonly Problem[] {
  if (patch === null || patch === undefined) return [];
  if (typeof type === 'object' && 'list' in type) return checkListPatch(patch, type, path);
  const isPlain = typeof type === 'string' && scalarOf(type) !== undefined;
  if (isPlain) return checkValue(patch, type, path);
  if (!isMap(patch)) return [{ path, message: mustBe('an object', patch) }];
  return [...directiveProblems(patch, type, path), ...fieldProblems(patch, type, path)];
}

function fieldProblems(patch: PlainMap, type: FieldType, path: string): readonly Problem[] {
  return Object.entries(patch).flatMap(([name, change]): readonly Problem[] => {
    if (name.startsWith('$') || change === null || change === undefined) return [];
    if (typeof type === 'object') return 'map' in type ? checkPatch(change, type.map, below(path, name)) : [];
    const object = podFields.get(type);
    const fieldType = object?.fields.get(name);
    if (fieldType !== undefined) return checkPatch(change, fieldType, below(path, name));
    return object === undefined ? [] : unknownField(name, change, object, path);
  });
}

function checkListPatch(patch: unknown, type: ListType, path: string): readonly Problem[] {
  if (!Array.isArray(patch)) return [{ path, message: mustBe('a list', patch) }];
  const { mergeKey } = type;
  // Of a list that is replaced every item is final, so that a directive within it would stay a field of that name.
  if (mergeKey === undefined) return [...checkValue(patch, type, path), ...strayDirectives(patch, path)];
  return patch.flatMap((item: unknown, index): readonly Problem[] => {
    const at = below(path, index);
    if (mergeKey === '') return checkValue(item, type.list, at);
    if (!isMap(item)) return [{ path: at, message: mustBe('an object', item) }];
    if (item[DIRECTIVE] === 'replace') return replaceItemProblems(item, at);
    const key = item[mergeKey];
    if (key === undefined || key === null)
      return [{ path: at, message: `needs ${mergeKey}: items of this list are told apart by it` }];
    return checkPatch(item, type.list, at);
  });
}

function replaceItemProblems(item: PlainMap, path: string): readonly Problem[] {
  if (Object.keys(item).length === 1) return [];
  return [
    {
      path,
      message: `${DIRECTIVE}: replace replaces the whole list and leaves out the item that it stands in: give it an item of its own`,
    },
  ];
}

function strayDirectives(items: readonly unknown[], path: string): readonly Problem[] {
  const strays = items.flatMap((item, index) =>
    isMap(item)
      ? Object.keys(item)
          .filter((name) => name.startsWith('$'))
          .map((name) => below(below(path, index), name))
      : [],
  );
  return strays.map((at) => ({ path: at, message: 'has no effect here: this list is replaced as a whole' }));
}

function directiveProblems(patch: PlainMap, type: FieldType, path: string): readonly Problem[] {
  return Object.entries(patch).flatMap(([name, value]): readonly Problem[] => {
    if (!name.startsWith('$')) return [];
    const message = directiveProblem(name, value, patch, type);
    return message === undefined ? [] : [{ path: below(path, name), message }];
  });
}

function directiveProblem(name: string, value: unknown, patch: PlainMap, type: FieldType): string | undefined {
  if (name === DIRECTIVE)
    return value === 'replace' || value === 'delete' ? undefined : mustBe("'replace' or 'delete'", value);
  if (name === RETAIN_KEYS) return retainKeysProblem(value, patch);
  if (name.startsWith(DELETE_FROM_LIST)) {
    const list = listType(type, name.slice(DELETE_FROM_LIST.length));
    if (list === undefined || scalarOf(list.list) === undefined) return 'there is no list of plain values of this name';
    return Array.isArray(value) ? undefined : mustBe('a list', value);
  }
  if (name.startsWith(SET_ELEMENT_ORDER)) {
    const list = name.slice(SET_ELEMENT_ORDER.length);
    return orderProblem(value, patch[list], listType(type, list)?.mergeKey);
  }
  return `unknown directive: there are ${DIRECTIVE}, ${RETAIN_KEYS}, ${SET_ELEMENT_ORDER}<list> and ${DELETE_FROM_LIST}<list>`;
}

function retainKeysProblem(names: unknown, patch: PlainMap): string | undefined {
  if (!Array.isArray(names)) return mustBe('a list of fields', names);
  const named = new Set<unknown>(names);
  const left = Object.keys(patch).filter((name) => !name.startsWith('$') && patch[name] !== null && !named.has(name));
  return left.length === 0 ? undefined : `must name every field that the patch sets: ${left.join(', ')} too`;
}

function orderProblem(order: unknown, items: unknown, mergeKey: string | undefined): string | undefined {
  if (mergeKey === undefined) return 'there is no merged list of this name';
  if (!Array.isArray(order)) return mustBe('a list', order);
  const keys = order.map((item) => keyOf(item, mergeKey));
  if (keys.includes(undefined)) return `every item needs ${mergeKey}`;
  if (items === null) return 'the same patch takes the list away';
  const changes = Array.isArray(items) ? items.filter((item) => !(isMap(item) && Object.hasOwn(item, DIRECTIVE))) : [];
  let next = 0;
  for (const change of changes) {
    const position = keys.indexOf(keyOf(change, mergeKey), next);
    if (position === -1) return 'must name every item of the list in the patch, in the order that they have there';
    next = position + 1;
  }
  return undefined;
}

function listType(type: FieldType, name: string): ListType | undefined {
  const field = typeof type === 'string' ? podFields.get(type)?.fields.get(name) : undefined;
  return typeof field === 'object' && 'list' in field ? field : undefined;
}
