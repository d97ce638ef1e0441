/** Paths of the Kubernetes API: computed from a kind alone, so that no call needs discovery. */
import { type Kind, resourceNameOf } from '@keelson/schema';
import { Fault } from './fault.ts';

/** What a request is about: for paths, messages, metrics and fairness. */
export interface Subject {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'read';
  readonly kind?: Kind;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** `/apis/apps/v1/namespaces/shop/deployments/web/status`; a namespaced object without a namespace is a `BadRequest` fault. */
export function pathOf(kind: Kind, subject: Omit<Subject, 'kind'>): string {
  const root = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
  const namespace = kind.scope === 'Namespaced' ? subject.namespace : undefined;
  const wide = subject.verb === 'list' || subject.verb === 'watch';
  if (kind.scope === 'Namespaced' && !wide && (namespace === undefined || namespace === '')) {
    const what = describeSubject({ ...subject, kind });
    throw new Fault(
      'BadRequest',
      `cannot ${subject.verb} ${what}: ${kind.kind} is namespaced and no namespace is given`,
    );
  }
  const within = namespace === undefined || namespace === '' ? '' : `/namespaces/${segment(namespace, 'namespace')}`;
  const name = subject.name === undefined ? '' : `/${segment(subject.name, 'name')}`;
  // A subresource may have segments of its own (`proxy/metrics`), each of which is checked.
  const sub =
    subject.subresource === undefined
      ? ''
      : `/${subject.subresource
          .split('/')
          .map((s) => segment(s, 'subresource'))
          .join('/')}`;
  return `${root}${within}/${kind.plural}${name}${sub}`;
}

/** `deployments.apps "web" in namespace "shop"`, for messages. */
export function describeSubject(subject: Subject): string {
  if (subject.kind === undefined) return subject.name ?? 'the API server';
  const sub = subject.subresource === undefined ? '' : `/${subject.subresource}`;
  const name = subject.name === undefined ? '' : ` "${subject.name}"`;
  const namespaced = subject.kind.scope === 'Namespaced' && subject.namespace !== undefined && subject.namespace !== '';
  return `${resourceNameOf(subject.kind)}${sub}${name}${namespaced ? ` in namespace "${subject.namespace}"` : ''}`;
}

/** A query string with its `?`, or '' when nothing is set. */
export function queryOf(parameters: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}

function segment(value: string, what: string): string {
  // Dots alone would climb out of the path, and encoding leaves them as they are.
  if (value === '' || value === '.' || value === '..') throw new Fault('BadRequest', `'${value}' is no ${what}`);
  return encodeURIComponent(value);
}
