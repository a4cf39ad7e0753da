/** The export of all metrics as Prometheus text. */
import { Registry, type Metric } from 'prom-client';
import {
  bucketBound,
  labelSets,
  type HistogramSpec,
  type KeysOfType,
  type MetricReader,
  type MetricSpec,
} from '../base/metrics.js';
import { METRICS, type LoopCatalogue } from '../contract/metrics.js';
import { PROCESS_METRICS, type ProcessMetric, type ProcessNow } from './processMetrics.js';

export interface MetricsExport {
  readonly contentType: string;
  /** All metrics as Prometheus text. */
  text(): Promise<string>;
}

/** One number with its labels. */
interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metricName?: string;
}

/** The only user of prom-client, which formats the text from numbers read when it is asked. */
export function exportMetrics(reader: MetricReader<LoopCatalogue>, now: () => ProcessNow): MetricsExport {
  const registry = new Registry();
  for (const [key, spec] of Object.entries(METRICS) as [keyof LoopCatalogue, MetricSpec][]) {
    register(registry, spec, () => samplesOf(reader, key, spec));
  }
  for (const metric of Object.values<ProcessMetric>(PROCESS_METRICS)) {
    register(registry, metric, () => [{ value: metric.read(now()), labels: metric.labelsOf?.(now()) ?? {} }]);
  }
  return { contentType: registry.contentType, text: () => registry.metrics() };
}

/** Registers a metric whose samples prom-client only requests: prom-client itself counts nothing. */
function register(
  registry: Registry,
  { name, help, type }: MetricSpec,
  samples: () => readonly Sample[],
): void {
  const metric = {
    name,
    help,
    get: () => Promise.resolve({ name, help, type, aggregator: 'sum', values: samples() }),
  };
  registry.registerMetric(metric as unknown as Metric);
}

function samplesOf(
  reader: MetricReader<LoopCatalogue>,
  key: keyof LoopCatalogue,
  spec: MetricSpec,
): Sample[] {
  const sets = labelSets(spec.labels);
  if (spec.type === 'histogram') {
    const histogramKey = key as KeysOfType<LoopCatalogue, 'histogram'>;
    return sets.flatMap((labels, cell) =>
      histogramSamples(spec, labels, reader.histogram(histogramKey, cell)),
    );
  }
  const scale = spec.scale ?? 1;
  const plainKey = key as KeysOfType<LoopCatalogue, 'counter' | 'gauge'>;
  if (spec.eachLoop === true) {
    return Array.from({ length: reader.loopCount }, (_, loop) => ({
      labels: { loop: String(loop) },
      value: reader.ofLoop(loop, plainKey) * scale,
    }));
  }
  return sets.map((labels, cell) => ({ labels, value: reader.total(plainKey, cell) * scale }));
}

/** Prometheus counts from 0 to each bound. */
function histogramSamples(
  spec: HistogramSpec,
  labels: Readonly<Record<string, string>>,
  { sum, buckets }: { readonly sum: number; readonly buckets: Float64Array },
): Sample[] {
  const scale = spec.scale ?? 1;
  const samples: Sample[] = [];
  let count = 0;
  const last = buckets.length - 1;
  buckets.forEach((inside, bucket) => {
    count += inside;
    if (bucket !== last && bucket % spec.exportEvery !== 0) return;
    const le = bucket === last ? '+Inf' : decimal(bucketBound(spec, bucket) * scale);
    samples.push({ metricName: `${spec.name}_bucket`, labels: { ...labels, le }, value: count });
  });
  samples.push({ metricName: `${spec.name}_sum`, labels, value: sum * scale });
  samples.push({ metricName: `${spec.name}_count`, labels, value: count });
  return samples;
}

/** Rounds to nine digits: 0.1 + 0.2 would name its bucket 0.30000000000000004. */
function decimal(value: number): string {
  return String(Number(value.toPrecision(9)));
}
