/** A consumer of a reflector as a cache would be: holds what it was told, and remembers the states it saw. */
import type { Kind, KubeObject } from '@keelson/schema';
import type { KubeClient } from '../client.ts';
import { type ReflectorOptions, type ReflectorState, reflect } from '../reflector.ts';

export interface Mirror<T> {
  /** By name. */
  readonly objects: ReadonlyMap<string, T>;
  readonly states: readonly ReflectorState<T>[];
  /** How often each state was seen. */
  count(state: ReflectorState<T>['state']): number;
  /** Codes of the interruptions, in order. */
  faults(): string[];
  /** Ends the reflector and resolves when it has ended. */
  stop(): Promise<void>;
}

export function mirror<T extends KubeObject>(
  client: KubeClient,
  kind: Kind<T>,
  options: Omit<ReflectorOptions, 'signal'> = {},
  pause: () => Promise<unknown> | undefined = () => undefined,
): Mirror<T> {
  const controller = new AbortController();
  const objects = new Map<string, T>();
  const states: ReflectorState<T>[] = [];
  const ended = (async () => {
    for await (const state of reflect(client, kind, { ...options, signal: controller.signal })) {
      states.push(state);
      if (state.state === 'replaced') {
        objects.clear();
        for (const item of state.items) objects.set(item.metadata.name, item);
      } else if (state.state === 'changed') {
        if (state.type === 'DELETED') objects.delete(state.object.metadata.name);
        else objects.set(state.object.metadata.name, state.object);
      }
      await pause();
    }
  })();
  return {
    objects,
    states,
    count: (wanted) => states.filter(({ state }) => state === wanted).length,
    faults: () => states.flatMap((state) => (state.state === 'interrupted' ? [state.fault.code] : [])),
    stop() {
      controller.abort(new Error('the test is over'));
      return ended;
    },
  };
}
