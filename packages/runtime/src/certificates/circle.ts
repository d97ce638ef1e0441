/**
 * A circle of trust: parties that talk to each other by mutual TLS, and an authority of their own that vouches for each of them. Each
 * party has a Secret with its certificate and the bundle of those that it trusts; the key of the authority is in a Secret apart,
 * which no pod needs. Operators call this in `observe`, and write what comes out as the Secrets that they own.
 *
 * Invariants:
 *   - What is good is found again and comes out exactly as it went in, so that at rest nothing is written. What is broken, expired or
 *     missing is repaired; a lost authority does not cut off those who still go by it.
 *   - Nobody shows a certificate of a new authority before all have been told of it (rotation.ts, which decides all of this).
 */
import type { Secret } from '@keelson/schema';
import type { Certificate } from './certificate.ts';
import { byAge, readCertificates, toBundle } from './certificate.ts';
import { isOwnAuthority, issueAuthority, issueCertificate } from './issue.ts';
import { readMaterial, secretKeys } from './material.ts';
import { planRotation, type RotationPolicy } from './rotation.ts';

/** Somebody in the circle. */
export interface Party {
  /** Who it is, in at most 64 characters. */
  readonly name: string;
  readonly usage: 'server' | 'client';
  /** The DNS names and IP addresses that peers know it by. */
  readonly names: readonly string[];
}

/** What is stored of a party. */
export interface PartyMaterial {
  /** The data of its Secret: `tls.crt`, `tls.key`, `ca.crt`. */
  readonly data: Readonly<Record<string, string>>;
  /** Since when its bundle has been as it is. */
  readonly since: Date;
}

export interface CircleInput<Name extends string> {
  /** What the authority is called in its certificate. */
  readonly name: string;
  readonly parties: Readonly<Record<Name, Party>>;
  readonly policy: Omit<RotationPolicy, 'names'>;
  /** The data of the Secret of the authority, as it is. */
  readonly authority: Secret['data'];
  /** What there is of each party; one that is unknown, or whose date is none, is new. */
  readonly stored: Readonly<Partial<Record<Name, { readonly data: Secret['data']; readonly since: Date }>>>;
  readonly now: Date;
  /** Whether all that run have taken over a bundle with this authority, which was written then; true unless told. */
  isTold?(fingerprint: string, since: Date): boolean;
}

export interface Circle<Name extends string> {
  /** The data of the Secret of the authority: `ca.crt`, `ca.key`. */
  readonly authority: Readonly<Record<string, string>>;
  readonly parties: Readonly<Record<Name, PartyMaterial>>;
  /** The fingerprint of the authority that signs from now on. */
  readonly signer: string;
}

/** The circle as it should be stored: what there is, and anew what is not good any more. */
export async function renewCircle<Name extends string>(input: CircleInput<Name>): Promise<Circle<Name>> {
  const { policy, parties } = input;
  const now = input.now.getTime();
  const members = Object.keys(parties) as Name[];
  const known = knownBundle(input, members);
  const trustedSince = (fingerprint: string) => toldSince(input, members, fingerprint);
  const plans = members.map((member) => {
    const data = { ...input.stored[member]?.data, ...known };
    const material = readMaterial(data);
    const names = parties[member].names;
    return { member, material, plan: planRotation({ material, now, policy: { ...policy, names }, trustedSince }) };
  });
  const [first] = plans;
  if (first === undefined) throw new RangeError('a circle of trust needs a party');
  // The authority is one for all: every plan has the same opinion of it.
  const { signer: before } = first.material;
  const signer =
    first.plan.authority === undefined && before !== undefined
      ? before
      : await issueAuthority({ now, lifetimeMs: policy.authorityLifetimeMs, name: input.name });
  const kept = new Map(plans.flatMap(({ plan }) => plan.keep.map((one) => [one.fingerprint, one])));
  kept.set(signer.certificate.fingerprint, signer.certificate);
  const bundle = encode(toBundle([...kept.values()].sort(byAge)));
  const renewed = await Promise.all(
    plans.map(async ({ member, material, plan }): Promise<[Name, PartyMaterial]> => {
      const { usage, names, name } = parties[member];
      const request = { now, lifetimeMs: policy.servingLifetimeMs, names, usage, subject: name };
      const pair =
        material.serving === undefined || plan.serving !== undefined
          ? await issueCertificate(signer, request)
          : material.serving;
      const data = {
        [secretKeys.certificate]: encode(pair.certificate.pem),
        [secretKeys.key]: encode(pair.keyPem),
        [secretKeys.bundle]: bundle,
      };
      const stored = input.stored[member];
      const isSame = stored?.data?.[secretKeys.bundle] === bundle && !Number.isNaN(stored.since.getTime());
      return [member, { data, since: isSame ? stored.since : input.now }];
    }),
  );
  return {
    authority: { [secretKeys.bundle]: bundle, [secretKeys.authorityKey]: encode(signer.keyPem) },
    parties: Object.fromEntries(renewed) as Record<Name, PartyMaterial>,
    signer: signer.certificate.fingerprint,
  };
}

/**
 * The authorities, as the Secret of the authority tells: what somebody adds to the bundle of a party is not believed. Only where that Secret is
 * lost the parties are asked, so that they go on understanding each other.
 */
function knownBundle<Name extends string>(
  { authority = {}, stored }: Pick<CircleInput<Name>, 'authority' | 'stored'>,
  members: readonly Name[],
): Record<string, string> {
  const own = authorities(authority);
  const all = own.length > 0 ? own : members.flatMap((member) => authorities(stored[member]?.data));
  return {
    [secretKeys.bundle]: encode(toBundle(all)),
    [secretKeys.authorityKey]: authority[secretKeys.authorityKey] ?? '',
  };
}

/** Since when every party has had this authority in its bundle, and has taken it over. */
function toldSince<Name extends string>(
  { stored, isTold }: Pick<CircleInput<Name>, 'stored' | 'isTold'>,
  members: readonly Name[],
  fingerprint: string,
): number | undefined {
  let since = 0;
  for (const member of members) {
    const one = stored[member];
    if (one === undefined || !authorities(one.data).some((authority) => authority.fingerprint === fingerprint))
      return undefined;
    since = Math.max(since, one.since.getTime());
  }
  // A date that is none compares with nothing: it will be written anew, and counts from then.
  if (Number.isNaN(since)) return undefined;
  return isTold?.(fingerprint, new Date(since)) === false ? undefined : since;
}

function authorities(data: Secret['data']): readonly Certificate[] {
  return readCertificates(Buffer.from(data?.[secretKeys.bundle] ?? '', 'base64').toString('utf8')).filter(
    isOwnAuthority,
  );
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
