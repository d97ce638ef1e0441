/** The objects in the cluster that tell the API server of the webhooks: what each should hold, and whether it does. Pure. */
import {
  CustomResourceDefinition,
  type Kind,
  type KubeObject,
  MutatingWebhookConfiguration,
  manifest,
  needsConversion,
  type Resource,
  resourceNameOf,
  ValidatingWebhookConfiguration,
} from '@keelson/schema';
import { isMap, isSame, type PlainMap } from '../plan/value.ts';
import { configurationName, type Reach, toConversion, toWebhookConfigurations } from './registration.ts';
import type { Reviewed } from './review.ts';

export interface Target {
  readonly kind: Kind;
  readonly name: string;
  /** `ValidatingWebhookConfiguration website.example.io` */
  readonly what: string;
  /** We keep only a part of it, and cannot make it. */
  readonly partial: boolean;
  /** What to apply; without a bundle, that field is left to others. */
  wanted(bundle: string | undefined): KubeObject;
  isAsWanted(live: KubeObject, wanted: KubeObject): boolean;
  /** The caBundle fields (base64) in it, one for each way to call us. */
  bundles(live: KubeObject): (string | undefined)[];
  /** Makes our part of it exactly as wanted, also where others added to it. */
  replacement(live: KubeObject, wanted: KubeObject): readonly { op: 'add'; path: string; value: unknown }[];
}

/** Everything that must be registered for these operators and resources. */
export function targetsOf(operators: readonly Reviewed[], resources: readonly Resource[], reach: Reach): Target[] {
  const configurations = operators.flatMap((operator) => [
    ...(operator.admission?.mutate === undefined
      ? []
      : [configurationTarget(operator, MutatingWebhookConfiguration, reach)]),
    ...(operator.admission?.validate === undefined
      ? []
      : [configurationTarget(operator, ValidatingWebhookConfiguration, reach)]),
  ]);
  return [...configurations, ...resources.filter(needsConversion).map((resource) => conversionTarget(resource, reach))];
}

function configurationTarget(operator: Reviewed, kind: Kind, reach: Reach): Target {
  const name = configurationName(operator);
  return {
    kind,
    name,
    what: `${kind.kind} ${name}`,
    partial: false,
    wanted: (bundle) => {
      const found = toWebhookConfigurations([operator], reach, bundle).find(
        (configuration) => configuration.kind === kind.kind,
      );
      if (found === undefined) throw new Error(`operator '${operator.name}' has no ${kind.kind}`);
      return found;
    },
    isAsWanted: (live, wanted) => {
      const [theirs, ours] = [webhooksOf(live), webhooksOf(wanted)];
      const labels = Object.entries(wanted.metadata.labels ?? {});
      return (
        theirs.length === ours.length &&
        ours.every((webhook, i) => isEntryAsWanted(theirs[i], webhook)) &&
        labels.every(([key, value]) => live.metadata.labels?.[key] === value)
      );
    },
    bundles: (live) => webhooksOf(live).map(({ clientConfig }) => bundleOf(clientConfig)),
    replacement: (live, wanted) => {
      const value = webhooksOf(wanted).map((webhook) => {
        const theirs = webhooksOf(live).find((other) => other.name === webhook.name);
        return { ...webhook, clientConfig: withBundleOf(theirs?.clientConfig, webhook.clientConfig) };
      });
      return [{ op: 'add', path: '/webhooks', value }];
    },
  };
}

function conversionTarget(resource: Resource, reach: Reach): Target {
  const name = resourceNameOf(resource);
  return {
    kind: CustomResourceDefinition,
    name,
    what: `CustomResourceDefinition ${name}`,
    partial: true,
    wanted: (bundle) => ({
      ...manifest(
        CustomResourceDefinition as Kind,
        { name },
        { spec: { conversion: toConversion(resource, reach, bundle) } },
      ),
    }),
    isAsWanted: (live, wanted) => {
      const [theirs, ours] = [conversionOf(live), conversionOf(wanted)];
      return (
        isSame({ ...theirs, webhook: undefined }, { ...ours, webhook: undefined }) &&
        isSame(webhookOf(theirs, ours), webhookOf(ours, ours))
      );
    },
    // A CRD that does not call us at all must not hold up a rotation.
    bundles: (live) => (isMap(conversionOf(live).webhook) ? [bundleOf(clientConfigOf(conversionOf(live)))] : []),
    replacement: (live, wanted) => {
      const ours = conversionOf(wanted);
      const clientConfig = withBundleOf(clientConfigOf(conversionOf(live)), clientConfigOf(ours));
      return [
        {
          op: 'add',
          path: '/spec/conversion',
          value: { ...ours, webhook: { ...(isMap(ours.webhook) ? ours.webhook : {}), clientConfig } },
        },
      ];
    },
  };
}

/** Fields that the server may come to know and we do not are not ours to judge. */
function isEntryAsWanted(live: PlainMap | undefined, wanted: PlainMap): boolean {
  if (live === undefined) return false;
  return Object.entries(wanted).every(([field, value]) =>
    isSame(field === 'clientConfig' ? comparable(live[field], value) : live[field], value),
  );
}

/** A client config without the bundle, where that is left to others. */
function comparable(live: unknown, wanted: unknown): unknown {
  if (!isMap(live) || bundleOf(wanted) !== undefined) return live;
  const { caBundle: _, ...rest } = live;
  return rest;
}

function withBundleOf(live: unknown, wanted: unknown): unknown {
  const bundle = bundleOf(live);
  return isMap(wanted) && wanted.caBundle === undefined && bundle !== undefined
    ? { ...wanted, caBundle: bundle }
    : wanted;
}

function webhookOf(conversion: PlainMap, wanted: PlainMap): unknown {
  if (!isMap(conversion.webhook)) return undefined;
  return { ...conversion.webhook, clientConfig: comparable(conversion.webhook.clientConfig, clientConfigOf(wanted)) };
}

function webhooksOf(object: KubeObject): PlainMap[] {
  return Array.isArray(object.webhooks) ? object.webhooks.filter(isMap) : [];
}

function conversionOf(object: KubeObject): PlainMap {
  return isMap(object.spec) && isMap(object.spec.conversion) ? object.spec.conversion : {};
}

function clientConfigOf(conversion: PlainMap): unknown {
  return isMap(conversion.webhook) ? conversion.webhook.clientConfig : undefined;
}

function bundleOf(clientConfig: unknown): string | undefined {
  return isMap(clientConfig) && typeof clientConfig.caBundle === 'string' ? clientConfig.caBundle : undefined;
}
