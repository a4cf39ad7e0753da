/** What is drawn: each chart with its series. `dash` and `width` tell lines apart without their colour. */
import { milliseconds, plain, rate } from './numbers.js';
import { busiest } from './tables.js';

const whole = (value) => plain(value);
const tenths = (value) => plain(value, value < 10 ? 1 : 0);
const share = (value) => Math.min(1, value) * 100;

/** Of a chart: how the y axis runs. `log`: logarithmic milliseconds; `stacked`: the series add up. */
export const CHARTS = [
  {
    title: 'Throughput',
    unit: 'requests/s',
    series: () => [
      { label: 'scored', color: 1, value: (point) => point.served, show: rate },
      { label: 'refused', color: 2, dash: [6, 3], value: (point) => point.refused, show: rate },
    ],
  },
  {
    title: 'Latency of scored requests',
    unit: 'logarithmic',
    log: true,
    series: () => [
      // With few requests a second both are the slowest one: the wide line shows beneath the other.
      { label: 'p99.9', color: 5, width: 6, value: (point) => point.p999Ms, show: inMilliseconds },
      { label: 'p99', color: 3, dash: [6, 3], value: (point) => point.p99Ms, show: inMilliseconds },
      { label: 'p50', color: 4, value: (point) => point.p50Ms, show: inMilliseconds },
    ],
  },
  {
    title: 'Time by stage',
    unit: 'ms of a scored request, mean',
    stacked: true,
    series: ({ stages }) =>
      stages.map((stage, index) => ({
        label: stage,
        color: [7, 1, 3, 4, 5, 6][index],
        value: (point) => point.stagesMs[index],
        show: inMilliseconds,
      })),
  },
  {
    title: 'Utilisation',
    unit: '% of the time',
    top: 100,
    series: (start, points) => [
      { label: 'workers', color: 1, value: (point) => share(point.workersBusy), show: whole },
      ...loopSeries(points),
    ],
  },
  {
    title: 'Queue',
    unit: 'requests',
    series: () => [
      { label: 'in flight, mean', color: 1, value: (point) => point.inFlight, show: tenths },
      { label: 'highest', color: 4, dash: [2, 3], value: (point) => point.inFlightMost, show: whole },
      { label: 'waiting', color: 3, dash: [6, 3], value: (point) => point.queued, show: whole },
    ],
  },
  {
    title: 'Batch size',
    unit: 'requests in a model run, mean',
    series: () => [
      { label: 'rows', color: 1, value: (point) => point.batchRows, show: (value) => plain(value, 1) },
    ],
  },
  {
    title: 'Memory',
    unit: 'MiB resident',
    series: () => [{ label: 'memory', color: 1, value: (point) => point.rssBytes / 2 ** 20, show: whole }],
  },
  {
    title: 'Garbage collection',
    unit: '% of the time, event loops',
    series: () => [
      { label: 'collecting', color: 5, value: (point) => point.gc * 100, show: (value) => plain(value, 1) },
    ],
  },
  {
    title: 'Connections',
    unit: 'open',
    series: () => [{ label: 'open', color: 6, value: (point) => point.connections, show: whole }],
  },
];

function inMilliseconds(value) {
  const text = milliseconds(value);
  return value === null || value === undefined ? text : `${text} ms`;
}

/** Each event loop where they are few, else the busiest one. */
function loopSeries(points) {
  const count = points.at(-1)?.loopsBusy.length ?? 1;
  if (count > 4) {
    const value = (point) => busiest(point) * 100;
    return [{ label: 'busiest event loop', color: 3, dash: [6, 3], value, show: whole }];
  }
  return Array.from({ length: count }, (_, loop) => ({
    label: count === 1 ? 'event loop' : `event loop ${loop}`,
    color: [3, 4, 5, 6][loop],
    dash: [6, 3 + 2 * loop],
    value: (point) => (point.loopsBusy[loop] ?? 0) * 100,
    show: whole,
  }));
}
