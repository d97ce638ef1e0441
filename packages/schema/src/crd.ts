/** CustomResourceDefinitions out of resources. All checks happened at definition; here the parts are only put in place. */
import { apiVersionOf, manifest, resourceNameOf } from './kind.ts';
import { CustomResourceDefinition } from './kinds.ts';
import { type Resource, type ResourceVersion, storageVersionOf } from './resource.ts';

type CrdSpec = CustomResourceDefinition['spec'];

/**
 * The CRD of a resource. `conversion` is the value of `spec.conversion`, needed when versions differ in shape; while it is
 * missing then, `spec.conversion` is left out, for whoever runs the webhook to fill in.
 */
export function toCrd(
  resource: Resource,
  options: { readonly conversion?: CrdSpec['conversion'] } = {},
): CustomResourceDefinition {
  const conversion = options.conversion ?? (needsConversion(resource) ? undefined : { strategy: 'None' });
  const spec: CrdSpec = {
    group: resource.group,
    scope: resource.scope,
    names: {
      kind: resource.kind,
      listKind: resource.listKind,
      plural: resource.plural,
      singular: resource.singular,
      ...(resource.shortNames.length > 0 ? { shortNames: [...resource.shortNames] } : {}),
      ...(resource.categories.length > 0 ? { categories: [...resource.categories] } : {}),
    },
    ...(conversion === undefined ? {} : { conversion }),
    versions: resource.versions.map((version) => toCrdVersion(resource, version)),
  };
  return manifest(CustomResourceDefinition, { name: resourceNameOf(resource) }, { spec });
}

/** True when only a webhook can turn one version of the resource into another. */
export function needsConversion(resource: Resource): boolean {
  return resource.versions.some((version) => version.convert !== undefined);
}

function toCrdVersion(resource: Resource, version: ResourceVersion): CrdSpec['versions'][number] {
  const { scale } = version;
  return {
    name: version.name,
    served: version.served,
    storage: version.storage,
    ...(version.deprecated ? { deprecated: true, deprecationWarning: deprecationWarningOf(resource, version) } : {}),
    schema: {
      openAPIV3Schema: structuredClone(version.schema) as NonNullable<
        CrdSpec['versions'][number]['schema']
      >['openAPIV3Schema'] &
        object,
    },
    subresources: {
      status: {},
      ...(scale === undefined
        ? {}
        : {
            scale: {
              specReplicasPath: scale.specReplicas,
              statusReplicasPath: scale.statusReplicas,
              ...(scale.selector === undefined ? {} : { labelSelectorPath: scale.selector }),
            },
          }),
    },
    ...(version.columns.length > 0
      ? { additionalPrinterColumns: version.columns.map((column) => ({ ...column })) }
      : {}),
    ...(version.selectableFields.length > 0
      ? { selectableFields: version.selectableFields.map((jsonPath) => ({ jsonPath })) }
      : {}),
  };
}

/** What clients of a deprecated version are told. */
export function deprecationWarningOf(resource: Resource, version: ResourceVersion): string {
  const name = (which: ResourceVersion): string => apiVersionOf({ group: resource.group, version: which.name });
  return (
    version.deprecationWarning ??
    `${name(version)} ${resource.kind} is deprecated; use ${name(storageVersionOf(resource))} ${resource.kind}`
  );
}
