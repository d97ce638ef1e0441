/**
 * A client whose writes ask the fence, each attempt right before it goes to the wire. A check before the call is not enough: a
 * call may wait for its turn, be turned away and repeated, or stand still with its whole process (a suspended machine), and the
 * lease may be another's when it goes on.
 *
 * Whoever writes on behalf of the leader (engine, events, webhooks) holds such a client; the elector alone holds a plain one.
 */
import type { CallOptions, KubeClient } from '@keelson/kube';
import type { Fence } from './fence.ts';

/** The same client, but for writes that reject with what the fence throws. Reads are as they were. */
export function fenceWrites(client: KubeClient, fence: Fence): KubeClient {
  const fenced = <O extends CallOptions>(options: O): O => ({
    ...options,
    guard() {
      fence.check();
      options.guard?.();
    },
  });
  return {
    get: (kind, ref, options) => client.get(kind, ref, options),
    find: (kind, ref, options) => client.find(kind, ref, options),
    list: (kind, options) => client.list(kind, options),
    listAll: (kind, options) => client.listAll(kind, options),
    watch: (kind, options) => client.watch(kind, options),
    logs: (ref, options) => client.logs(ref, options),
    resolve: (ref, options) => client.resolve(ref, options),
    kinds: (options) => client.kinds(options),
    create: (kind, object, options = {}) => client.create(kind, object, fenced(options)),
    update: (kind, object, options = {}) => client.update(kind, object, fenced(options)),
    patch: (kind, ref, patch, options = {}) => client.patch(kind, ref, patch, fenced(options)),
    apply: (kind, object, options) => client.apply(kind, object, fenced(options)),
    delete: (kind, ref, options = {}) => client.delete(kind, ref, fenced(options)),
    raw: (path, options = {}) => client.raw(path, (options.method ?? 'GET') === 'GET' ? options : fenced(options)),
    close: () => client.close(),
  };
}
