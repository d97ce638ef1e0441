/**
 * The API server's audit log as data: who did what, and with which result.
 *
 * Invariant: `entries()` misses nothing that was answered before it was called. The server writes in blocking mode, and
 * before each reading a fence request is sent and waited for in the log, so that entries still on their way have arrived.
 * A request that was in flight when the API server was killed has no entry.
 */
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How much an audit entry holds: only who and what, also the body sent, or also the body of the answer. */
export type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse';

/** One request as the API server saw it. */
export interface AuditEntry {
  /** When the request came in (RFC 3339 with microseconds, so entries sort as text). */
  readonly time: string;
  /** When it was answered; for the start of a watch, when the stream began. */
  readonly doneTime: string;
  /** ResponseStarted only exists for watches and other long requests, and is followed by ResponseComplete at their end. */
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  /** API group, '' for the core group and for requests that are not about a resource. */
  readonly group: string;
  readonly version: string;
  /** Plural, e.g. "configmaps"; '' for requests that are not about a resource. */
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** HTTP status of the answer. */
  readonly code: number;
  readonly requestURI: string;
  readonly userAgent: string;
  readonly id: string;
  /** Body sent, with audit level Request or above. */
  readonly requestObject?: unknown;
  /** Body answered, with audit level RequestResponse. */
  readonly responseObject?: unknown;
}

/** A point in the log, from `mark()`. */
export type AuditMark = number & { readonly kind?: 'audit mark' };

/** Which entries to give; every field that is set must fit. */
export interface AuditFilter {
  /** Only what was logged after this mark. */
  readonly since?: AuditMark;
  readonly user?: string | RegExp;
  readonly verb?: string | readonly string[];
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly code?: number;
  readonly stage?: AuditEntry['stage'];
  readonly userAgent?: RegExp;
}

const fencePath = '/version?testenv-fence=';
const writeVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
// These are "create" to the API server but store nothing.
const virtualGroups = new Set(['authentication.k8s.io', 'authorization.k8s.io']);
const virtualSubresources = new Set(['token', 'exec', 'attach', 'portforward', 'proxy']);

/** Reads the audit log of one API server. */
export class Audit {
  readonly #file: string;
  readonly #get: (path: string) => Promise<boolean>;
  readonly #entries: { readonly offset: number; readonly entry: AuditEntry }[] = [];
  readonly #fences = new Set<string>();
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  #reading: Promise<void> = Promise.resolve();

  /** `get` sends a GET to the API server and says whether it was answered. */
  constructor(file: string, get: (path: string) => Promise<boolean>) {
    this.#file = file;
    this.#get = get;
  }

  /** Marks this moment, for `since`. */
  async mark(): Promise<AuditMark> {
    await this.#catchUp();
    return this.#offset;
  }

  /** Gives every request so far that fits the filter, oldest first. */
  async entries(filter: AuditFilter = {}): Promise<AuditEntry[]> {
    await this.#catchUp();
    const since = filter.since ?? 0;
    return this.#entries
      .filter(({ offset, entry }) => offset >= since && fits(entry, filter))
      .map(({ entry }) => entry);
  }

  /** Gives the requests of a user that changed something: successful writes, no dry runs, no access reviews or tokens. */
  async writesBy(user: string | RegExp, filter: Omit<AuditFilter, 'user'> = {}): Promise<AuditEntry[]> {
    return (await this.entries({ ...filter, user })).filter(isWrite);
  }

  async #catchUp(): Promise<void> {
    const fence = `${fencePath}${randomUUID()}`;
    const passed = await this.#get(fence);
    const deadline = Date.now() + (passed ? 5000 : 0);
    for (;;) {
      await this.#read();
      // Without an answer there is nothing to wait for: the server is down, and the file holds all there is.
      if (this.#fences.delete(fence) || Date.now() >= deadline) return;
      await sleep(5);
    }
  }

  /** Readings go one after the other, or two of them would take in the same bytes. */
  #read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNew());
    return this.#reading;
  }

  async #readNew(): Promise<void> {
    const file = await open(this.#file, 'r').catch(() => undefined);
    if (!file) return;
    try {
      const { size } = await file.stat();
      const start = this.#offset + this.#rest.length;
      const fresh = Buffer.alloc(Math.max(0, size - start));
      const { bytesRead } = await file.read(fresh, 0, fresh.length, start);
      let data = Buffer.concat([this.#rest, fresh.subarray(0, bytesRead)]);
      for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10)) {
        const entry = toEntry(data.toString('utf8', 0, end));
        if (entry.requestURI.startsWith(fencePath)) this.#fences.add(entry.requestURI);
        else this.#entries.push({ offset: this.#offset, entry });
        this.#offset += end + 1;
        data = data.subarray(end + 1);
      }
      this.#rest = data;
    } finally {
      await file.close();
    }
  }
}

/** The policy that makes the API server log one entry a request, two for a watch, and none for health checks. */
export function auditPolicy(level: AuditLevel): object {
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [{ level: 'None', nonResourceURLs: ['/readyz*', '/healthz*', '/livez*'] }, { level }],
  };
}

/** Whether a request changed something in the cluster. */
export function isWrite(entry: AuditEntry): boolean {
  return (
    writeVerbs.has(entry.verb) &&
    entry.code < 300 &&
    !virtualGroups.has(entry.group) &&
    !virtualSubresources.has(entry.subresource) &&
    !/[?&]dryRun=All/.test(entry.requestURI)
  );
}

function fits(entry: AuditEntry, filter: AuditFilter): boolean {
  const { user, verb } = filter;
  if (user !== undefined && !(typeof user === 'string' ? entry.user === user : user.test(entry.user))) return false;
  if (verb !== undefined && !(typeof verb === 'string' ? entry.verb === verb : verb.includes(entry.verb))) return false;
  if (filter.userAgent && !filter.userAgent.test(entry.userAgent)) return false;
  const exact = ['group', 'resource', 'subresource', 'namespace', 'name', 'code', 'stage'] as const;
  return exact.every((field) => filter[field] === undefined || filter[field] === entry[field]);
}

/** The parts of the API server's audit.k8s.io/v1 Event that entries are made from. */
interface AuditEvent {
  auditID: string;
  stage: AuditEntry['stage'];
  requestURI: string;
  verb: string;
  user: { username?: string; groups?: string[] };
  impersonatedUser?: { username?: string; groups?: string[] };
  userAgent?: string;
  objectRef?: {
    apiGroup?: string;
    apiVersion?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code?: number };
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  requestObject?: unknown;
  responseObject?: unknown;
}

function toEntry(line: string): AuditEntry {
  const event = JSON.parse(line) as AuditEvent;
  const user = event.impersonatedUser ?? event.user;
  const reference = event.objectRef ?? {};
  return {
    time: event.requestReceivedTimestamp,
    doneTime: event.stageTimestamp,
    stage: event.stage,
    user: user.username ?? '',
    groups: user.groups ?? [],
    verb: event.verb,
    group: reference.apiGroup ?? '',
    version: reference.apiVersion ?? '',
    resource: reference.resource ?? '',
    subresource: reference.subresource ?? '',
    namespace: reference.namespace ?? '',
    name: reference.name ?? '',
    code: event.responseStatus?.code ?? 0,
    requestURI: event.requestURI,
    userAgent: event.userAgent ?? '',
    id: event.auditID,
    ...(event.requestObject !== undefined && { requestObject: event.requestObject }),
    ...(event.responseObject !== undefined && { responseObject: event.responseObject }),
  };
}
