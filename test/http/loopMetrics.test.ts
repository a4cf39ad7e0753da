import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { METRICS, allocateLoopMetrics, loopRecorders } from '#acuity/contract/metrics.js';
import { MetricReader } from '#acuity/base/metrics.js';
import { openRanMs } from '#acuity/base/threadTimes.js';
import { LoopLag, watchLoop } from '#acuity/http/loopMetrics.js';
import { manualClock } from '../fixtures/manualClock.js';
import { until } from '../fixtures/until.js';

const TIMES = '/proc/thread-self/schedstat';
const skip = !existsSync(TIMES) && `needs ${TIMES}: run it on Linux`;

t.test('a loop tells its gauges, and the processor time of its thread', { skip }, async (t) => {
  const memory = allocateLoopMetrics();
  const state = {
    pending: 3,
    most: 5,
    queued: 2,
    recordingsPending: 1,
    connections: 4,
    heldBytes: 6,
    loopLag: 7,
  };
  const stop = watchLoop(
    loopRecorders(memory),
    () => state,
    (error) => t.fail(error.message),
  );
  stop();
  const told = new MetricReader(METRICS, [memory]);
  const gauges = (['pending', 'pendingMost', 'queued', 'connections', 'loopLag'] as const).map((key) =>
    told.total(key),
  );
  t.strictSame(gauges, [3, 5, 2, 4, 7]);
  t.ok(told.total('loopCpu') > 0);
});

t.test('a reading of the processor time needs no descriptor later', async (t) => {
  const path = join(t.testdir({ schedstat: '2500000 7 3\n' }), 'schedstat');
  const cpu = openRanMs(path);
  t.teardown(() => cpu.close());
  rmSync(path);
  t.equal(cpu.ms(), 2.5);
  t.ok(Number.isNaN(openRanMs(path).ms()), 'it can no longer be opened');
});

t.test('the lag is how late the last timer was, and falls back', async (t) => {
  const clock = manualClock();
  const lag = new LoopLag(clock);
  t.teardown(() => lag.stop());
  t.equal(lag.ms, 0);
  clock.advance(520);
  await until(() => lag.ms > 0);
  t.equal(lag.ms, 500);
  await until(() => lag.ms === 0);
});
