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
