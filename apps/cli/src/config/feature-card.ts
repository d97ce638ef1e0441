/**
 * A feature is a part of an operator that users switch on by name. Its card is all that `keelson explain feature` says about it, as
 * plain data: an operator with features makes the cards, the config file hands them on, and this package knows no operator.
 */
import type { Grant, Kind, KubeObject, StructuralSchema } from '@keelson/schema';

export interface FeatureCard {
  /** The name that users write: `falco`. */
  readonly id: string;
  /** As people write it: `Falco`. */
  readonly title: string;
  /** One sentence: what a user gets. */
  readonly description: string;
  /** Version of what it installs. */
  readonly version: string;
  /** Name of the operator that it is a part of. */
  readonly operator: string;
  /** How it is switched on: a piece of an instance, with the settings left at their defaults. */
  readonly example: Readonly<Record<string, unknown>>;
  /** The condition that tells how it does. */
  readonly condition: string;
  /** What it makes with the defaults, as it is applied. */
  readonly installs: readonly KubeObject[];
  /** What its pods may do on a node, beyond an ordinary pod. */
  readonly privileges: readonly { readonly what: string; readonly why: string }[];
  /** What its pods may ask the API server. */
  readonly rights: readonly Grant[];
  /** Kinds that somebody else must install first. */
  readonly requires: readonly { readonly kind: Kind; readonly remedy: string }[];
  /** What may be set. */
  readonly config: StructuralSchema;
  /** Where its events come from and go to, in words. */
  readonly events?: { readonly from: string; readonly to: string };
  /** Why it runs once on a node, whoever asks for it; left out, it may run several times. */
  readonly exclusive?: string;
}
