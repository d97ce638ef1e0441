/** Connections to a search store: where it is, and whom to trust there. */
import { Pool } from 'undici';

export interface StorePlace {
  readonly url: URL;
  /** PEM; the certificates of the machine when left out. */
  readonly ca?: string | undefined;
  readonly insecureSkipVerify?: boolean | undefined;
}

/** Opens connections as they are needed. */
export function storePool({ url, ca, insecureSkipVerify }: StorePlace, options: Omit<Pool.Options, 'connect'>): Pool {
  return new Pool(url.origin, {
    ...options,
    connect: {
      timeout: 10_000,
      rejectUnauthorized: insecureSkipVerify !== true,
      ...(ca === undefined ? {} : { ca }),
    },
  });
}

/** What every path at the store begins with: a proxy may serve it below one. */
export function pathPrefix({ pathname }: URL): string {
  return pathname.replace(/\/+$/, '');
}

/** Why a connection failed, in the word of the system: `ECONNREFUSED`; '' when nothing says one. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return typeof code === 'string' ? code : cause === undefined ? '' : codeOf(cause);
}
