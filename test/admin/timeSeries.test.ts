import t from 'tap';
import { manualClock } from '../fixtures/manualClock.js';
import { MetricReader } from '#acuity/base/metrics.js';
import {
  METRICS,
  REFUSAL_CAUSES,
  STAGES,
  allocateLoopMetrics,
  loopRecorders,
} from '#acuity/contract/metrics.js';
import { TimeSeries, POINTS_MAX } from '#acuity/admin/timeSeries.js';

const TOTAL = STAGES.indexOf('total');

function scene({ loops = 1, workers = 1 } = {}) {
  const memories = Array.from({ length: loops }, allocateLoopMetrics);
  const writers = memories.map(loopRecorders);
  const clock = manualClock(1_000_000);
  const timeSeries = new TimeSeries({
    reader: new MetricReader(METRICS, memories),
    clock,
    workers,
    rssBytes: () => 123,
  });
  const [writer] = writers;
  if (writer === undefined) throw new Error('a loop');
  return { writers, writer, clock, timeSeries };
}

t.test('a point holds the events since the one before, each second', async (t) => {
  const { writer, clock, timeSeries } = scene({ workers: 2 });
  const total = writer.stages;
  for (let request = 0; request < 200; request++) total.observe(TOTAL, 1);
  writer.refusals.add(REFUSAL_CAUSES.indexOf('queueFull'), 10);
  writer.batchRows.observe(0, 12);
  writer.batchRows.observe(1, 4);
  writer.workerBusy.add(0, 1000);
  clock.advance(2000);
  t.match(timeSeries.sample(), {
    atMs: 1_002_000,
    served: 100,
    refused: 5,
    refusals: { queueFull: 10 },
    batchRows: 8,
    workersBusy: 0.25,
    rssBytes: 123,
  });
  clock.advance(1000);
  const nothing = { served: 0, refused: 0, refusals: {}, workersBusy: 0 };
  t.match(timeSeries.sample(), { ...nothing, p50Ms: NaN, batchRows: NaN });
});

t.test('quantiles are of this second alone', async (t) => {
  const { writer, clock, timeSeries } = scene();
  const total = writer.stages;
  for (let request = 0; request < 1000; request++) total.observe(TOTAL, 500);
  clock.advance(1000);
  timeSeries.sample();
  for (let request = 0; request < 98; request++) total.observe(TOTAL, 1);
  for (let request = 0; request < 2; request++) total.observe(TOTAL, 40);
  clock.advance(1000);
  const { p50Ms, p99Ms, p999Ms } = timeSeries.sample();
  t.ok(p50Ms > 0.8 && p50Ms <= 1, `p50 ${p50Ms}`);
  t.ok(p99Ms > 32 && p99Ms <= 41, `p99 ${p99Ms}`);
  t.ok(p999Ms >= p99Ms && p999Ms <= 41, `p99.9 ${p999Ms}`);
});

t.test('each event loop has its own share', async (t) => {
  const { writers, clock, timeSeries } = scene({ loops: 2 });
  const read = (busyMs: readonly number[], cpuMs: readonly number[]): void => {
    for (const [loop, writer] of writers.entries()) {
      writer.loopBusy.set(0, busyMs[loop] ?? 0);
      writer.loopCpu.set(0, cpuMs[loop] ?? 0);
    }
    clock.advance(1000);
  };
  read([900, 900], [800, 0]);
  // The first reading holds more than a second.
  t.match(timeSeries.sample(), { loopsBusy: [0, 0], loopsOnCore: [NaN, NaN] });
  read([1200, 5900], [1000, 0]);
  // Never more than all of the time; NaN where the system does not tell.
  t.match(timeSeries.sample(), { loopsBusy: [0.3, 1], loopsOnCore: [0.2, NaN] });
});

t.test('fifteen minutes are kept, oldest first', async (t) => {
  const { clock, timeSeries } = scene();
  for (let second = 0; second < POINTS_MAX + 5; second++) {
    clock.advance(1000);
    timeSeries.sample();
  }
  t.equal(timeSeries.points.length, POINTS_MAX);
  t.equal(timeSeries.points[0]?.atMs, 1_006_000);
  t.equal(timeSeries.points.at(-1)?.atMs, 1_000_000 + 1000 * (POINTS_MAX + 5));
});
