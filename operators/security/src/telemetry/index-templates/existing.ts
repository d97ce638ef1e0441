/** An index as it is in the store before anything is said about it. */
import { ask, jsonOf, type StoreAddress } from './store.ts';

export interface Existing {
  /** Made of a template of ours. */
  readonly isOurs: boolean;
  /** A data stream, which a store lets neither become an index nor lose its kind of template. */
  readonly isStream: boolean;
}

interface Mapping {
  readonly mappings?: { readonly _meta?: { readonly managed_by?: string }; readonly _data_stream_timestamp?: object };
}

/** Only the marks: a data stream answers with the mapping of every index that it has. What has neither mark is left out of the answer. */
const MARKS = 'filter_path=*.mappings._meta,*.mappings._data_stream_timestamp';

/** `undefined` if it is not there yet; or if the account may write and not look. */
export async function lookAt(store: StoreAddress, index: string, signal: AbortSignal): Promise<Existing | undefined> {
  const { status, body } = await ask(store, 'GET', `/${encodeURIComponent(index)}/_mapping?${MARKS}`, { signal });
  const found = status === 200 ? jsonOf(body) : undefined;
  if (found === undefined) return undefined;
  const mappings = Object.values(found as Readonly<Record<string, Mapping>>).map((one) => one.mappings ?? {});
  return {
    isOurs: mappings.some(({ _meta }) => _meta?.managed_by === 'keelson'),
    isStream: mappings.some(({ _data_stream_timestamp }) => _data_stream_timestamp !== undefined),
  };
}
