/** The permissions that the webhooks need, as data: every one of them for objects by their names. */
import { CustomResourceDefinition, type Grant, Secret } from '@keelson/schema';
import { type CertificateOptions, isSelfManaged } from './certificate-options.ts';
import { targetsOf } from './target.ts';
import type { WebhooksOptions } from './webhooks.ts';

/** What the webhooks of these operators and resources may do in the cluster. */
export function webhookGrants(
  options: Pick<WebhooksOptions, 'operators' | 'resources'> & { readonly certificates: CertificateOptions },
): Grant[] {
  const { operators, resources = operators.map(({ resource }) => resource), certificates } = options;
  const targets = targetsOf(operators, resources, { url: 'https://localhost' });
  if (targets.length === 0) return [];
  const registrations = targets.map(({ kind, name }): Grant => {
    if (kind === CustomResourceDefinition) {
      return {
        kind,
        names: [name],
        verbs: ['list', 'watch', 'patch'],
        why: 'keep the conversion webhook of the CRD, and the authority it trusts',
      };
    }
    return {
      kind,
      names: [name],
      verbs: ['list', 'watch', 'create', 'patch'],
      why: 'register the admission webhooks, and the authority they trust',
    };
  });
  if (!isSelfManaged(certificates)) return registrations;
  const { namespace, name } = certificates.secret;
  const secret: Grant = {
    kind: Secret,
    namespace,
    names: [name],
    verbs: ['list', 'watch', 'create', 'patch', 'update'],
    why: 'keep and rotate the certificate of the webhooks',
  };
  return [secret, ...registrations];
}
