import { describe, expect, it } from 'vitest';
import { creationTrouble } from './creation.ts';

/** What API servers answer to controllers, and what is made of it. */
const answers: readonly [given: string, answer: string, reason: string, text: string, remedy: RegExp | undefined][] = [
  [
    'the restricted level',
    'pods "falco-" is forbidden: violates PodSecurity "restricted:v1.30": allowPrivilegeEscalation != false (container "falco" must set ' +
      'securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "falco" must set ' +
      'securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "falco" must set ' +
      'securityContext.runAsNonRoot=true), seccompProfile (pod or container "falco" must set securityContext.seccompProfile.type to ' +
      '"RuntimeDefault" or "Localhost")',
    'PodSecurityForbidden',
    "forbidden by Pod Security level 'restricted' of namespace guard: allowPrivilegeEscalation != false, unrestricted capabilities, " +
      'runAsNonRoot != true and seccompProfile',
    /enforce=privileged$/,
  ],
  [
    'an answer that was cut off',
    'violates PodSecurity "baseline:latest": privileged (container "falco" must not set securityContext.privileged=true), hostPath volumes (volu',
    'PodSecurityForbidden',
    "forbidden by Pod Security level 'baseline' of namespace guard: privileged and hostPath volumes",
    /enforce=privileged$/,
  ],
  [
    'a quota that wants requests',
    'pods "falco-x" is forbidden: failed quota: compute: must specify limits.cpu for: falco',
    'QuotaExceeded',
    'forbidden by ResourceQuota compute of namespace guard: must specify limits.cpu for: falco',
    /state what it asks for/,
  ],
  [
    'a LimitRange',
    'pods "falco-x" is forbidden: maximum memory usage per Container is 256Mi, but limit is 1Gi',
    'QuotaExceeded',
    'forbidden by a LimitRange of namespace guard: maximum memory usage per Container is 256Mi, but limit is 1Gi',
    /perTool\.falco\.resources/,
  ],
  [
    'a webhook that says no',
    'admission webhook "validate.kyverno.svc-fail" denied the request: \n\nresource Pod/guard/falco was blocked due to the following policies',
    'AdmissionDenied',
    'refused by admission webhook validate.kyverno.svc-fail: resource Pod/guard/falco was blocked due to the following policies',
    /exception/,
  ],
  [
    'a policy that says no',
    "pods \"falco-x\" is forbidden: ValidatingAdmissionPolicy 'no-host' with binding 'no-host-all' denied request: hostPID is not allowed",
    'AdmissionDenied',
    'refused by ValidatingAdmissionPolicy no-host: hostPID is not allowed',
    /exception/,
  ],
  [
    'a webhook that is away',
    'Internal error occurred: failed calling webhook "mutate.example.io": failed to call webhook: Post "https://m.svc:443/": connection refused',
    'AdmissionDenied',
    'admission webhook mutate.example.io does not answer: failed to call webhook: Post "https://m.svc:443/": connection refused',
    /repair it/,
  ],
  [
    'an account that is not there',
    'Error creating: pods "falco-" is forbidden: error looking up service account guard/falco: serviceaccount "falco" not found',
    'FailedCreate',
    'pods cannot be made: error looking up service account guard/falco: serviceaccount "falco" not found',
    undefined,
  ],
];

describe('pods that are not made', () => {
  it.each(answers)('are explained: %s', (_, answer, reason, text, remedy) => {
    const trouble = creationTrouble(answer, 'guard', 'spec.override.perTool.falco');
    expect(trouble).toMatchObject({ reason, text });
    if (remedy === undefined) expect(trouble.remedy).toBeUndefined();
    else expect(trouble.remedy).toMatch(remedy);
  });

  it('are explained in the same words at every attempt, although each pod has another name', () => {
    const answer = (name: string) =>
      `Error creating: pods "${name}" is forbidden: exceeded quota: q, requested: pods=1`;
    const first = creationTrouble(answer('falco-a'), 'guard', 'x');
    expect(creationTrouble(`(combined from similar events): ${answer('falco-b')}`, 'guard', 'x')).toEqual(first);
  });
});
