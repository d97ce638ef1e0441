/** A right as `explain` shows it: what may be done with what, and why. Pure. */
import { type MergedRule, resourceNameOf } from '@keelson/schema';

export interface Permission {
  readonly verbs: readonly string[];
  /** As `kubectl auth can-i` takes it: `websites.example.keelson.io/status`. */
  readonly resource: string;
  /** Empty for all of them. */
  readonly names: readonly string[];
  readonly why: string;
}

export function permissionOf({ verbs, group, resources, names, why }: MergedRule): Permission {
  return {
    verbs,
    resource: resources.map((resource) => accessName(group, resource)).join(', '),
    names,
    why: why.join('; '),
  };
}

function accessName(group: string, resource: string): string {
  const [plural = '', subresource] = resource.split('/');
  const name = resourceNameOf({ group, plural });
  return subresource === undefined ? name : `${name}/${subresource}`;
}
