/**
 * The reflector: follows one kind for ever, as an async generator of states.
 *
 * Invariant: it never stops silently and never goes deaf. It ends only when its signal is aborted; everything else is a
 * state that it reports and recovers from. Between `replaced` and the next `replaced`, the events are gapless: a consumer that
 * applies them holds what the server holds.
 *
 *   no picture ──▶ streaming list (one request), or paged list where the server has none ──▶ replaced
 *   picture    ──▶ watch from the last resourceVersion ──▶ watching, changed…, progressed…
 *   it ends    ──▶ watch again from there; 410, or a version that went backwards ──▶ no picture
 *   it breaks  ──▶ interrupted, a wait that grows, then as above
 *   no stream gets through although calls do ──▶ a new picture at every attempt
 *
 * The consumer sets the pace: while it does not ask for the next state, nothing is read and nothing is lost.
 */
import type { Kind, KubeObject } from '@keelson/schema';
import type { KubeClient, Selection, WatchEvent } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import { Fault, isFault } from './fault.ts';
import { describeSubject } from './path.ts';
import { listPages } from './reflector/list-pages.ts';
import { type Backoff, defaultBackoff, retryInMs } from './reflector/pace.ts';
import { openStream, type Stream } from './reflector/stream.ts';
import { isOlder } from './resource-version.ts';

export type ReflectorState<T> =
  /** A full, consistent picture: whatever is not in it no longer exists. */
  | { state: 'replaced'; items: readonly T[]; resourceVersion: string }
  | { state: 'changed'; type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T; resourceVersion: string }
  /** No change, but proof that nothing was missed up to here. */
  | { state: 'progressed'; resourceVersion: string }
  /** A stream is open (again). */
  | { state: 'watching'; resourceVersion: string }
  /** Not connected; tries again after `retryInMs`. `fault` says why in words for a person. */
  | { state: 'interrupted'; fault: Fault; attempt: number; retryInMs: number };

export interface ReflectorOptions extends Selection {
  metadataOnly?: boolean;
  /** Applied to every object before it is handed out (drop managedFields, project). */
  transform?: (object: KubeObject) => KubeObject;
  pageSize?: number;
  /** Use the streaming list where the server has it (default: try, and fall back for good when it is refused). */
  streamingList?: boolean;
  backoff?: Backoff;
  /** A stream without a byte for this long is dead (default 150 s; servers send a bookmark about once a minute). */
  idleTimeoutMs?: number;
  clock?: Clock;
  signal: AbortSignal;
}

export type Reflect = <T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: ReflectorOptions,
) => AsyncGenerator<ReflectorState<T>, void, void>;

/** Follows a kind until the signal is aborted. */
export const reflect: Reflect = (client, kind, options) => new Reflector(client, kind, options).run();

const healthyMs = 2_000;
const defaultPageSize = 500;
// From then on every attempt begins with a list: slow, but not deaf.
const fruitlessLimit = 3;
// A server that ignores `sendInitialEvents` would leave us waiting for an end mark that never comes.
const initialIdleMs = 30_000;

class Reflector<T extends KubeObject> {
  readonly #client: KubeClient;
  readonly #kind: Kind<T>;
  readonly #options: ReflectorOptions;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #transform: (object: KubeObject) => KubeObject;
  readonly #what: string;
  readonly #selection: Selection & { metadataOnly?: boolean };
  /** Up to where the consumer has been told everything; undefined means that it needs a new picture. */
  #position: string | undefined;
  #attempt = 0;
  /** Streams in a row that brought nothing although the server answers calls: something in between does not let streams through. */
  #fruitless = 0;
  /** `refused`: never again. `paused`: the last one broke, so the next picture comes from a paged list. */
  #streaming: 'wanted' | 'paused' | 'refused';
  /** The last stream did not end by its own time limit: the server may be another one, or the same one restored from a backup. */
  #doubtful = false;

  constructor(client: KubeClient, kind: Kind<T>, options: ReflectorOptions) {
    this.#client = client;
    this.#kind = kind;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#backoff = options.backoff ?? defaultBackoff;
    this.#transform = options.transform ?? ((object) => object);
    this.#streaming = options.streamingList === false ? 'refused' : 'wanted';
    const { namespace, labelSelector, fieldSelector, metadataOnly } = options;
    this.#selection = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      ...(metadataOnly === undefined ? {} : { metadataOnly }),
    };
    this.#what = describeSubject({ verb: 'watch', kind, ...(namespace === undefined ? {} : { namespace }) });
  }

  async *run(): AsyncGenerator<ReflectorState<T>, void, void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      try {
        if (this.#position === undefined && this.#streaming === 'wanted') yield* this.#streamFromStart();
        else yield* this.#watchFromPosition();
      } catch (error) {
        if (signal.aborted) return;
        const fault = this.#toFault(error);
        this.#learn(fault);
        this.#attempt += 1;
        const delay = retryInMs(fault, this.#attempt, this.#backoff, this.#clock.random());
        yield { state: 'interrupted', fault, attempt: this.#attempt, retryInMs: delay };
        await this.#clock.sleep(delay, signal).catch(() => undefined);
      }
    }
  }

  #learn(fault: Fault): void {
    this.#doubtful = true;
    const tooLarge = fault.details.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge') === true;
    if (isFault(fault, 'Expired', 'Gone', 'KindNotServed', 'BadRequest', 'Invalid') || tooLarge)
      this.#position = undefined;
  }

  async *#streamFromStart(): AsyncGenerator<ReflectorState<T>, void, void> {
    const { stream, endsAt } = this.#open({ sendInitialEvents: true });
    try {
      const items = new Map<string, T>();
      for (;;) {
        const event = await this.#nextInitial(stream);
        if (event === undefined) return;
        if (event.type === 'BOOKMARK') {
          this.#position = event.resourceVersion;
          break;
        }
        const { name, namespace = '' } = event.object.metadata;
        if (event.type === 'DELETED') items.delete(`${namespace}/${name}`);
        else items.set(`${namespace}/${name}`, this.#transform(event.object) as T);
      }
      this.#doubtful = false;
      const resourceVersion = this.#position;
      yield { state: 'replaced', items: [...items.values()], resourceVersion };
      items.clear();
      yield { state: 'watching', resourceVersion };
      yield* this.#follow(stream, endsAt);
    } finally {
      stream.close();
    }
  }

  /** The next event of the initial part, or undefined when this server knows no streaming list. */
  async #nextInitial(stream: Stream<T>): Promise<WatchEvent<T> | undefined> {
    try {
      const event = await stream.next(Math.min(initialIdleMs, this.#idleMs));
      if (event === undefined) throw this.#broken('the server ended the stream before its first picture was complete');
      if (event.type === 'BOOKMARK' && !event.initialEventsEnd) {
        this.#streaming = 'refused';
        return undefined;
      }
      return event;
    } catch (error) {
      if (isFault(error, 'Invalid', 'BadRequest', 'NotAcceptable')) {
        this.#streaming = 'refused';
        return undefined;
      }
      // Half a picture is none. Where streams break so soon, pages that are read one by one have a better chance.
      if (!isFault(error) || error.retry === 'backoff') this.#streaming = 'paused';
      throw error;
    }
  }

  async *#watchFromPosition(): AsyncGenerator<ReflectorState<T>, void, void> {
    if (this.#fruitless >= fruitlessLimit) this.#position = undefined;
    if (this.#position !== undefined && this.#doubtful && (await this.#wentBackwards(this.#position))) {
      this.#position = undefined;
    }
    if (this.#position === undefined) {
      const { signal, pageSize = defaultPageSize } = this.#options;
      const options = { ...this.#selection, pageSize, signal, transform: this.#transform };
      const page = await listPages(this.#client, this.#kind, options);
      this.#position = page.resourceVersion;
      if (this.#streaming === 'paused') this.#streaming = 'wanted';
      yield { state: 'replaced', ...page };
    }
    this.#doubtful = false;
    const { stream, endsAt } = this.#open({ resourceVersion: this.#position });
    try {
      if (await stream.opened()) yield { state: 'watching', resourceVersion: this.#position };
      yield* this.#follow(stream, endsAt);
    } finally {
      stream.close();
    }
  }

  /** Hands out what a stream brings until it ends. */
  async *#follow(stream: Stream<T>, endsAt: number): AsyncGenerator<ReflectorState<T>, void, void> {
    const openedAt = this.#clock.monotonic();
    const isLongLived = () => this.#clock.monotonic() - openedAt >= healthyMs;
    let events = 0;
    try {
      for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
        events += 1;
        const resourceVersion =
          event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
        if (resourceVersion === undefined || resourceVersion === '') continue;
        if (this.#position !== undefined && isOlder(resourceVersion, this.#position)) {
          const problem = `the stream went back from version ${this.#position} to ${resourceVersion}: was etcd restored?`;
          this.#position = undefined;
          throw this.#broken(problem);
        }
        // The position moves only after `transform`: an event on which it throws is not skipped when the stream is resumed.
        const state: ReflectorState<T> =
          event.type === 'BOOKMARK'
            ? { state: 'progressed', resourceVersion }
            : { state: 'changed', type: event.type, object: this.#transform(event.object) as T, resourceVersion };
        this.#position = resourceVersion;
        yield state;
      }
    } finally {
      const healthy = events > 0 || isLongLived();
      this.#fruitless = healthy ? 0 : this.#fruitless + 1;
      if (healthy) this.#attempt = 0;
    }
    // Before its time: a shutdown, or something in between with a shorter limit of its own.
    this.#doubtful = this.#clock.monotonic() < endsAt - healthyMs;
    // A server that ends every stream at once must not be called in a tight loop.
    if (!isLongLived()) throw this.#broken('the server ended the stream at once');
  }

  /** True when the server's present version is older than what we have seen: it was restored from a backup. */
  async #wentBackwards(position: string): Promise<boolean> {
    const { signal } = this.#options;
    // The same selection as the watch: a role may allow no more than that.
    const options = { ...this.#selection, limit: 1, metadataOnly: true, signal };
    const { resourceVersion } = await this.#client.list(this.#kind, options);
    return isOlder(resourceVersion, position);
  }

  #open(start: { resourceVersion: string } | { sendInitialEvents: true }): { stream: Stream<T>; endsAt: number } {
    // Spread out, so that a thousand watches that began together do not end together.
    const timeoutSeconds = Math.round(300 * (1 + this.#clock.random()));
    const { signal } = this.#options;
    const options = { ...this.#selection, ...start, timeoutSeconds, idleTimeoutMs: this.#idleMs, signal };
    const stream = openStream(this.#client, this.#kind, options);
    return { stream, endsAt: this.#clock.monotonic() + timeoutSeconds * 1000 };
  }

  get #idleMs(): number {
    return this.#options.idleTimeoutMs ?? 150_000;
  }

  #broken(problem: string): Fault {
    return new Fault('StreamBroken', `cannot follow ${this.#what}: ${problem}`);
  }

  #toFault(error: unknown): Fault {
    if (isFault(error)) return error;
    // A bug, here or in `transform`: reported as a state like everything else, because a reflector that stops is deaf.
    const problem = error instanceof Error ? error.message : String(error);
    return new Fault('UnexpectedAnswer', `cannot follow ${this.#what}: ${problem}`, {}, error);
  }
}
