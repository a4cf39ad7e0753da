/** The export of all metrics as Prometheus text. */
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

/** The media type of the text: Prometheus' exposition format. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** One number with its labels. */
interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metricName?: string;
}

/** All metrics as Prometheus text. */
export function metricsText(reader: MetricReader<LoopCatalogue>, now: ProcessNow): string {
  const ofLoops = (Object.entries(METRICS) as [keyof LoopCatalogue, MetricSpec][]).map(([key, spec]) =>
    metricText(spec, samplesOf(reader, key, spec)),
  );
  const ofProcess = Object.values<ProcessMetric>(PROCESS_METRICS).map((metric) =>
    metricText(metric, [{ value: metric.read(now), labels: metric.labelsOf?.(now) ?? {} }]),
  );
  return [...ofLoops, ...ofProcess].join('');
}

function metricText({ name, help, type }: MetricSpec, samples: readonly Sample[]): string {
  const lines = samples.map(({ metricName = name, labels = {}, value }) => {
    const set = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${metricName}${set.length > 0 ? `{${set.join(',')}}` : ''} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\"\n]/g, (one) => (one === '\n' ? '\\n' : `\\${one}`));
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
