/**
 * The list of parts: real third-party programs that tests run against, built from source on this machine.
 *
 * A part is a value. Adding one is a folder under `parts/` with its recipe files and an entry here; nothing else in the
 * package knows a part by name. Invariant: what a part's binary depends on is either in its recipe folder or in this
 * entry, because both (with the platform) make up the cache key.
 */
export interface Part {
  /** Name by which callers ask for it; also the name of the built file or folder. */
  readonly name: string;
  /** What it contains, in one line for people. */
  readonly title: string;
  /** Version of the upstream software; a collection from several upstreams counts for itself. */
  readonly version: string;
  /** How long a cold build takes on two cores, for the first progress line. */
  readonly coldBuild: string;
  /** Whether `ensure` without names builds it: true for what `startTestEnv` runs, so that a first build stays short. */
  readonly standard: boolean;
  /** How it is built. */
  readonly recipe: Recipe;
}

/** The ways to make a part. */
export type Recipe = GoRecipe | ModuleFilesRecipe | MavenRecipe;

/** A Go module in `parts/<name>` with a complete go.sum, of which one main package is built. */
export interface GoRecipe {
  readonly kind: 'go';
  /** Import path of the main package, "." for the recipe folder itself. */
  readonly package: string;
  /** Variables set at link time, as importpath.name → value. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Files out of published Go modules, whose checksums are in the go.sum of `parts/<name>`; the part is a folder. */
export interface ModuleFilesRecipe {
  readonly kind: 'module-files';
  readonly sources: readonly ModuleFiles[];
}

/** The YAML files of some folders of one module. */
export interface ModuleFiles {
  /** Subfolder of the part that they go to. */
  readonly to: string;
  /** Module and version, as `path@version`. */
  readonly module: string;
  /** Folders inside the module; they are not descended into. */
  readonly folders: readonly string[];
}

/** A pom.xml, a main class and the checksums of all jars in `parts/<name>`; the part is a folder with lib/ and classes/. */
export interface MavenRecipe {
  readonly kind: 'maven';
  /** Name of the Java file in the recipe, without its ending, and of the class in it. */
  readonly mainClass: string;
  /** The oldest Java that compiles and runs it. */
  readonly jdk: number;
}

/** The names of all parts. */
export type PartName = 'controlplane' | 'kwok' | 'crds' | 'otelcol' | 'elasticsearch7' | 'opensearch';

const kubernetesVersion = 'k8s.io/component-base/version';

/** Every part there is, in the order in which they are shown. */
export const parts: readonly (Part & { readonly name: PartName })[] = [
  {
    name: 'controlplane',
    title: 'etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy and kubectl in one file',
    version: '1.34.4',
    coldBuild: '5 to 10 minutes',
    standard: true,
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
    standard: true,
    recipe: { kind: 'go', package: 'sigs.k8s.io/kwok/cmd/kwok', variables: {} },
  },
  {
    name: 'crds',
    title: 'CustomResourceDefinitions of Tetragon 1.7.0, trivy-operator 0.29.0 and Kyverno 1.19.1',
    version: '1',
    coldBuild: 'half a minute',
    standard: false,
    recipe: {
      kind: 'module-files',
      sources: [
        {
          to: 'tetragon',
          module: 'github.com/cilium/tetragon@v1.7.0',
          folders: ['install/kubernetes/tetragon/crds-yaml'],
        },
        {
          to: 'trivy-operator',
          module: 'github.com/aquasecurity/trivy-operator@v0.29.0',
          folders: ['deploy/helm/crds'],
        },
        {
          to: 'kyverno',
          module: 'github.com/kyverno/kyverno@v1.19.1',
          folders: ['kyverno', 'policies.kyverno.io', 'policyreport', 'reports'].map((group) => `config/crds/${group}`),
        },
      ],
    },
  },
  {
    name: 'otelcol',
    title: 'OpenTelemetry Collector with the components that our telemetry configurations use',
    version: '0.157.0',
    coldBuild: '3 to 6 minutes',
    standard: false,
    recipe: { kind: 'go', package: '.', variables: { 'main.version': '0.157.0' } },
  },
  {
    name: 'elasticsearch7',
    title: 'Elasticsearch',
    version: '7.17.29',
    coldBuild: 'half a minute',
    standard: false,
    recipe: { kind: 'maven', mainClass: 'SingleNode', jdk: 17 },
  },
  {
    name: 'opensearch',
    title: 'OpenSearch',
    version: '2.19.4',
    coldBuild: 'half a minute',
    standard: false,
    recipe: { kind: 'maven', mainClass: 'SingleNode', jdk: 17 },
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
