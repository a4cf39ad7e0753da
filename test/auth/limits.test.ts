import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import t from 'tap';
import { DAILY_EXCEEDED, SHARE_EXCEEDED } from '#acuity/auth/limits/dayQuotas.js';
import { BURST_EXCEEDED, Limits } from '#acuity/auth/limits/limits.js';
import { DAY_MS, dayAt, msToNextDay } from '#acuity/base/days.js';

const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;
const KEY_INDEX = 3;

/** The limits of a key; times are milliseconds after the noon of day 20,000. */
function scene(ratePerS: number | null, dailyMax: number | null, keysMax = 8) {
  const limits = new Limits(Limits.allocate(keysMax));
  const key = { ratePerS, dailyMax };
  const take = (ms = 0): number => limits.take(KEY_INDEX, key, NOON_MS + ms);
  /** How many of `attempts` requests at one moment are admitted. */
  const admitted = (attempts: number, ms = 0): number =>
    Array.from({ length: attempts }, () => take(ms)).filter((day) => day >= 0).length;
  const tally = (ms = 0) => limits.tally(KEY_INDEX, key, NOON_MS + ms);
  return { limits, key, take, admitted, tally };
}

t.test('a bucket holds twice the rate and refills at the rate, also by fractions', async (t) => {
  const { take, admitted } = scene(10, null);
  t.equal(admitted(100), 20);
  for (let ms = 0; ms < 100; ms += 9) t.equal(take(ms), BURST_EXCEEDED);
  t.equal(admitted(100, 100), 1);
  t.equal(admitted(100, 600), 5);
  t.equal(admitted(100, DAY_MS / 4), 20);
});

t.test('in any span of time, no more than the burst and the refill of the span', async (t) => {
  const arrivals = fc.array(fc.nat(30), { minLength: 50, maxLength: 200 });
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 20 }), (pausesMs, ratePerS) => {
      const { take } = scene(ratePerS, null);
      const taken: number[] = [];
      let ms = 0;
      for (const pauseMs of pausesMs) {
        ms += pauseMs;
        if (take(ms) >= 0) taken.push(ms);
      }
      return taken.every((fromMs, first) =>
        taken.slice(first).every((toMs, more) => {
          return more + 1 <= ratePerS * (2 + (toMs - fromMs) / 1000) + 1e-3;
        }),
      );
    }),
  );
  t.pass();
});

t.test('readings of two clocks out of order refill nothing twice', async (t) => {
  const { admitted } = scene(1000, null);
  admitted(2000);
  let count = 0;
  for (let turn = 0; turn < 50; turn++) count += admitted(10, turn % 2);
  t.equal(count, 1);
});

t.test('a clock that was set back an hour shuts no bucket for an hour', async (t) => {
  const { take, admitted } = scene(10, null);
  admitted(20);
  t.equal(take(-3_600_000), BURST_EXCEEDED);
  t.equal(admitted(100, -3_599_000), 10);
});

t.test('the next UTC day has a quota of its own, which no late refund raises', async (t) => {
  const { limits, take, admitted, tally } = scene(null, 2);
  const day = take();
  const midnight = msToNextDay(NOON_MS);
  t.equal(take(midnight - 1), day);
  t.equal(take(midnight - 1), DAILY_EXCEEDED);
  t.equal(admitted(5, midnight), 2);
  t.match(tally(midnight), { day: day + 1, used: 2, dayBefore: day, usedBefore: 2 });
  limits.refund(KEY_INDEX, day);
  t.equal(take(midnight), DAILY_EXCEEDED);
  t.match(tally(midnight), { used: 2, usedBefore: 1 });
});

t.test('a thread whose clock is not at midnight yet is charged to the day that others began', async (t) => {
  const { take } = scene(null, 2);
  const midnight = msToNextDay(NOON_MS);
  take(midnight);
  t.equal(take(midnight - 1), 20_001);
  t.equal(take(midnight), DAILY_EXCEEDED);
});

for (const days of [[1], [2], [30], [30, -30], [1, 2], [2, 1, 2, 1]]) {
  t.test(`a clock set ${days.join(', ')} days off and back gives no second quota for the day`, async (t) => {
    const { limits, take, admitted } = scene(null, 3);
    const today = take();
    admitted(1);
    for (const [at, off] of days.entries())
      t.equal(admitted(5, off * DAY_MS), days.indexOf(off) === at ? 3 : 0, 'another day has its own');
    t.equal(limits.leftOfDay(KEY_INDEX, 3, NOON_MS), 1);
    t.equal(take(), today);
    t.equal(take(), DAILY_EXCEEDED);
    limits.refund(KEY_INDEX, today);
    t.equal(admitted(5), 1);
  });
}

t.test('a request beyond the daily quota costs its token all the same', async (t) => {
  const { take } = scene(5, 1);
  const outcomes = Array.from({ length: 12 }, () => take());
  t.strictSame(outcomes, [dayAt(NOON_MS), ...Array(9).fill(DAILY_EXCEEDED), BURST_EXCEEDED, BURST_EXCEEDED]);
});

t.test('the keyIndexes don’t touch one another', async (t) => {
  const { limits, key } = scene(1, 1);
  for (let keyIndex = 0; keyIndex < limits.keysMax; keyIndex++) {
    t.equal(limits.take(keyIndex, key, NOON_MS), dayAt(NOON_MS));
    t.equal(limits.take(keyIndex, key, NOON_MS), DAILY_EXCEEDED);
  }
});

t.test('a restored count counts, and every change of a count is reported once', async (t) => {
  const { limits, key, admitted } = scene(null, 10, 100);
  limits.restore(KEY_INDEX, dayAt(NOON_MS), 8);
  t.strictSame(limits.takeChanged(), []);
  t.equal(admitted(5), 2);
  const day = limits.take(77, key, NOON_MS);
  t.strictSame(limits.takeChanged(), [KEY_INDEX, 77]);
  t.strictSame(limits.takeChanged(), []);
  limits.refund(77, day);
  t.strictSame(limits.takeChanged(), [77]);
});

t.test('what others took is spent, and not taken here', async (t) => {
  const { limits, admitted, tally } = scene(10, 30);
  admitted(4);
  t.same(limits.takeChanged(), [KEY_INDEX]);
  limits.spend(KEY_INDEX, 10, 15, NOON_MS, false);
  t.match(tally(), { used: 4, taken: 4, spent: 19 });
  t.same(limits.takeChanged(), []);
});

t.test('a replica answers its share, and says whether the day or only the share is used up', async (t) => {
  const { limits, take, admitted } = scene(null, 30);
  limits.replicas = 4;
  t.equal(admitted(99), 8, 'a quarter, rounded up, of a day that was not read yet');
  t.equal(take(), SHARE_EXCEEDED);
  limits.limit(KEY_INDEX, dayAt(NOON_MS), 12, false);
  t.equal(admitted(99), 4);
  t.equal(take(), SHARE_EXCEEDED);
  limits.limit(KEY_INDEX, dayAt(NOON_MS), 12, true);
  t.equal(take(), DAILY_EXCEEDED);
  t.equal(admitted(99, DAY_MS), 8, 'the next day begins with its share');
});

t.test('a lock that a dead thread left is taken over', async (t) => {
  const { limits, take } = scene(1, null);
  // Sixteen cells a keyIndex, after a header of as many; the first is the lock.
  new Int32Array(limits.memory)[(KEY_INDEX + 1) * 16] = 1;
  t.equal(take(), dayAt(NOON_MS));
});

for (const [name, ratePerS, dailyMax, admits] of [
  ['a daily quota', null, 50_000, 50_000],
  ['a bucket', 20_000, null, 40_000],
] as const)
  t.test(`two threads at one keyIndex share ${name} exactly`, async (t) => {
    const { limits, key } = scene(ratePerS, dailyMax);
    const tally = new SharedArrayBuffer(8);
    const asked = { keyIndex: KEY_INDEX, key, nowMs: NOON_MS, attempts: 40_000 };
    const workerData = { memory: limits.memory, ...asked, tally };
    const script = new URL('./hammer.js', import.meta.url);
    await Promise.all([0, 1].map(() => once(new Worker(script, { workerData }), 'exit')));
    t.equal(new Int32Array(tally)[1], admits);
  });

t.test('tokens spent without asking may lead into debt, which the rate pays back', async (t) => {
  const { limits, take, admitted } = scene(10, null);
  t.equal(take(), dayAt(NOON_MS));
  limits.spend(KEY_INDEX, 10, 64, NOON_MS);
  t.equal(take(), BURST_EXCEEDED);
  t.equal(limits.tokensLeft(KEY_INDEX, 10, NOON_MS), -45, '65 spent, of which 20 are the bucket');
  t.equal(take(4599), BURST_EXCEEDED);
  t.equal(admitted(100, 4600), 1);
  t.equal(admitted(100, DAY_MS), 20, 'and no debt lasts');
});

t.test('further tokens and counts are taken all or nothing', async (t) => {
  const { limits, key, take, admitted } = scene(10, 30);
  t.equal(take(), dayAt(NOON_MS));
  t.equal(limits.takeMore(KEY_INDEX, key, { tokens: 20, count: 1 }, NOON_MS), BURST_EXCEEDED);
  t.equal(limits.takeMore(KEY_INDEX, key, { tokens: 1, count: 30 }, NOON_MS), DAILY_EXCEEDED);
  t.equal(limits.takeMore(KEY_INDEX, key, { tokens: 19, count: 29 }, NOON_MS), dayAt(NOON_MS));
  t.equal(take(), BURST_EXCEEDED, 'nothing that was refused was taken');
  limits.refund(KEY_INDEX, dayAt(NOON_MS), 2);
  t.equal(admitted(5, 2_000), 2);
});
