/** Puts a client together from a config: credential, transport, discovery. */
import { ApiClient } from './api-client.ts';
import type { KubeClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import type { KubeConfig } from './config/config.ts';
import { createCredential } from './credential/credential.ts';
import { Discovery } from './discovery/discovery.ts';
import type { FlowControlOptions } from './transport/flow-control.ts';
import type { ClientObserver } from './transport/observer.ts';
import { Transport } from './transport/transport.ts';
import { version } from './version.ts';

const defaultUserAgent = `keelson/${version}`;

export interface ClientOptions {
  /** Default for calls that set none: 60 s, the longest that an API server works on one. */
  timeoutMs?: number;
  /** How long a watch or a log may take until it is accepted or refused; how long it then lasts is another matter. Default 30 s. */
  streamTimeoutMs?: number;
  /** Put before `keelson/<version>` in the User-Agent, so that audit logs name the program. */
  userAgent?: string;
  observer?: ClientObserver;
  flowControl?: FlowControlOptions;
  clock?: Clock;
}

/** A client for the cluster of a config; nothing is sent before its first call. Close it when done. */
export function createClient(config: KubeConfig, options: ClientOptions = {}): KubeClient {
  const clock = options.clock ?? systemClock;
  const transport = new Transport(config, createCredential(config, clock), {
    timeoutMs: options.timeoutMs ?? 60_000,
    streamTimeoutMs: options.streamTimeoutMs ?? 30_000,
    userAgent: options.userAgent === undefined ? defaultUserAgent : `${options.userAgent} ${defaultUserAgent}`,
    observer: options.observer ?? {},
    flowControl: options.flowControl ?? {},
    clock,
  });
  return new ApiClient(transport, new Discovery(transport, clock));
}
