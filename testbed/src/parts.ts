/**
 * The list of parts: real third-party programs that tests run against, built from source on this machine.
 *
 * A part is a value. Adding one is a folder under `parts/` with its recipe files and an entry here; nothing else in the
 * package knows a part by name. Invariant: what a part's binary depends on is either in its recipe folder or in this
 * entry, because both (with the platform) make up the cache key.
 */
export interface Part {
  /** Name by which callers ask for it; also the name of the built file. */
  readonly name: string;
  /** What it contains, in one line for people. */
  readonly title: string;
  /** Version of the upstream software. */
  readonly version: string;
  /** How long a cold build takes on two cores, for the first progress line. */
  readonly coldBuild: string;
  /** How it is built. */
  readonly recipe: GoRecipe;
}

/** A Go module in `parts/<name>` with a complete go.sum, of which one main package is built. */
export interface GoRecipe {
  readonly kind: 'go';
  /** Import path of the main package, "." for the recipe folder itself. */
  readonly package: string;
  /** Variables set at link time, as importpath.name → value. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The names of all parts. */
export type PartName = 'controlplane' | 'kwok';

const kubernetesVersion = 'k8s.io/component-base/version';

/** Every part there is, in the order in which they are shown. */
export const parts: readonly (Part & { readonly name: PartName })[] = [
  {
    name: 'controlplane',
    title: 'etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy and kubectl in one file',
    version: '1.34.4',
    coldBuild: '5 to 10 minutes',
    recipe: {
      kind: 'go',
      package: '.',
      variables: {
        [`${kubernetesVersion}.gitVersion`]: 'v1.34.4',
        [`${kubernetesVersion}.gitMajor`]: '1',
        [`${kubernetesVersion}.gitMinor`]: '34',
      },
    },
  },
  {
    name: 'kwok',
    title: 'KWOK: simulated nodes and pods',
    version: '0.8.0',
    coldBuild: '2 to 3 minutes',
    recipe: { kind: 'go', package: 'sigs.k8s.io/kwok/cmd/kwok', variables: {} },
  },
];

/** Finds a part by name, or throws an error that lists the names there are. */
export function findPart(name: string): (typeof parts)[number] {
  const part = parts.find((candidate) => candidate.name === name);
  if (part === undefined) {
    throw new Error(`there is no part "${name}"; the parts are: ${parts.map((p) => p.name).join(', ')}`);
  }
  return part;
}
