/** Aggregated discovery (apidiscovery.k8s.io): everything a server serves, in two requests. Unknown fields are ignored. */
import type { ServedKind } from './served-kind.ts';

/** Asks for aggregated discovery, and takes the legacy form from a server that does not have it. */
export const aggregatedAccept = ['v2', 'v2beta1']
  .map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',');

export interface GroupDiscoveryList {
  kind?: string;
  items?: readonly {
    metadata?: { name?: string };
    versions?: readonly { version?: string; resources?: readonly ResourceDiscovery[] }[];
  }[];
}

interface ResourceDiscovery {
  resource?: string;
  responseKind?: { group?: string; version?: string; kind?: string };
  scope?: string;
  singularResource?: string;
  verbs?: readonly string[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  subresources?: readonly { subresource?: string }[];
}

/** The kinds of an aggregated document; versions stand in the server's order of preference. */
export function kindsOfAggregated(document: GroupDiscoveryList): ServedKind[] {
  return (document.items ?? []).flatMap((group) =>
    (group.versions ?? []).flatMap((version) =>
      (version.resources ?? []).flatMap((resource) => {
        const kind = resource.responseKind?.kind;
        // A resource that is no kind of its own (only subresources) has no response kind.
        if (kind === undefined || kind === '' || resource.resource === undefined) return [];
        return [
          {
            group: group.metadata?.name ?? '',
            version: version.version ?? '',
            kind,
            plural: resource.resource,
            scope: resource.scope === 'Namespaced' ? ('Namespaced' as const) : ('Cluster' as const),
            singular: resource.singularResource ?? kind.toLowerCase(),
            shortNames: resource.shortNames ?? [],
            categories: resource.categories ?? [],
            verbs: resource.verbs ?? [],
            subresources: (resource.subresources ?? []).flatMap(({ subresource }) => subresource ?? []),
          },
        ];
      }),
    ),
  );
}
