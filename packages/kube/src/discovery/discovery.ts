/**
 * Discovery: which kinds a server serves. Read once and kept; a kind that is not found makes it read again (at most every two
 * seconds, shared by all who ask), so a CRD that just appeared is found by the next question. An unchanged answer costs
 * the server a 304.
 *
 * Invariant: one broken part (an aggregated API that is down) never hides the rest. Used by `client.resolve` and
 * `client.kinds` only: calls with a Kind need no discovery.
 */
import type { Kind } from '@keelson/schema';
import { orAborted } from '../abort.ts';
import type { CallOptions } from '../client.ts';
import type { Clock } from '../clock.ts';
import { Fault, isFault } from '../fault.ts';
import type { Answer } from '../transport/api-request.ts';
import type { Transport } from '../transport/transport.ts';
import { aggregatedAccept, type GroupDiscoveryList, kindsOfAggregated } from './aggregated.ts';
import { type GroupList, groupVersionsOf, kindsOfResourceList, type ResourceList, type VersionList } from './legacy.ts';
import type { ServedKind } from './served-kind.ts';

const roots = ['/api', '/apis'] as const;
const refreshEveryMs = 2_000;

interface RootDocument {
  readonly etag?: string;
  readonly document: GroupDiscoveryList & VersionList & GroupList;
}

export class Discovery {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #documents = new Map<string, RootDocument>();
  #kinds: readonly ServedKind[] | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<readonly ServedKind[]> | undefined;

  constructor(transport: Transport, clock: Clock) {
    this.#transport = transport;
    this.#clock = clock;
  }

  /** The kind that the server serves under this name, or undefined. */
  async resolve(ref: { apiVersion: string; kind: string }, options: CallOptions): Promise<Kind | undefined> {
    const slash = ref.apiVersion.indexOf('/');
    const group = slash === -1 ? '' : ref.apiVersion.slice(0, slash);
    const version = ref.apiVersion.slice(slash + 1);
    const find = (kinds: readonly ServedKind[]) =>
      kinds.find((each) => each.kind === ref.kind && each.version === version && each.group === group);
    const known = this.#kinds === undefined ? undefined : find(this.#kinds);
    return known ?? find(await this.kinds(options));
  }

  /** Everything that is served, at most two seconds old. */
  async kinds(options: CallOptions): Promise<readonly ServedKind[]> {
    if (this.#kinds !== undefined && this.#clock.monotonic() - this.#readAt < refreshEveryMs) return this.#kinds;
    if (this.#reading === undefined) {
      // Shared by several callers, so no single one's signal may end it; its own time limit does.
      this.#reading = this.#read(options.timeoutMs).finally(() => {
        this.#reading = undefined;
      });
      // Whoever asked may have left by the time it fails.
      this.#reading.catch(() => undefined);
    }
    return orAborted(this.#reading, options.signal);
  }

  async #read(timeoutMs: number | undefined): Promise<readonly ServedKind[]> {
    const startedAt = this.#clock.monotonic();
    const documents = await Promise.all(roots.map((path) => this.#readRoot(path, timeoutMs)));
    const aggregated = documents.every((each) => each.kind === 'APIGroupDiscoveryList');
    const [core = {}, groups = {}] = documents;
    this.#kinds = aggregated ? documents.flatMap(kindsOfAggregated) : await this.#readLegacy(core, groups, timeoutMs);
    this.#readAt = startedAt;
    return this.#kinds;
  }

  async #readRoot(path: string, timeoutMs: number | undefined): Promise<RootDocument['document']> {
    const before = this.#documents.get(path);
    const answer = await this.#get(path, aggregatedAccept, timeoutMs, before?.etag);
    if (answer.status === 304 && before !== undefined) return before.document;
    const document = parse<RootDocument['document']>(answer, path, this.#transport.server);
    const { etag } = answer.headers;
    this.#documents.set(path, { document, ...(typeof etag === 'string' ? { etag } : {}) });
    return document;
  }

  async #readLegacy(core: VersionList, groups: GroupList, timeoutMs: number | undefined): Promise<ServedKind[]> {
    const lists = groupVersionsOf(core, groups).map(async ({ groupVersion, path }) => {
      try {
        const answer = await this.#get(path, 'application/json', timeoutMs);
        return kindsOfResourceList(groupVersion, parse<ResourceList>(answer, path, this.#transport.server));
      } catch (error) {
        // An aggregated API that is down, or a group that vanished meanwhile: the rest is still good.
        if (isFault(error, 'ServiceUnavailable', 'NotFound', 'InternalError', 'ServerTimeout')) return [];
        throw error;
      }
    });
    return (await Promise.all(lists)).flat();
  }

  #get(path: string, accept: string, timeoutMs: number | undefined, ifNoneMatch?: string): Promise<Answer> {
    return this.#transport.call({
      method: 'GET',
      path,
      subject: { verb: 'read', name: path },
      accept,
      repeatable: true,
      large: true,
      ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
  }
}

function parse<T>(answer: Answer, path: string, server: string): T {
  try {
    return JSON.parse(answer.body.toString('utf8')) as T;
  } catch (error) {
    throw new Fault('UnexpectedAnswer', `${server}${path} is no discovery document: is this an API server?`, {}, error);
  }
}
