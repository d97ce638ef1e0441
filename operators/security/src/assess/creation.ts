/**
 * Why pods are not made at all: what the API server answered to the controller that wanted to make them. A Deployment tells it in
 * its condition ReplicaFailure, a DaemonSet and a StatefulSet only in events.
 */

import type { ObjectSet } from '@keelson/runtime';
import { Event, type KubeObject } from '@keelson/schema';
import { isWithin } from './container.ts';
import { enumerate, shorten } from './text.ts';
import type { Trouble } from './trouble.ts';

/** Controllers try again at least this often (their back-off ends at 1000 s): an older event speaks of something that is over. */
const RELEVANT_MS = 20 * 60_000;

/** What the newest event about a failed creation of pods of this workload says; undefined without one. */
export function failedCreation(workload: KubeObject, related: ObjectSet, now: Date): string | undefined {
  const { uid, name, namespace } = workload.metadata;
  const [newest] = related
    .list(Event)
    .filter(({ reason, regarding }) => reason === 'FailedCreate' && regarding?.kind === workload.kind)
    .filter(({ regarding }) =>
      // An object of the same name that was there before has nothing to say any more.
      regarding?.uid === undefined
        ? regarding?.name === name && regarding?.namespace === namespace
        : regarding.uid === uid,
    )
    .map((event) => ({ note: event.note ?? '', time: timeOf(event) }))
    .filter(({ time }) => isWithin(time, RELEVANT_MS, now))
    .sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
  return newest?.note;
}

function timeOf({ series, deprecatedLastTimestamp, eventTime, metadata }: Event): string {
  const times = [series?.lastObservedTime, deprecatedLastTimestamp, eventTime, metadata.creationTimestamp];
  // An event of the old kind has null for what only the new kind has.
  return times.find((time) => typeof time === 'string') ?? '';
}

/** The trouble behind the answer of the API server: `pods "falco-x" is forbidden: violates PodSecurity …`. */
export function creationTrouble(message: string, namespace: string, override: string): Trouble {
  const said = message
    .replace(/^\(combined from similar events\): /, '')
    .replace(/^Error creating: /, '')
    // The name is a new one with every attempt.
    .replace(/^pods? "[^"]*" is forbidden: /, '')
    .replace(/^Internal error occurred: /, '');
  for (const judge of judges) {
    const trouble = judge(said, namespace, override);
    if (trouble !== undefined) return trouble;
  }
  return { reason: 'FailedCreate', key: said, text: `pods cannot be made: ${shorten(said, 240)}` };
}

type Judge = (said: string, namespace: string, override: string) => Trouble | undefined;

const judges: readonly Judge[] = [
  (said, namespace) => {
    const match = /violates PodSecurity "([a-z]+)[^"]*": (.*)$/s.exec(said);
    if (match === null) return undefined;
    const [, level = '', checks = ''] = match;
    return {
      reason: 'PodSecurityForbidden',
      key: level,
      text: `forbidden by Pod Security level '${level}' of namespace ${namespace}: ${shorten(enumerate(violations(checks), 6), 200)}`,
      remedy: `kubectl label --overwrite namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`,
    };
  },
  (said, namespace) => {
    const match = /(?:exceeded|failed) quota: ([^,:]+)[,:] (.*)$/s.exec(said);
    if (match === null) return undefined;
    const [, quota = '', detail = ''] = match;
    return {
      reason: 'QuotaExceeded',
      key: quota,
      text: `forbidden by ResourceQuota ${quota} of namespace ${namespace}: ${shorten(detail, 160)}`,
      remedy: /must specify/.test(detail) ? 'state what it asks for' : 'raise the quota',
    };
  },
  (said, namespace, override) =>
    /(maximum|minimum|max limit to request) \S* ?(usage|limit|ratio)? ?per (Container|Pod)/i.test(said)
      ? {
          reason: 'QuotaExceeded',
          key: 'limits',
          text: `forbidden by a LimitRange of namespace ${namespace}: ${shorten(said, 160)}`,
          remedy: `change the LimitRange, or ${override}.resources`,
        }
      : undefined,
  (said) => {
    const denied = /admission webhook "([^"]+)" denied the request: ?(.*)$/s.exec(said);
    const policy =
      denied ?? /ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied request: ?(.*)$/s.exec(said);
    if (policy === null) return undefined;
    const [, name = '', detail = ''] = policy;
    const who = denied === null ? 'ValidatingAdmissionPolicy' : 'admission webhook';
    return {
      reason: 'AdmissionDenied',
      key: name,
      text: `refused by ${who} ${name}: ${shorten(detail, 220)}`,
      remedy: 'make an exception for these pods there',
    };
  },
  (said) => {
    const match = /failed calling webhook "([^"]+)": (.*)$/s.exec(said);
    if (match === null) return undefined;
    const [, name = '', detail = ''] = match;
    return {
      reason: 'AdmissionDenied',
      key: name,
      text: `admission webhook ${name} does not answer: ${shorten(detail, 160)}`,
      remedy: 'repair it, or have it leave this namespace alone',
    };
  },
];

/**
 * `privileged (container "a" must not …), host namespaces (hostPID=true)` → `privileged`, `hostPID`: the names of the checks, and for
 * host namespaces which. The list may be cut off anywhere.
 */
function violations(checks: string): string[] {
  return [...checks.matchAll(/(?:^|, )([^(),]+?) ?\((.*?)(?:\)(?=,|$)|$)/gs)].flatMap(([, check = '', detail = '']) =>
    check === 'host namespaces' ? [...detail.matchAll(/(\w+)=true/g)].map(([, name = '']) => name) : [check],
  );
}
