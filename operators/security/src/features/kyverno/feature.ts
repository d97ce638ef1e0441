/** Kyverno: a careful set of policies for the Kyverno that the user has installed. The rules: catalogue.ts. */
import { defineFeature } from '../../feature.ts';
import { assess } from './assess.ts';
import { config } from './config.ts';
import { PolicyReport, ValidatingPolicy } from './kinds.ts';
import { policy } from './policy.ts';

export const kyverno = defineFeature({
  id: 'kyverno',
  title: 'Kyverno',
  description:
    'Policies against pods that could take over a node, for the Kyverno that is installed: reported, or refused.',
  priority: 100,
  version: '1.19.1',
  privileges: [],
  kinds: [ValidatingPolicy],
  requires: [
    { kind: ValidatingPolicy, remedy: 'install Kyverno 1.17 or newer (https://kyverno.io/docs/installation)' },
    { kind: PolicyReport, remedy: 'install the CRDs of reports (crds.groups.wgpolicyk8s in the chart of Kyverno)' },
  ],
  config,
  contribute: (settings, context) => settings.policies.map((name) => policy(name, settings, context)),
  assess,
});
