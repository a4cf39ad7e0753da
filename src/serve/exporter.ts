import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { messageOf } from '../base/errors.js';
import { within } from '../base/within.js';
import type { TracedRequest } from '../http/tracedRequest.js';

/** Sends sampled requests to a collector. */
export interface TraceExporter {
  /** Queues a request; returns before anything is sent, and never fails. */
  export(request: TracedRequest): void;
  /** Sends the rest, and gives up after `limitMs`. */
  close(limitMs: number): Promise<void>;
}

export interface TraceExporterOptions {
  /** Version of this package. */
  readonly version: string;
  /** Identifies this replica, as `service.instance.id`. */
  readonly instance: string;
  /** The collector can't be reached, refuses, or is too slow; called at most once a minute. */
  onProblem(message: string): void;
}

/** Most spans waiting to be sent, about seven per request; more are dropped. */
const WAITING_MAX = 8192;
const SENT_AT_ONCE_MAX = 1024;
const SEND_EVERY_MS = 2000;
const SEND_TIMEOUT_MS = 10_000;
const PROBLEM_EVERY_MS = 60_000;

/**
 * Opens the exporter. OpenTelemetry's own libraries read the target, headers, time-outs and service name from the
 * standard variables (docs/TRACING.md). This file is their sole user.
 */
export function openTraceExporter({ version, instance, onProblem }: TraceExporterOptions): TraceExporter {
  diag.setLogger(problemLogger(onProblem), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.name': 'acuity',
          'service.version': version,
          'service.instance.id': instance,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    // Only requests that the caller sampled get here.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        maxQueueSize: WAITING_MAX,
        maxExportBatchSize: SENT_AT_ONCE_MAX,
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('acuity', version);
  return {
    export: (request) => exportRequest(tracer, request),
    async close(limitMs) {
      const closed = provider.shutdown().catch((error: unknown) => onProblem(messageOf(error)));
      if (!(await within(limitMs, closed))) onProblem('the collector did not take the last spans in time');
    },
  };
}

function exportRequest(tracer: Tracer, request: TracedRequest): void {
  const { parent, startedMs, totalMs, stages, status, cause } = request;
  const above = trace.setSpanContext(ROOT_CONTEXT, {
    ...parent,
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });
  const server = tracer.startSpan(
    'POST /predict',
    { kind: SpanKind.SERVER, startTime: startedMs, attributes: attributesOf(request) },
    above,
  );
  // Section "Status" of the conventions: a caller's mistake is not a server error.
  if (status === undefined || status >= 500)
    server.setStatus({ code: SpanStatusCode.ERROR, message: cause ?? 'the caller hung up' });
  const inside = trace.setSpan(above, server);
  let atMs = startedMs;
  for (const [stage, ms] of stages) {
    const child = tracer.startSpan(stage, { startTime: atMs }, inside);
    atMs += ms;
    child.end(atMs);
  }
  server.end(startedMs + totalMs);
}

function attributesOf({
  requestId,
  status,
  cause,
  keyKind,
  bodyBytes,
  batchRows,
  lines,
}: TracedRequest): Attributes {
  return {
    // Always POST with a valid key: other requests are not traced.
    'http.request.method': 'POST',
    'http.route': '/predict',
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(bodyBytes === 0 ? {} : { 'http.request.body.size': bodyBytes }),
    ...(status === undefined || status >= 500 ? { 'error.type': String(status ?? 'hung_up') } : {}),
    'acuity.request_id': requestId,
    'acuity.key.kind': keyKind,
    ...(cause === undefined ? {} : { 'acuity.refusal.cause': cause }),
    ...(batchRows === undefined ? {} : { 'acuity.batch.rows': batchRows }),
    ...(lines === undefined ? {} : { 'acuity.lines': lines }),
  };
}

/** An unreachable collector causes an error with each attempt; report one a minute. */
function problemLogger(onProblem: (message: string) => void): Parameters<typeof diag.setLogger>[0] {
  let quietUntilMs = -Infinity;
  const tell = (message: string): void => {
    const nowMs = performance.now();
    if (nowMs < quietUntilMs) return;
    quietUntilMs = nowMs + PROBLEM_EVERY_MS;
    onProblem(shortened(message));
  };
  const nothing = (): void => undefined;
  return { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
}

/** The library formats an error as JSON with its stack. */
function shortened(message: string): string {
  try {
    const { message: inner } = JSON.parse(message) as { readonly message?: unknown };
    return typeof inner === 'string' ? inner : message;
  } catch {
    return message;
  }
}
