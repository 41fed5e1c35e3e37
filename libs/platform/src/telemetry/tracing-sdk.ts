import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type NodeTracerConfig,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { metrics } from './metrics.js';
import {
  SPAN_TRACES_MAX,
  traceIdOf,
  Tracing,
  type OpenSpan,
  type SpanAttributes,
  type SpanOptions,
} from './tracing.js';

export interface TracingOptions {
  /** The collector's address; `/v1/traces` is appended (OpenTelemetry protocol exporter specification). */
  endpoint: string;
  /** How many of the traces that begin here are recorded, 0 to 1. */
  sampledRatio: number;
  service: string;
}

/** Spans that wait for the exporter; what comes beyond is dropped, and counted. */
const QUEUE_SPANS_MAX = 2048;
const EXPORT_SPANS_MAX = 512;
const EXPORT_EVERY_MS = 1000;
const EXPORT_WITHIN_MS = 5000;
const STOP_WITHIN_MS = 3000;
/** The most children of one span: a batch of a thousand submissions is not a thousand spans. */
const CHILDREN_MAX = 64;

const KINDS = { internal: SpanKind.INTERNAL, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER };
/** W3C Trace Context, section 3.2; fields that a later version may add are passed over. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

/** Spans by OpenTelemetry, sent as OTLP over HTTP in the background. */
export const openTracing = (options: TracingOptions): Tracing => new OtlpTracing(options);

class OtlpTracing extends Tracing {
  private readonly provider: NodeTracerProvider;
  private readonly tracer: Tracer;
  private readonly around = new AsyncLocalStorage<OpenSpan>();

  constructor({ endpoint, sampledRatio, service }: TracingOptions) {
    super();
    const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
    this.provider = new NodeTracerProvider({
      resource: resourceOf(service),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledRatio) }),
      spanProcessors: [new BoundedSpanProcessor(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_WITHIN_MS }))],
    });
    this.tracer = this.provider.getTracer('laddercast');
  }

  get current(): OpenSpan | null {
    return this.around.getStore() ?? null;
  }

  startRequest(name: string, incoming: string | undefined): OpenSpan | null {
    const parent = incoming === undefined ? null : spanContextOf(incoming);
    const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    return this.opened([this.tracer.startSpan(name, { kind: SpanKind.SERVER }, context)]);
  }

  start(name: string, { parents, kind = 'internal', attributes = {}, startMs }: SpanOptions): OpenSpan | null {
    const contexts = parents === undefined ? this.ownContexts() : contextsAfter(parents);
    if (contexts.length === 0) return null;
    const options = { kind: KINDS[kind], attributes, ...(startMs !== undefined && { startTime: startMs }) };
    return this.opened(contexts.map((context) => this.tracer.startSpan(name, options, context)));
  }

  async stop(): Promise<void> {
    const shutdown = this.provider.shutdown().catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_WITHIN_MS)));
    await Promise.race([shutdown, late]);
    clearTimeout(timer);
  }

  private ownContexts(): Context[] {
    const span = this.around.getStore();
    return span instanceof SpanGroup && span.takeChild() ? span.contexts() : [];
  }

  private opened(spans: Span[]): OpenSpan | null {
    const sampled = spans.filter((span) => span.isRecording());
    return sampled.length === 0 ? null : new SpanGroup(sampled, this.around);
  }
}

/** One span in each of its traces. */
class SpanGroup implements OpenSpan {
  readonly traceparents: readonly string[];
  private children = 0;

  constructor(
    private readonly spans: readonly Span[],
    private readonly storage: AsyncLocalStorage<OpenSpan>,
  ) {
    this.traceparents = spans.map((span) => traceparentOf(span.spanContext()));
  }

  traceparentAfter(parent: string): string | undefined {
    return this.traceparents.find((own) => traceIdOf(own) === traceIdOf(parent));
  }

  set(attributes: SpanAttributes): void {
    for (const span of this.spans) span.setAttributes(attributes);
  }

  around<T>(work: () => T): T {
    return this.storage.run(this, work);
  }

  end(failure?: unknown): void {
    for (const span of this.spans) {
      if (failure !== undefined) {
        // Only the name: messages may hold what a client sent.
        const message = failure instanceof Error ? ((failure as { code?: unknown }).code ?? failure.name) : 'failed';
        span.setStatus({ code: SpanStatusCode.ERROR, message: String(message) });
      }
      span.end();
    }
  }

  /** Whether the span may have one more child. */
  takeChild(): boolean {
    this.children += 1;
    if (this.children === CHILDREN_MAX + 1) this.set({ 'laddercast.children_left_out': true });
    return this.children <= CHILDREN_MAX;
  }

  contexts(): Context[] {
    return this.spans.map((span) => trace.setSpan(ROOT_CONTEXT, span));
  }
}

/** One context for each sampled trace among the parents: that of the first of them. */
function contextsAfter(parents: readonly string[]): Context[] {
  const contexts = new Map<string, Context>();
  for (const traceparent of parents) {
    if (contexts.size >= SPAN_TRACES_MAX) break;
    const parent = spanContextOf(traceparent);
    if (parent === null || (parent.traceFlags & TraceFlags.SAMPLED) === 0 || contexts.has(parent.traceId)) continue;
    contexts.set(parent.traceId, trace.setSpanContext(ROOT_CONTEXT, parent));
  }
  return [...contexts.values()];
}

function spanContextOf(traceparent: string): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
}

const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

type Resource = NonNullable<NodeTracerConfig['resource']>;

function resourceOf(service: string): Resource {
  const attributes = {
    'service.name': `laddercast-${service}`,
    'service.namespace': 'laddercast',
    'service.instance.id': randomUUID(),
    'process.pid': process.pid,
  };
  const resource: Resource = {
    attributes,
    merge: () => resource,
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}

/** Batches spans for the exporter, and counts those that found no room or could not be sent. */
class BoundedSpanProcessor implements SpanProcessor {
  private readonly batches: BatchSpanProcessor;
  private waiting = 0;

  constructor(exporter: SpanExporter) {
    const counted: SpanExporter = {
      export: (spans, done) => {
        exporter.export(spans, (result) => {
          this.waiting -= spans.length;
          // 1: failed (OpenTelemetry's ExportResultCode).
          if (result.code === 1) metrics.spansDropped.inc({ reason: 'export' }, spans.length);
          done(result);
        });
      },
      forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
      shutdown: () => exporter.shutdown(),
    };
    this.batches = new BatchSpanProcessor(counted, {
      // Larger than what is let in, so that this queue never drops a span uncounted.
      maxQueueSize: 2 * QUEUE_SPANS_MAX,
      maxExportBatchSize: EXPORT_SPANS_MAX,
      scheduledDelayMillis: EXPORT_EVERY_MS,
      exportTimeoutMillis: 2 * EXPORT_WITHIN_MS,
    });
  }

  onStart(): void {
    // Only ended spans are kept.
  }

  onEnd(span: ReadableSpan): void {
    if (this.waiting >= QUEUE_SPANS_MAX) {
      metrics.spansDropped.inc({ reason: 'queue' });
      return;
    }
    this.waiting += 1;
    this.batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.batches.shutdown();
  }
}
