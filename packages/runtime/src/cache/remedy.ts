/** What a person can do about a watch that does not work, for logs, readiness and `kubectl describe`. */
import type { Fault } from '@keelson/kube';

/** One sentence that says what to do about this fault of the watch on a resource. */
export function remedyFor(fault: Fault, resource: string): string {
  switch (fault.code) {
    case 'KindNotServed':
      return `install the CustomResourceDefinition ${resource}; the operator goes on by itself once it is served`;
    case 'Forbidden':
      return `allow the operator's ServiceAccount to list and watch ${resource}`;
    case 'Unauthorized':
    case 'CredentialsFailed':
      return 'renew the token or certificate that the operator uses; what stands in a file of its own is read again by itself, for what stands in the kubeconfig restart the operator';
    case 'TlsRefused':
      return 'give the operator the certificate authority of this API server';
    case 'TooManyRequests':
      return 'the API server is busy: raise the limits of its priority level, or wait';
    default:
      return 'check that the API server can be reached; the operator connects again by itself';
  }
}
