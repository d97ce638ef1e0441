/** The relay in the pods of the gateways: takes the requests of the collector beside it, and passes them on to the store. */
import type { Container } from 'kubernetes-types/core/v1.js';
import type { Store } from '../../store.ts';
import { RELAY, RELAY_CA_FILE, RELAY_STATUS_PORT, relayArgs } from '../../telemetry/relay.ts';

/** The user of the image. */
const USER = 65_532;
/** The volume with the certificates that it trusts: it reads them again when they change. */
export const RELAY_CA = 'relay-ca';

/** The container, for `initContainers`: there before the collector and gone after it, so that what is drained still gets through. */
export function relayContainer(image: string, store: Store): Container {
  const isTrusting = store.tls?.caSecretRef !== undefined;
  const folder = RELAY_CA_FILE.slice(0, RELAY_CA_FILE.lastIndexOf('/'));
  return {
    name: RELAY,
    image,
    restartPolicy: 'Always',
    args: relayArgs(store),
    ports: [{ name: 'relay-status', containerPort: RELAY_STATUS_PORT, protocol: 'TCP' }],
    // It holds what is under way: a few requests of the collector, and their answers.
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    startupProbe: { ...probe, periodSeconds: 1, failureThreshold: 120 },
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
    // Its last words are in the status of the pod, and so in the condition.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
    },
    ...(isTrusting ? { volumeMounts: [{ name: RELAY_CA, mountPath: folder, readOnly: true }] } : {}),
  };
}

const probe = { httpGet: { path: '/healthz', port: 'relay-status' }, timeoutSeconds: 3 };
