import type { Environment } from '../environment.js';

/** What a span holds beside its name and times. */
export type SpanAttributes = Record<string, string | number | boolean>;

export interface SpanOptions {
  /**
   * W3C traceparents that the work follows from: the span stands once in each of their traces, at most
   * {@link SPAN_TRACES_MAX}. Default: the span around the call.
   */
  parents?: readonly string[];
  kind?: 'internal' | 'producer' | 'consumer';
  attributes?: SpanAttributes;
  /** When it began, Unix ms; default: now. */
  startMs?: number;
}

/** A piece of work under way, in every sampled trace that it belongs to. */
export interface OpenSpan {
  /** W3C traceparents of the span, one for each of its traces; what follows from it names them as `parents`. */
  readonly traceparents: readonly string[];
  /** The one in the same trace as `parent`. */
  traceparentAfter(parent: string): string | undefined;
  set(attributes: SpanAttributes): void;
  /** Runs `work` inside the span: what it starts is a child of it. */
  around<T>(work: () => T): T;
  /** @param failure the error; absent if it went well */
  end(failure?: unknown): void;
}

/** Where spans go while traces are on. */
export abstract class Tracing {
  /** The first span of a process in a trace; null when the trace is not sampled. */
  abstract startRequest(name: string, incoming: string | undefined): OpenSpan | null;

  /** null when none of its parents is sampled. */
  abstract start(name: string, options: SpanOptions): OpenSpan | null;

  abstract readonly current: OpenSpan | null;

  /** Sends the spans that wait, for a few seconds at most. */
  abstract stop(): Promise<void>;
}

/** The most traces that one span stands in: a batch of more sampled events is shown in the first of them. */
export const SPAN_TRACES_MAX = 32;

let tracing: Tracing | null = null;

/** Whether this process records traces. Everything below does nothing, and allocates nothing, while it is false. */
export const isTracing = (): boolean => tracing !== null;

/**
 * Turns traces on where `OTEL_EXPORTER_OTLP_ENDPOINT` is set; else neither SDK nor exporter is loaded.
 * @param service the name that spans carry: api, projector, gateway or standalone
 */
export async function startTracing(environment: Environment, service: string): Promise<void> {
  const endpoint = environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (endpoint === undefined || tracing !== null) return;
  const { openTracing } = await import('./tracing-sdk.js');
  tracing = openTracing({ endpoint, sampledRatio: environment.OTEL_TRACES_SAMPLER_ARG, service });
}

/** Sends the spans that wait, for a few seconds at most; then traces are off. */
export async function stopTracing(): Promise<void> {
  const stopped = tracing;
  tracing = null;
  await stopped?.stop();
}

/**
 * Starts the span of a request; the caller ends it.
 * @param incoming the request's `traceparent` header: its trace goes on, and whether it is sampled holds here too
 */
export const startRequestSpan = (name: string, incoming: string | undefined): OpenSpan | null =>
  tracing === null ? null : tracing.startRequest(name, incoming);

/** Starts a span that follows from others; null where none of them is sampled. The caller ends it. */
export const startSpan = (name: string, options: SpanOptions = {}): OpenSpan | null =>
  tracing === null ? null : tracing.start(name, options);

/** The span around the call. */
export const currentSpan = (): OpenSpan | null => (tracing === null ? null : tracing.current);

/** Runs `work` within a span that ends with it; where nothing is sampled, just runs it. */
export function traced<T>(name: string, options: SpanOptions, work: (span: OpenSpan | null) => Promise<T>): Promise<T> {
  const span = tracing === null ? null : tracing.start(name, options);
  return span === null ? work(null) : inside(span, work);
}

async function inside<T>(span: OpenSpan, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    const result = await span.around(() => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** The id of the trace that a traceparent names: its second field (W3C Trace Context, section 3.2.2). */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
