/**
 * What `observe` and effects read with: straight from the API server, and only what the operator declares in `reads`. That
 * declaration is where its permissions come from, so an undeclared read would work on a laptop and fail in production.
 */
import type { KubeClient } from '@keelson/kube';
import { type Kind, type KubeObject, resourceNameOf } from '@keelson/schema';
import { operatorBug } from './bug.ts';
import type { Operator, Reader } from './operator.ts';
import type { Redactor } from './redact.ts';

export interface ReaderOptions {
  readonly operator: Pick<Operator, 'name' | 'reads'>;
  readonly client: Pick<KubeClient, 'find'>;
  /** Of the instance: where namespaced objects are looked for unless the caller says otherwise. */
  readonly namespace: string | undefined;
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
}

export function createReader({ operator, client, namespace, signal, redactor }: ReaderOptions): Reader {
  return {
    async find<T extends KubeObject>(kind: Kind<T>, ref: { name: string; namespace?: string }): Promise<T | undefined> {
      const place = kind.scope === 'Cluster' ? undefined : (ref.namespace ?? namespace);
      const allowed = operator.reads.some(
        (read) =>
          resourceNameOf(read.kind) === resourceNameOf(kind) &&
          (read.names === undefined || read.names.includes(ref.name)) &&
          (read.namespace === undefined || read.namespace === place),
      );
      if (!allowed) {
        throw operatorBug(
          `operator ${operator.name} reads ${kind.kind} ${place === undefined ? '' : `${place}/`}${ref.name}, which its reads do not cover: ` +
            `add { kind: ${kind.kind}, why: '…' } to them, with names and namespace where they are known`,
        );
      }
      const object = await client.find(
        kind,
        { name: ref.name, ...(place === undefined ? {} : { namespace: place }) },
        { signal },
      );
      if (object !== undefined) redactor.learn(object);
      return object;
    },
  };
}
