/**
 * A project tells `keelson` which operators it has in `keelson.config.ts`. The file is plain TypeScript that Node runs by
 * stripping types, so it imports the operators themselves: there is no second place where they are described.
 */
import type { Operator } from '@keelson/runtime';
import type { FeatureCard } from './feature-card.ts';

/** A file that `keelson generate` writes, and whose staleness `--check` reports. */
export interface GeneratedFile {
  /** From the folder of the config file. */
  readonly path: string;
  readonly content: string;
}

/** Something to try in a cluster that is up. */
export interface Suggestion {
  readonly command: string;
  readonly why: string;
}

export interface KeelsonConfig {
  readonly operators: readonly Operator[];
  /** What users can switch on in them, for `keelson explain feature`; asked for only when it is needed. */
  readonly features?: () => readonly FeatureCard[];
  /** Folder or file with sample instances, from the folder of the config file; `keelson up` applies them. */
  readonly samples?: string | readonly string[];
  /** What the process that runs them is called: its ServiceAccount, roles, lease and webhook Secret. Default `keelson`. */
  readonly name?: string;
  /** Namespace that the operators run in. Default `keelson-system`. */
  readonly namespace?: string;
  /** What `keelson up` needs beyond operators and samples. */
  readonly up?: {
    /**
     * Files or folders with CRDs of other projects that the operators work with: installed in the cluster that `up` starts, never in
     * one of the user's. `tell` takes a line about progress.
     */
    readonly crds?: (tell: (line: string) => void) => Promise<readonly string[]>;
    /** What to try once all is up. A command begins with `kubectl` or `keelson`, which are put in for this cluster. */
    readonly tryIt?: readonly Suggestion[];
  };
  readonly generate?: {
    /** Folder for crds/ and rbac/. Default `deploy`. */
    readonly deploy?: string;
    /** Folder for the Markdown reference. Default `docs/reference`. */
    readonly reference?: string;
    /** Further files of the project that are generated from code. */
    readonly extra?: () => Promise<readonly GeneratedFile[]>;
  };
}

/** Returns its argument: gives the config file its types. */
export function defineConfig(config: KeelsonConfig): KeelsonConfig {
  return config;
}
