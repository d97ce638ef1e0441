import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type ContextManager,
  context,
  ROOT_CONTEXT,
  type Span,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { createTracing } from './tracing.ts';

interface Recorded {
  readonly name: string;
  readonly parent: string | undefined;
  attributes: unknown;
  error?: string;
  ended: boolean;
}

/** As little of an SDK as spans need: it keeps what was recorded. */
function createRecordingProvider(): { provider: TracerProvider; spans: Recorded[] } {
  const spans: Recorded[] = [];
  const names = new WeakMap<Span, string>();
  const tracer = {
    startActiveSpan(name: string, options: { attributes?: unknown }, run: (span: Span) => unknown) {
      const parent = trace.getActiveSpan();
      const recorded: Recorded = {
        name,
        parent: parent && names.get(parent),
        attributes: options.attributes,
        ended: false,
      };
      spans.push(recorded);
      const span = {
        isRecording: () => true,
        recordException: (error: Error) => {
          recorded.error = error.message;
        },
        setStatus() {},
        end: () => {
          recorded.ended = true;
        },
      } as unknown as Span;
      names.set(span, name);
      return context.with(trace.setSpan(context.active(), span), () => run(span));
    },
  } as unknown as Tracer;
  return { provider: { getTracer: () => tracer }, spans };
}

function useContexts(): void {
  const storage = new AsyncLocalStorage<Context>();
  const manager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active: Context, run: (...args: unknown[]) => unknown, self: unknown, ...args: unknown[]) =>
      storage.run(active, () => run.apply(self, args)),
    bind: (_: Context, target: unknown) => target,
    enable: () => manager,
    disable: () => manager,
  } as unknown as ContextManager;
  context.setGlobalContextManager(manager);
}

afterEach(() => context.disable());

describe('traces', () => {
  it('are a span for a reconcile and one below it for each step, also when it fails', async () => {
    useContexts();
    const { provider, spans } = createRecordingProvider();
    const tracing = createTracing(provider);
    const result = await tracing.reconcile('website', 'shop/front', async () => {
      await tracing.step('observe', async () => undefined);
      return tracing.step('plan', async () => 42);
    });
    expect(result).toBe(42);
    expect(spans).toEqual([
      {
        name: 'reconcile website',
        parent: undefined,
        attributes: { 'keelson.controller': 'website', 'keelson.key': 'shop/front' },
        ended: true,
      },
      { name: 'observe', parent: 'reconcile website', attributes: {}, ended: true },
      { name: 'plan', parent: 'reconcile website', attributes: {}, ended: true },
    ]);

    spans.length = 0;
    const failing = tracing.reconcile('website', 'shop/front', () =>
      tracing.step('execute', () => Promise.reject(new Error('refused'))),
    );
    await expect(failing).rejects.toThrow('refused');
    expect(spans.map(({ name, error, ended }) => [name, error, ended])).toEqual([
      ['reconcile website', 'refused', true],
      ['execute', 'refused', true],
    ]);
  });

  it('cost nothing without an SDK: the steps run as they are', async () => {
    const tracing = createTracing();
    const run = async (): Promise<string> => 'done';
    let stepped: unknown;
    const result = await tracing.reconcile('website', 'a', () => {
      stepped = tracing.step('observe', run);
      return stepped as Promise<string>;
    });
    expect(result).toBe('done');
    expect(stepped).toBeInstanceOf(Promise);
    expect(trace.getActiveSpan()).toBeUndefined();
  });
});
