/**
 * The relay, as its pod and its collector know it: `keelson relay` stands in the pod of a gateway, on its loopback, between the collector and
 * the store. It keeps what the store refuses in an index of dead letters, and makes stores speak to the exporter that it would not talk to
 * itself: it demands a header that only Elasticsearch sends (ADR 15).
 *
 * The exporter shows its own credentials, and the relay passes them on: they are in one container only. How the store is trusted is the
 * relay's business, which reads those certificates again when they change.
 */
import type { Store } from '../store.ts';
import { asArgument } from '../workload/argument.ts';

/** Its container, as overrides of the pod name it. */
export const RELAY = 'relay';
/** Where it takes the requests of the collector beside it: on the loopback of the pod only. */
const RELAY_PORT = 9210;
/** Answers the probes of the kubelet, and has its figures for Prometheus. */
export const RELAY_STATUS_PORT = 9211;
/** Where the collector finds it. */
export const RELAY_URL = `http://127.0.0.1:${RELAY_PORT}`;
/** Where it finds the certificates that it trusts. */
export const RELAY_CA_FILE = '/etc/keelson/store/ca.crt';

/** Whether documents go by the relay. Without dead letters there is no need, but for a store that the exporter does not take for one. */
export function isRelayed({ kind }: Store, deadLetters: boolean): boolean {
  return deadLetters || kind !== 'elasticsearch';
}

/** The arguments of `keelson` for this store. */
export function relayArgs({ url, indices, tls }: Store): string[] {
  return [
    'relay',
    `--url=${asArgument(url)}`,
    `--dead-letters=${asArgument(indices.deadLetters)}`,
    `--listen=127.0.0.1:${RELAY_PORT}`,
    `--status-port=${RELAY_STATUS_PORT}`,
    ...(tls?.caSecretRef === undefined ? [] : [`--ca-file=${RELAY_CA_FILE}`]),
    ...(tls?.insecureSkipVerify === true ? ['--insecure-skip-verify'] : []),
  ];
}
