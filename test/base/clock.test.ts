import t from 'tap';
import { systemClock } from '#acuity/base/clock.js';

t.test('the system clock tells the epoch, and a reading that never goes back', async (t) => {
  t.ok(systemClock.nowMs() > Date.UTC(2024));
  const before = systemClock.monotonicMs();
  t.ok(systemClock.monotonicMs() >= before);
});
