/**
 * How the API server is told of the webhooks, as plain manifests: for the registrar, which keeps them so, and for deploy/.
 *
 * Every field is spelled out, also those with a default, so that what is wanted and what the server stores can be compared as they are.
 */
import {
  type CustomResourceDefinition,
  MutatingWebhookConfiguration,
  manifest,
  type Resource,
  resourceNameOf,
  ValidatingWebhookConfiguration,
} from '@keelson/schema';
import { isIpAddress, readCertificates } from '../certificates/certificate.ts';
import { marks } from '../marks.ts';
import type { Reviewed } from './review.ts';

/** The field manager of everything that the webhooks register, and the value of its managed-by label. */
export const fieldManager = 'keelson-webhooks';

/** How the API server reaches us: by a URL (in development: `https://127.0.0.1:9443`), or through a Service. */
export type Reach =
  | { readonly url: string }
  | {
      readonly service: {
        readonly namespace: string;
        readonly name: string /** Of the Service; 443 unless told. */;
        readonly port?: number;
      };
    };

type Conversion = NonNullable<CustomResourceDefinition['spec']['conversion']>;

export const validatePath = (operator: Pick<Reviewed, 'name'>): string => `/validate/${operator.name}`;
export const mutatePath = (operator: Pick<Reviewed, 'name'>): string => `/mutate/${operator.name}`;
export const convertPath = (resource: Resource): string => `/convert/${resourceNameOf(resource)}`;

/** The names that the API server expects in our certificate. */
export function namesOf(reach: Reach): string[] {
  if ('url' in reach) return [hostOf(reach.url)];
  const { name, namespace } = reach.service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}`, `${name}.${namespace}.svc.cluster.local`];
}

/**
 * The webhook configurations of these operators: one of each kind an operator needs, named `<operator>.<group>`.
 * `caBundle` is PEM; left out, the field is left to whoever else sets it (cert-manager's CA injector).
 */
export function toWebhookConfigurations(
  operators: readonly Reviewed[],
  reach: Reach,
  caBundle?: string,
): (ValidatingWebhookConfiguration | MutatingWebhookConfiguration)[] {
  return operators.flatMap((operator) => {
    const name = configurationName(operator);
    const metadata = { name, labels: { [marks.managedBy]: fieldManager } };
    const { mutate, validate } = operator.admission ?? {};
    const mutating = {
      ...entry(operator, `mutate.${name}`, ['CREATE', 'UPDATE'], toClientConfig(reach, mutatePath(operator), caBundle)),
      reinvocationPolicy: 'IfNeeded',
    };
    const validating = entry(
      operator,
      `validate.${name}`,
      operator.admission?.operations ?? ['CREATE', 'UPDATE'],
      toClientConfig(reach, validatePath(operator), caBundle),
    );
    return [
      ...(mutate === undefined
        ? []
        : [manifest(MutatingWebhookConfiguration, { ...metadata }, { webhooks: [mutating] })]),
      ...(validate === undefined
        ? []
        : [manifest(ValidatingWebhookConfiguration, { ...metadata }, { webhooks: [validating] })]),
    ];
  });
}

/** Has the API server convert objects of this resource through us: `spec.conversion` of its CRD, for `toCrd(resource, { conversion })`. */
export function toConversion(resource: Resource, reach: Reach, caBundle?: string): Conversion {
  const clientConfig = toClientConfig(reach, convertPath(resource), caBundle);
  return { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
}

/** The name of an operator's webhook configurations. */
export function configurationName({ name, resource }: Pick<Reviewed, 'name' | 'resource'>): string {
  return `${name}.${resource.group}`;
}

/**
 * Said once more in CEL, so that the API server does not even call: nothing changed that the instance's author writes, or only
 * metadata did while it is being deleted. Finalizers can go even when no replica answers. review.ts has the same rule.
 */
const touched = [
  "request.operation != 'UPDATE'",
  'object.?spec != oldObject.?spec',
  '(!has(object.metadata.deletionTimestamp) && (object.metadata.?labels != oldObject.metadata.?labels || object.metadata.?annotations != oldObject.metadata.?annotations))',
].join(' || ');

function entry(
  operator: Reviewed,
  name: string,
  operations: readonly string[],
  clientConfig: ReturnType<typeof toClientConfig>,
) {
  const { resource, admission } = operator;
  const timeoutSeconds = admission?.timeoutSeconds ?? 10;
  if (!Number.isInteger(timeoutSeconds) || timeoutSeconds < 1 || timeoutSeconds > 30) {
    throw new RangeError(
      `operator '${operator.name}': admission.timeoutSeconds is ${timeoutSeconds}, but must be a whole number from 1 to 30`,
    );
  }
  if (operations.length === 0)
    throw new RangeError(
      `operator '${operator.name}': admission.operations is empty: leave it out, or name at least one`,
    );
  return {
    name,
    clientConfig,
    // Only the stored version is named: with Equivalent, the API server converts what comes in other versions before it asks.
    rules: [
      {
        operations: [...operations],
        apiGroups: [resource.group],
        apiVersions: [resource.version],
        resources: [resource.plural],
        scope: resource.scope,
      },
    ],
    failurePolicy: admission?.failurePolicy ?? 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    sideEffects: 'None',
    timeoutSeconds,
    admissionReviewVersions: ['v1'],
    matchConditions: [{ name: 'touched', expression: touched }],
  };
}

function toClientConfig(reach: Reach, path: string, caBundle: string | undefined) {
  const trust = caBundle === undefined ? {} : { caBundle: toCaBundle(caBundle) };
  if ('service' in reach) {
    const { namespace, name, port = 443 } = reach.service;
    return { service: { namespace, name, path, port }, ...trust };
  }
  hostOf(reach.url);
  return { url: `${reach.url.replace(/\/+$/, '')}${path}`, ...trust };
}

/** An empty or broken bundle would cut the API server off from us, and a CRD with one from its objects. */
function toCaBundle(pem: string): string {
  if (readCertificates(pem).length === 0)
    throw new TypeError('the CA bundle for the webhooks holds no certificate: leave it out, or give PEM');
  return Buffer.from(pem, 'utf8').toString('base64');
}

function hostOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' || parsed.search !== '' || parsed.hash !== '' || parsed.username !== '') {
    throw new TypeError(
      `'${url}' is no URL for webhooks: it must be like https://host:port, without user, query or fragment`,
    );
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  return isIpAddress(host) ? host : host.toLowerCase();
}
