/** What a user may set for Kyverno. */
import { dnsLabel, type Static, setOf, Type } from '@keelson/schema';
import { policyNames } from './catalogue.ts';

export const config = Type.Object({
  mode: Type.Enum(['Audit', 'Enforce'], {
    default: 'Audit',
    description: 'Audit reports violations in PolicyReports; Enforce also refuses them.',
  }),
  policies: setOf(Type.Enum(policyNames), {
    default: policyNames,
    minItems: 1,
    description: 'Which policies are put in place. Default: all.',
  }),
  excludeNamespaces: setOf(dnsLabel(), {
    default: [],
    maxItems: 100,
    description: 'Not looked at, beside kube-system, kube-public, kube-node-lease and the namespace of the tools.',
    examples: [['calico-system']],
  }),
});

export type Config = Static<typeof config>;
