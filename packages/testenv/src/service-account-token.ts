/**
 * ServiceAccount tokens signed here, with the key that the API server trusts.
 *
 * The TokenRequest API refuses a lifetime under ten minutes, so a test that needs a token which expires in seconds, or
 * has expired, cannot get it from there. The claims are those of a TokenRequest token that is bound to the ServiceAccount.
 */
import { createPrivateKey, sign } from 'node:crypto';

/** The issuer and audience that the environment's API server is configured with. */
export const tokenIssuer = 'https://kubernetes.default.svc.cluster.local';

/**
 * How long the API server goes on to accept a token after its `exp`: Kubernetes validates claims with the default leeway
 * of go-jose, one minute (https://pkg.go.dev/github.com/go-jose/go-jose/v4/jwt#Claims.Validate).
 */
const serverLeewaySeconds = 60;

/** Whom a token speaks for. */
export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Signs a token that the API server stops to accept after so many seconds; zero or less gives an expired one. */
export function signToken(subject: TokenSubject, keyPem: string, expiresInSeconds: number): string {
  const now = Math.floor(Date.now() / 1000);
  const expires = now + expiresInSeconds - serverLeewaySeconds;
  const issued = Math.min(now, expires) - 1;
  const payload = {
    iss: tokenIssuer,
    aud: [tokenIssuer],
    sub: `system:serviceaccount:${subject.namespace}:${subject.name}`,
    iat: issued,
    nbf: issued,
    exp: expires,
    'kubernetes.io': { namespace: subject.namespace, serviceaccount: { name: subject.name, uid: subject.uid } },
  };
  const text = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode(payload)}`;
  // JWS wants the bare r‖s form of an ECDSA signature, not DER (RFC 7518 §3.4).
  const key = { key: createPrivateKey(keyPem), dsaEncoding: 'ieee-p1363' as const };
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
