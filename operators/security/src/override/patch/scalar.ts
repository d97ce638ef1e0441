/** Plain values of a pod's fields: whether one is of its type, and how that is said. */
import { isMap } from './plain.ts';

/** https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const quantityPattern = /^[+-]?(\d+(\.\d*)?|\.\d+)(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d+)?$/;

interface Scalar {
  readonly text: string;
  fits(value: unknown): boolean;
}

const isInteger = (value: unknown): boolean => Number.isInteger(value);
const isString = (value: unknown): boolean => typeof value === 'string';

const scalars: ReadonlyMap<string, Scalar> = new Map([
  ['string', { text: 'a string', fits: isString }],
  ['boolean', { text: 'true or false', fits: (value) => typeof value === 'boolean' }],
  ['integer', { text: 'a whole number', fits: isInteger }],
  ['number', { text: 'a number', fits: Number.isFinite }],
  ['int-or-string', { text: 'a whole number or a string', fits: (value) => isInteger(value) || isString(value) }],
  ['quantity', { text: 'an amount such as 100m or 128Mi', fits: isQuantity }],
  ['any', { text: 'anything', fits: () => true }],
]);

/** The plain type of this name; undefined when it is an object. */
export function scalarOf(type: string): Scalar | undefined {
  return scalars.get(type);
}

function isQuantity(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : typeof value === 'string' && quantityPattern.test(value);
}

/** `must be a string, got a list`. */
export function mustBe(text: string, value: unknown): string {
  return `must be ${text}, got ${shown(value)}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isMap(value)) return 'an object';
  if (typeof value === 'string') return `'${value.length > 60 ? `${value.slice(0, 57)}…` : value}'`;
  return value === undefined ? 'nothing' : String(value);
}
