import t from 'tap';
import { systemClock } from '#acuity/base/clock.js';
import { manualClock } from '../fixtures/manualClock.js';

t.test('a manual clock moves only when told to', async (t) => {
  const clock = manualClock(1_000_000);
  t.equal(clock.nowMs(), 1_000_000);
  t.equal(clock.monotonicMs(), 0);
  clock.advance(1.5);
  t.equal(clock.nowMs(), 1_000_001.5);
  t.equal(clock.monotonicMs(), 1.5);
});

t.test('a manual clock never goes back', async (t) => {
  const clock = manualClock();
  t.throws(() => clock.advance(-1), RangeError);
  t.throws(() => clock.advance(NaN), RangeError);
  t.equal(clock.nowMs(), 0);
});

t.test('the system clock tells the epoch, and a reading that never goes back', async (t) => {
  t.ok(systemClock.nowMs() > Date.UTC(2024));
  const before = systemClock.monotonicMs();
  t.ok(systemClock.monotonicMs() >= before);
});
