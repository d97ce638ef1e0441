/** The CronJob: `keelson report vulnerabilities` in a pod of the restricted level. Credentials reach it by reference only. */
import { CronJob, manifest } from '@keelson/schema';
import type { Container, EnvVar, Volume } from 'kubernetes-types/core/v1.js';
import type { FeatureContext } from '../../feature.ts';
import { OWN_IMAGE } from '../../own-image.ts';
import type { Store } from '../../store.ts';
import { asArgument } from '../../workload/argument.ts';
import type { Config } from './config.ts';

const CONTAINER = 'report';
/** Where the certificates of the store are mounted. */
const CA_FOLDER = '/etc/keelson/store';

/**
 * Exit codes of `keelson` that another attempt cannot mend: bad input, no permission, no CRD. The rest (the store is away, or refused
 * some documents) is tried again.
 */
const FINAL_CODES = [2, 5, 6];

/** The CronJob for this store. */
export function reportJob({ schedule, timeZone, image }: Config, store: Store, context: FeatureContext): CronJob {
  const volumes = volumesOf(store);
  return manifest(
    CronJob,
    { name: 'trivy-report' },
    {
      spec: {
        schedule,
        ...(timeZone === undefined ? {} : { timeZone }),
        concurrencyPolicy: 'Forbid',
        // A run that was missed is made up for within the hour, and then the next one counts.
        startingDeadlineSeconds: 3600,
        successfulJobsHistoryLimit: 1,
        failedJobsHistoryLimit: 2,
        jobTemplate: {
          spec: {
            backoffLimit: 2,
            activeDeadlineSeconds: 3600,
            podFailurePolicy: {
              rules: [
                { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
                {
                  action: 'FailJob',
                  onExitCodes: { containerName: CONTAINER, operator: 'In', values: FINAL_CODES },
                },
              ],
            },
            template: {
              spec: {
                restartPolicy: 'Never',
                nodeSelector: { 'kubernetes.io/os': 'linux' },
                securityContext: {
                  runAsNonRoot: true,
                  runAsUser: 65_532,
                  runAsGroup: 65_532,
                  seccompProfile: { type: 'RuntimeDefault' },
                },
                containers: [container(image ?? context.image(OWN_IMAGE), store, context, volumes)],
                ...(volumes.length === 0 ? {} : { volumes }),
              },
            },
          },
        },
      },
    },
  );
}

function container(image: string, store: Store, context: FeatureContext, volumes: readonly Volume[]): Container {
  const env = environmentOf(store);
  return {
    name: CONTAINER,
    image,
    args: argumentsOf(store, context),
    ...(env.length === 0 ? {} : { env }),
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    // Its last words are in the status of the pod, and so in the condition.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    ...(volumes.length === 0
      ? {}
      : { volumeMounts: volumes.map(({ name }) => ({ name, mountPath: CA_FOLDER, readOnly: true })) }),
  };
}

function argumentsOf({ url, indices, tls }: Store, { cluster }: FeatureContext): string[] {
  return [
    'report',
    'vulnerabilities',
    `--url=${asArgument(url)}`,
    `--index=${asArgument(indices.vulnerability)}`,
    // Left out, it takes one that no other cluster has.
    ...(cluster === undefined ? [] : [`--cluster-name=${asArgument(cluster)}`]),
    ...(tls?.caSecretRef === undefined ? [] : [`--ca-file=${CA_FOLDER}/ca.crt`]),
    ...(tls?.insecureSkipVerify === true ? ['--insecure-skip-verify'] : []),
  ];
}

function environmentOf({ auth }: Store): EnvVar[] {
  const fromSecret = (name: string, secret: string, key: string): EnvVar => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key } },
  });
  if (auth?.secretRef !== undefined) {
    const { name } = auth.secretRef;
    return [
      fromSecret('ELASTICSEARCH_USERNAME', name, 'username'),
      fromSecret('ELASTICSEARCH_PASSWORD', name, 'password'),
    ];
  }
  if (auth?.apiKeySecretRef === undefined) return [];
  const { name, key } = auth.apiKeySecretRef;
  return [fromSecret('ELASTICSEARCH_API_KEY', name, key)];
}

function volumesOf({ tls }: Store): Volume[] {
  if (tls?.caSecretRef === undefined) return [];
  const { name, key } = tls.caSecretRef;
  return [{ name: 'store-ca', secret: { secretName: name, items: [{ key, path: 'ca.crt' }] } }];
}
