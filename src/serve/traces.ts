import { hostname } from 'node:os';
import type { Config } from '../config/options.js';
import type { Log } from '../base/process/log.js';
import type { TraceExporter } from './exporter.js';
import { packageVersion } from '../base/process/packageVersion.js';

/** Opens the exporter of traces; undefined if none is configured. Its libraries are loaded only here. */
export async function openTraces(config: Config, log: Log): Promise<TraceExporter | undefined> {
  const { otlpEndpoint, otlpTracesEndpoint, otelSdkDisabled } = config;
  if (otelSdkDisabled.toLowerCase() === 'true') return undefined;
  if (otlpEndpoint === '' && otlpTracesEndpoint === '') return undefined;
  const { openTraceExporter } = await import('./exporter.js');
  return openTraceExporter({
    version: packageVersion(),
    instance: `${hostname()}-${process.pid}`,
    onProblem: (message) => log.warn({ reason: message }, 'traces are not sent'),
  });
}
