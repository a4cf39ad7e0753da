import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import * as fc from 'fast-check';
import t from 'tap';
import {
  allocateLimits,
  BURST_EXCEEDED,
  DAILY_EXCEEDED,
  SHARE_EXCEEDED,
  dayOf,
  Limits,
  msToNextDay,
  type KeyLimits,
} from '#acuity/auth/limits.js';

const DAY_MS = 86_400_000;
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;
const KEY_INDEX = 3;
const BUCKET = { ratePerS: 10, dailyMax: null };

function freshLimits(): Limits {
  return new Limits(allocateLimits(8));
}

/** How many of `attempts` requests at one moment are admitted. */
function admitted(limits: Limits, key: KeyLimits, attempts: number, nowMs: number): number {
  let count = 0;
  for (let at = 0; at < attempts; at++) if (limits.take(KEY_INDEX, key, nowMs) >= 0) count++;
  return count;
}

t.test('a bucket holds twice the rate and refills at the rate, also by fractions', async (t) => {
  const limits = freshLimits();
  t.equal(admitted(limits, BUCKET, 100, NOON_MS), 20);
  for (let ms = 0; ms < 100; ms += 9) t.equal(limits.take(KEY_INDEX, BUCKET, NOON_MS + ms), BURST_EXCEEDED);
  t.equal(admitted(limits, BUCKET, 100, NOON_MS + 100), 1);
  t.equal(admitted(limits, BUCKET, 100, NOON_MS + 600), 5);
  t.equal(admitted(limits, BUCKET, 100, NOON_MS + DAY_MS / 4), 20);
});

t.test('in any span of time, no more than the burst and the refill of the span', async (t) => {
  const arrivals = fc.array(fc.nat(30), { minLength: 50, maxLength: 200 });
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 20 }), (pausesMs, ratePerS) => {
      const limits = freshLimits();
      const taken: number[] = [];
      let nowMs = NOON_MS;
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        if (limits.take(KEY_INDEX, { ratePerS, dailyMax: null }, nowMs) >= 0) taken.push(nowMs);
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
  const key = { ratePerS: 1000, dailyMax: null };
  const limits = freshLimits();
  admitted(limits, key, 2000, NOON_MS);
  let count = 0;
  for (let turn = 0; turn < 50; turn++) count += admitted(limits, key, 10, NOON_MS + (turn % 2));
  t.equal(count, 1);
});

t.test('a clock that was set back an hour shuts no bucket for an hour', async (t) => {
  const limits = freshLimits();
  admitted(limits, BUCKET, 20, NOON_MS);
  const earlierMs = NOON_MS - 3_600_000;
  t.equal(limits.take(KEY_INDEX, BUCKET, earlierMs), BURST_EXCEEDED);
  t.equal(admitted(limits, BUCKET, 100, earlierMs + 1000), 10);
});

t.test('the next UTC day has a quota of its own, which no late refund raises', async (t) => {
  const key = { ratePerS: null, dailyMax: 2 };
  const limits = freshLimits();
  const day = limits.take(KEY_INDEX, key, NOON_MS);
  const midnightMs = NOON_MS + msToNextDay(NOON_MS);
  t.equal(limits.take(KEY_INDEX, key, midnightMs - 1), day);
  t.equal(limits.take(KEY_INDEX, key, midnightMs - 1), DAILY_EXCEEDED);
  t.equal(admitted(limits, key, 5, midnightMs), 2);
  t.match(limits.tally(KEY_INDEX, key, midnightMs), { day: day + 1, used: 2, dayBefore: day, usedBefore: 2 });
  limits.refund(KEY_INDEX, day);
  t.equal(limits.take(KEY_INDEX, key, midnightMs), DAILY_EXCEEDED);
});

t.test('a thread whose clock is not at midnight yet is charged to the day that others began', async (t) => {
  const key = { ratePerS: null, dailyMax: 2 };
  const limits = freshLimits();
  const midnightMs = NOON_MS + msToNextDay(NOON_MS);
  limits.take(KEY_INDEX, key, midnightMs);
  t.equal(limits.take(KEY_INDEX, key, midnightMs - 1), dayOf(midnightMs));
  t.equal(limits.take(KEY_INDEX, key, midnightMs), DAILY_EXCEEDED);
});

for (const days of [1, 2, 30]) {
  t.test(`a clock set ${days} days forth and back gives no second quota for the day`, async (t) => {
    const key = { ratePerS: null, dailyMax: 3 };
    const limits = freshLimits();
    const today = limits.take(KEY_INDEX, key, NOON_MS);
    admitted(limits, key, 1, NOON_MS);
    t.equal(admitted(limits, key, 5, NOON_MS + days * DAY_MS), 3, 'the other day has its own');
    t.equal(limits.leftOfDay(KEY_INDEX, 3, NOON_MS), 1);
    t.equal(limits.take(KEY_INDEX, key, NOON_MS), today);
    t.equal(limits.take(KEY_INDEX, key, NOON_MS), DAILY_EXCEEDED);
    limits.refund(KEY_INDEX, today);
    t.equal(admitted(limits, key, 5, NOON_MS), 1);
  });
}

t.test('a request beyond the daily quota costs its token all the same', async (t) => {
  const key = { ratePerS: 5, dailyMax: 1 };
  const limits = freshLimits();
  const outcomes = Array.from({ length: 12 }, () => limits.take(KEY_INDEX, key, NOON_MS));
  t.strictSame(outcomes, [dayOf(NOON_MS), ...Array(9).fill(DAILY_EXCEEDED), BURST_EXCEEDED, BURST_EXCEEDED]);
});

t.test('the keyIndexes don’t touch one another', async (t) => {
  const key = { ratePerS: 1, dailyMax: 1 };
  const limits = freshLimits();
  for (let keyIndex = 0; keyIndex < limits.keysMax; keyIndex++) {
    t.equal(limits.take(keyIndex, key, NOON_MS), dayOf(NOON_MS));
    t.equal(limits.take(keyIndex, key, NOON_MS), DAILY_EXCEEDED);
  }
});

t.test('a restored count counts, and every change of a count is reported once', async (t) => {
  const key = { ratePerS: null, dailyMax: 10 };
  const limits = new Limits(allocateLimits(100));
  limits.restore(KEY_INDEX, dayOf(NOON_MS), 8);
  t.strictSame(limits.takeChanged(), []);
  t.equal(admitted(limits, key, 5, NOON_MS), 2);
  const day = limits.take(77, key, NOON_MS);
  t.strictSame(limits.takeChanged(), [KEY_INDEX, 77]);
  t.strictSame(limits.takeChanged(), []);
  limits.refund(77, day);
  t.strictSame(limits.takeChanged(), [77]);
});

t.test('predictions count without a quota too, also when given back on the next day', async (t) => {
  const key = { ratePerS: null, dailyMax: null };
  const limits = freshLimits();
  const [day] = [1, 2, 3].map(() => limits.take(KEY_INDEX, key, NOON_MS));
  limits.take(KEY_INDEX, key, NOON_MS + DAY_MS);
  limits.refund(KEY_INDEX, day ?? 0);
  t.match(limits.tally(KEY_INDEX, key, NOON_MS), {
    day: dayOf(NOON_MS) + 1,
    used: 1,
    dayBefore: dayOf(NOON_MS),
    usedBefore: 2,
  });
});

t.test('what others took is spent, and not taken here', async (t) => {
  const key = { ratePerS: 10, dailyMax: 30 };
  const limits = freshLimits();
  admitted(limits, key, 4, NOON_MS);
  t.same(limits.takeChanged(), [KEY_INDEX]);
  limits.spend(KEY_INDEX, key.ratePerS, 15, NOON_MS, false);
  t.match(limits.tally(KEY_INDEX, key, NOON_MS), { used: 4, taken: 4, spent: 19 });
  t.same(limits.takeChanged(), []);
});

t.test('a replica answers its share, and says whether the day or only the share is used up', async (t) => {
  const key = { ratePerS: null, dailyMax: 30 };
  const limits = freshLimits();
  limits.shareBy(4);
  t.equal(admitted(limits, key, 99, NOON_MS), 8, 'a quarter, rounded up, of a day that was not read yet');
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), SHARE_EXCEEDED);
  limits.limit(KEY_INDEX, dayOf(NOON_MS), 12, false);
  t.equal(admitted(limits, key, 99, NOON_MS), 4);
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), SHARE_EXCEEDED);
  limits.limit(KEY_INDEX, dayOf(NOON_MS), 12, true);
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), DAILY_EXCEEDED);
  t.equal(admitted(limits, key, 99, NOON_MS + DAY_MS), 8, 'the next day begins with its share');
});

t.test('a lock that a dead thread left is taken over', async (t) => {
  const limits = freshLimits();
  // Sixteen cells a keyIndex, after a header of as many; the first is the lock.
  new Int32Array(limits.memory)[(KEY_INDEX + 1) * 16] = 1;
  t.equal(limits.take(KEY_INDEX, { ratePerS: 1, dailyMax: null }, NOON_MS), dayOf(NOON_MS));
});

const hammerings: { name: string; key: KeyLimits; admits: number }[] = [
  { name: 'a daily quota', key: { ratePerS: null, dailyMax: 50_000 }, admits: 50_000 },
  { name: 'a bucket', key: { ratePerS: 20_000, dailyMax: null }, admits: 40_000 },
];

for (const { name, key, admits } of hammerings) {
  t.test(`two threads at one keyIndex share ${name} exactly`, async (t) => {
    const limits = freshLimits();
    const tally = new SharedArrayBuffer(8);
    const workerData = {
      memory: limits.memory,
      keyIndex: KEY_INDEX,
      key,
      nowMs: NOON_MS,
      attempts: 40_000,
      tally,
    };
    const script = new URL('./hammer.js', import.meta.url);
    await Promise.all([0, 1].map(() => once(new Worker(script, { workerData }), 'exit')));
    t.equal(new Int32Array(tally)[1], admits);
  });
}

t.test('tokens spent without asking may lead into debt, which the rate pays back', async (t) => {
  const key = { ratePerS: 10, dailyMax: null };
  const limits = freshLimits();
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), dayOf(NOON_MS));
  limits.spend(KEY_INDEX, 10, 64, NOON_MS);
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), BURST_EXCEEDED);
  t.equal(limits.tokensLeft(KEY_INDEX, 10, NOON_MS), -45, '65 spent, of which 20 are the bucket');
  t.equal(limits.take(KEY_INDEX, key, NOON_MS + 4599), BURST_EXCEEDED);
  t.equal(admitted(limits, key, 100, NOON_MS + 4600), 1);
  t.equal(admitted(limits, key, 100, NOON_MS + DAY_MS), 20, 'and no debt lasts');
});

t.test('further tokens and counts are taken all or nothing', async (t) => {
  const limits = freshLimits();
  const key = { ratePerS: 10, dailyMax: 30 };
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), dayOf(NOON_MS));
  t.equal(limits.takeMore(KEY_INDEX, key, { tokens: 20, count: 1 }, NOON_MS), BURST_EXCEEDED);
  t.equal(limits.takeMore(KEY_INDEX, key, { tokens: 1, count: 30 }, NOON_MS), DAILY_EXCEEDED);
  t.equal(limits.takeMore(KEY_INDEX, key, { tokens: 19, count: 29 }, NOON_MS), dayOf(NOON_MS));
  t.equal(limits.take(KEY_INDEX, key, NOON_MS), BURST_EXCEEDED, 'nothing that was refused was taken');
  limits.refund(KEY_INDEX, dayOf(NOON_MS), 2);
  t.equal(admitted(limits, key, 5, NOON_MS + 2_000), 2);
});
