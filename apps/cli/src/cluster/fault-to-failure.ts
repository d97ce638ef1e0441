/** Turns a fault of the client into words for the person at the terminal: what happened, what to do, which exit code. */
import type { Fault, FaultCode } from '@keelson/kube';
import type { ExitName } from '../exit-codes.ts';
import { type Failure, failure } from '../failure.ts';

interface Advice {
  readonly exit: ExitName;
  readonly remedy: string;
}

const unreachable: Advice = {
  exit: 'unreachable',
  remedy:
    'is the cluster running, and is it the one you mean? choose with --kubeconfig or --context; `keelson up` starts one on this machine',
};

const advice: Partial<Record<FaultCode, Advice>> = {
  Unreachable: unreachable,
  TimedOut: unreachable,
  ServiceUnavailable: unreachable,
  TlsRefused: {
    exit: 'unreachable',
    remedy:
      'the kubeconfig does not fit this server: its certificate-authority-data must be the CA of the cluster; fetch the kubeconfig anew',
  },
  Unauthorized: {
    exit: 'unreachable',
    remedy:
      'the token or client certificate was refused, it may have expired: log in again or fetch a fresh kubeconfig',
  },
  CredentialsFailed: {
    exit: 'unreachable',
    remedy: 'the kubeconfig names a helper program for credentials that failed: run it by hand, or log in again',
  },
  BadConfig: { exit: 'usage', remedy: 'correct the setting that is named above' },
  Forbidden: {
    exit: 'forbidden',
    remedy: 'ask for that permission, or install the operator’s own with `keelson rbac --apply` as an administrator',
  },
  KindNotServed: { exit: 'missing', remedy: 'its CRD is not installed: `keelson crds --apply` installs it' },
  NotFound: { exit: 'missing', remedy: 'check the name and the namespace (-n)' },
  Invalid: { exit: 'usage', remedy: 'correct the fields that are named above; `keelson explain KIND` lists them' },
  BadRequest: { exit: 'usage', remedy: 'correct the object; `keelson explain KIND` lists its fields' },
};

/** True for a fault of any copy of @keelson/kube: a project may bring its own. */
export function isAnyFault(error: unknown): error is Fault {
  return error instanceof Error && error.name === 'Fault' && 'code' in error && 'details' in error;
}

export function faultToFailure(fault: Fault): Failure {
  const known = advice[fault.code];
  const causes = (fault.details.causes ?? [])
    .filter((cause) => cause.field !== undefined && !fault.message.includes(cause.field))
    .map((cause) => `\n  ${cause.field}: ${cause.message ?? cause.reason ?? ''}`);
  return failure(known?.exit ?? 'failed', `${fault.message}${causes.join('')}`, known?.remedy, fault);
}
