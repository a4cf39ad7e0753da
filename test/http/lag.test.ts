import t from 'tap';
import { manualClock } from '../fixtures/manualClock.js';
import { LoopLag } from '#acuity/http/loopMetrics.js';
import { until } from '../fixtures/until.js';

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
