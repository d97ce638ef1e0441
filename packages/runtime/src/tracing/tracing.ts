/**
 * Traces: one span for a reconcile, one below it for each step of the flow. Only the API of OpenTelemetry is used; without a
 * registered SDK no span is made and nothing is paid but a look.
 */
import {
  type Attributes,
  type Span,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';

export interface Tracing {
  /** Wraps one reconcile. */
  reconcile<T>(controller: string, key: string, run: () => Promise<T>): Promise<T>;
  /** Wraps one step of it. */
  step<T>(name: string, run: () => Promise<T>): Promise<T>;
}

/** Traces into a provider; default: the one that the process registered. */
export function createTracing(provider?: TracerProvider): Tracing {
  const tracer: Tracer = (provider ?? trace).getTracer('@keelson/runtime');
  const wrap = <T>(name: string, attributes: Attributes, run: () => Promise<T>): Promise<T> =>
    tracer.startActiveSpan(name, { attributes }, (span) => follow(span, run));

  return {
    reconcile: (controller, key, run) =>
      wrap(`reconcile ${controller}`, { 'keelson.controller': controller, 'keelson.key': key }, run),
    step: (name, run) => (trace.getActiveSpan()?.isRecording() === true ? wrap(name, {}, run) : run()),
  };
}

async function follow<T>(span: Span, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
    throw error;
  } finally {
    span.end();
  }
}
