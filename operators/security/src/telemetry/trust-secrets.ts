/** The Secrets of the pipeline: those that its pods mount, and the one with the key that none of them may have. */
import type { PartyMaterial } from '@keelson/runtime';
import { manifest, Secret } from '@keelson/schema';
import { GATEWAY_TLS, NODE_TLS, PIPELINE_AUTHORITY, TRUST_SINCE } from '../names.ts';
import type { Trust } from './trust.ts';

/** The names of all: the operator may write these Secrets and no others. */
export const trustSecretNames = [GATEWAY_TLS, NODE_TLS, PIPELINE_AUTHORITY];

/** The Secrets; empty ones where nobody could look for keys (offline), for which the running operator makes them. */
export function trustSecrets(trust: Trust | undefined): readonly Secret[] {
  if (trust === undefined) return trustSecretNames.map((name) => manifest(Secret, { name }, { type: 'Opaque' }));
  return [
    ofParty(GATEWAY_TLS, trust.parties.gateway),
    ofParty(NODE_TLS, trust.parties.node),
    manifest(Secret, { name: PIPELINE_AUTHORITY }, { type: 'Opaque', data: { ...trust.authority } }),
  ];
}

function ofParty(name: string, { data, since }: PartyMaterial): Secret {
  const annotations = { [TRUST_SINCE]: since.toISOString() };
  return manifest(Secret, { name, annotations }, { type: 'Opaque', data: { ...data } });
}
