/**
 * The one implementation of `KubeClient`: each method builds a request and reads its answer, all else is the transport's.
 *
 * Invariant: JSON is parsed once and handed out as parsed; objects are never copied. Paths come from the kind alone.
 */
import type { Kind, KubeObject, Ref } from '@keelson/schema';
import { isHeld, listOf, objectOf } from './api-answer.ts';
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  GetOptions,
  KubeClient,
  ListOptions,
  LogOptions,
  Page,
  PatchBody,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';
import type { Discovery } from './discovery/discovery.ts';
import type { ServedKind } from './discovery/served-kind.ts';
import { isFault } from './fault.ts';
import { pathOf, queryOf, type Subject } from './path.ts';
import type { ApiRequest } from './transport/api-request.ts';
import type { Transport } from './transport/transport.ts';
import { watchEvents, withKind } from './watch.ts';

const json = 'application/json';
const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;
// Servers send a bookmark about once a minute, so two minutes of silence and a half mean a dead connection.
const defaultIdleTimeoutMs = 150_000;
const defaultPageSize = 500;
const podKind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', scope: 'Namespaced' } as const;

export class ApiClient implements KubeClient {
  readonly #transport: Transport;
  readonly #discovery: Discovery;

  constructor(transport: Transport, discovery: Discovery) {
    this.#transport = transport;
    this.#discovery = discovery;
  }

  async get<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: GetOptions = {}): Promise<T> {
    const subject = subjectOf('get', kind, ref, options.subresource);
    const request: ApiRequest = {
      method: 'GET',
      path: pathOf(kind, subject),
      subject,
      accept: acceptFor(options.metadataOnly, ''),
      repeatable: true,
      ...callOf(options),
    };
    const object = objectOf<T>(await this.#transport.call(request), subject);
    // A subresource such as scale has a kind of its own.
    return options.subresource === undefined ? withKind(object, kind) : object;
  }

  async find<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: GetOptions = {}): Promise<T | undefined> {
    try {
      return await this.get(kind, ref, options);
    } catch (error) {
      if (isFault(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    const subject = subjectOf('list', kind, options);
    const query = queryOf({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit,
      continue: options.continue,
      // A continue token carries the resourceVersion it belongs to; the server refuses both together.
      resourceVersion: options.continue === undefined ? options.resourceVersion : undefined,
      resourceVersionMatch: options.continue === undefined ? options.resourceVersionMatch : undefined,
    });
    const answer = await this.#transport.call({
      method: 'GET',
      path: pathOf(kind, subject) + query,
      subject,
      accept: acceptFor(options.metadataOnly, 'List'),
      repeatable: true,
      large: true,
      ...callOf(options),
    });
    const list = listOf<T>(answer, subject);
    const items = list.items ?? [];
    for (const item of items) withKind(item, kind);
    const { resourceVersion = '', continue: next, remainingItemCount } = list.metadata ?? {};
    return {
      items,
      resourceVersion,
      ...(next === undefined || next === '' ? {} : { continue: next }),
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
    };
  }

  async listAll<T extends KubeObject>(kind: Kind<T>, options: ListOptions = {}): Promise<Page<T>> {
    try {
      return await this.#listPages(kind, { limit: defaultPageSize, ...options });
    } catch (error) {
      if (!isFault(error, 'Expired', 'Gone')) throw error;
      // The snapshot was compacted between two pages. In one piece it cannot expire.
      const { limit: _, continue: __, ...whole } = options;
      return this.#listPages(kind, whole);
    }
  }

  async #listPages<T extends KubeObject>(kind: Kind<T>, options: ListOptions): Promise<Page<T>> {
    const first = await this.list(kind, options);
    const { items } = first;
    for (let next = first.continue; next !== undefined; ) {
      const page = await this.list(kind, { ...options, continue: next });
      for (const item of page.items) items.push(item);
      next = page.continue;
    }
    return { items, resourceVersion: first.resourceVersion };
  }

  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions = {}): AsyncGenerator<WatchEvent<T>, void, void> {
    const subject = subjectOf('watch', kind, options);
    const query = queryOf({
      watch: true,
      allowWatchBookmarks: true,
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      resourceVersion: options.resourceVersion,
      timeoutSeconds: options.timeoutSeconds,
      ...(options.sendInitialEvents === true ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } : {}),
    });
    const request: ApiRequest = {
      method: 'GET',
      path: pathOf(kind, subject) + query,
      subject,
      accept: acceptFor(options.metadataOnly, ''),
      repeatable: true,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    };
    const { idleTimeoutMs = defaultIdleTimeoutMs, onOpen } = options;
    return watchEvents(this.#transport, request, kind, idleTimeoutMs, onOpen);
  }

  async create<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { name, namespace } = object.metadata;
    const sub = options.subresource;
    // The name stands in the path only below it: an object is created in its collection.
    const named = subjectOf('create', kind, { name, ...(namespace === undefined ? {} : { namespace }) }, sub);
    const { name: _, ...collection } = named;
    return this.#write(
      kind,
      named,
      'POST',
      json,
      object,
      options,
      pathOf(kind, sub === undefined ? collection : named),
    );
  }

  async update<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.#write(
      kind,
      subjectOf('update', kind, object.metadata, options.subresource),
      'PUT',
      json,
      object,
      options,
    );
  }

  async patch<T extends KubeObject>(kind: Kind<T>, ref: Ref, patch: PatchBody, options: WriteOptions = {}): Promise<T> {
    const subject = subjectOf('patch', kind, ref, options.subresource);
    const body = patch.type === 'json' ? patch.operations : patch.value;
    return this.#write(kind, subject, 'PATCH', patchTypes[patch.type], body, options);
  }

  async apply<T extends KubeObject>(kind: Kind<T>, object: KubeObject, options: ApplyOptions): Promise<T> {
    const subject = subjectOf('apply', kind, object.metadata, options.subresource);
    return this.#write(kind, subject, 'PATCH', 'application/apply-patch+yaml', object, options);
  }

  async #write<T extends KubeObject>(
    kind: Kind<T>,
    subject: Subject,
    method: 'POST' | 'PUT' | 'PATCH',
    contentType: string,
    body: unknown,
    options: WriteOptions & Pick<ApplyOptions, 'force' | 'once'>,
    path = pathOf(kind, subject),
  ): Promise<T> {
    const query = queryOf({
      fieldManager: options.fieldManager,
      force: options.force,
      dryRun: options.dryRun === true ? 'All' : undefined,
    });
    const answer = await this.#transport.call({
      method,
      path: path + query,
      subject,
      accept: json,
      contentType,
      body: JSON.stringify(body),
      repeatable: (subject.verb === 'apply' && options.once !== true) || options.dryRun === true,
      ...callOf(options),
    });
    return objectOf<T>(answer, subject);
  }

  async delete<T extends KubeObject>(kind: Kind<T>, ref: Ref, options: DeleteOptions = {}): Promise<T | undefined> {
    const subject = subjectOf('delete', kind, ref);
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...(options.propagation === undefined ? {} : { propagationPolicy: options.propagation }),
      ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
      ...(options.gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: options.gracePeriodSeconds }),
      ...(options.dryRun === true ? { dryRun: ['All'] } : {}),
    };
    const answer = await this.#transport.call({
      method: 'DELETE',
      path: pathOf(kind, subject),
      subject,
      accept: json,
      contentType: json,
      body: JSON.stringify(body),
      repeatable: false,
      ...callOf(options),
    });
    const left = objectOf<T>(answer, subject);
    // A Status says that it is gone. Some servers send the object in its last state instead: it is gone when nothing holds it.
    return left.kind !== 'Status' && isHeld(left) ? withKind(left, kind) : undefined;
  }

  async *logs(ref: Ref & { container?: string }, options: LogOptions = {}): AsyncGenerator<string, void, void> {
    const subject = subjectOf('get', podKind, ref, 'log');
    const query = queryOf({
      container: ref.container,
      follow: options.follow,
      tailLines: options.tailLines,
      previous: options.previous,
      sinceSeconds: options.sinceSeconds,
      timestamps: options.timestamps,
    });
    const request: ApiRequest = {
      method: 'GET',
      path: pathOf(podKind, subject) + query,
      subject,
      accept: '*/*',
      repeatable: true,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    };
    const exchange = await this.#transport.stream(request);
    const decoder = new TextDecoder();
    try {
      for (let chunk = await exchange.read(); chunk !== undefined; chunk = await exchange.read()) {
        const text = decoder.decode(chunk, { stream: true });
        if (text !== '') yield text;
      }
      const rest = decoder.decode();
      if (rest !== '') yield rest;
    } catch (error) {
      throw this.#transport.streamFault(error, request);
    } finally {
      exchange.cancel(new Error('the log is no longer read'));
    }
  }

  resolve(ref: { apiVersion: string; kind: string }, options: CallOptions = {}): Promise<Kind | undefined> {
    return this.#discovery.resolve(ref, options);
  }

  kinds(options: CallOptions = {}): Promise<readonly ServedKind[]> {
    return this.#discovery.kinds(options);
  }

  async raw(
    path: string,
    options: CallOptions & { method?: ApiRequest['method']; body?: unknown } = {},
  ): Promise<{ status: number; body: string }> {
    const method = options.method ?? 'GET';
    const answer = await this.#transport.call({
      method,
      path,
      subject: { verb: 'read', name: path },
      accept: `${json}, */*`,
      repeatable: method === 'GET',
      anyStatus: true,
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body), contentType: json }),
      ...callOf(options),
    });
    return { status: answer.status, body: answer.body.toString('utf8') };
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

function subjectOf(verb: Subject['verb'], kind: Kind, ref: Partial<Ref>, subresource?: string): Subject {
  return {
    verb,
    kind,
    ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
    ...(ref.name === undefined ? {} : { name: ref.name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function callOf(options: CallOptions): Pick<ApiRequest, 'signal' | 'timeoutMs' | 'urgent' | 'guard'> {
  return {
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.urgent === undefined ? {} : { urgent: options.urgent }),
    ...(options.guard === undefined ? {} : { guard: options.guard }),
  };
}

function acceptFor(metadataOnly: boolean | undefined, suffix: '' | 'List'): string {
  return metadataOnly === true ? `${json};as=PartialObjectMetadata${suffix};g=meta.k8s.io;v=v1` : json;
}
