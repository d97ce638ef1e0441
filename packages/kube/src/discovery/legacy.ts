/** Discovery of servers without the aggregated form: a document for each group and version. */
import type { ServedKind } from './served-kind.ts';

export interface VersionList {
  kind?: string;
  versions?: readonly string[];
}

export interface GroupList {
  kind?: string;
  groups?: readonly { name?: string; versions?: readonly { groupVersion?: string; version?: string }[] }[];
}

export interface ResourceList {
  groupVersion?: string;
  resources?: readonly {
    name?: string;
    kind?: string;
    namespaced?: boolean;
    singularName?: string;
    verbs?: readonly string[];
    shortNames?: readonly string[];
    categories?: readonly string[];
  }[];
}

/** The group-versions that the two root documents name, with the paths of their resource lists. */
export function groupVersionsOf(core: VersionList, groups: GroupList): { groupVersion: string; path: string }[] {
  return [
    ...(core.versions ?? []).map((version) => ({ groupVersion: version, path: `/api/${version}` })),
    ...(groups.groups ?? []).flatMap((group) =>
      (group.versions ?? []).flatMap(({ groupVersion }) =>
        groupVersion === undefined ? [] : [{ groupVersion, path: `/apis/${groupVersion}` }],
      ),
    ),
  ];
}

/** The kinds of one resource list; `pods/log` and the like become subresources of their kind. */
export function kindsOfResourceList(groupVersion: string, list: ResourceList): ServedKind[] {
  const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  const resources = list.resources ?? [];
  return resources.flatMap((resource) => {
    const { name, kind } = resource;
    if (name === undefined || kind === undefined || name.includes('/')) return [];
    const below = `${name}/`;
    return [
      {
        group: group ?? '',
        version: version ?? '',
        kind,
        plural: name,
        scope: resource.namespaced === true ? ('Namespaced' as const) : ('Cluster' as const),
        singular: resource.singularName || kind.toLowerCase(),
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        verbs: resource.verbs ?? [],
        subresources: resources.flatMap((each) => (each.name?.startsWith(below) ? each.name.slice(below.length) : [])),
      },
    ];
  });
}
