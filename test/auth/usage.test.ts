import { join } from 'node:path';
import t from 'tap';
import type { IndexedRecord } from '#acuity/auth/authenticator.js';
import { FileCounts, UsageFiles } from '#acuity/auth/fileCounts.js';
import { issue, type KeyOrder } from '#acuity/auth/lifecycle.js';
import { allocateLimits, Limits } from '#acuity/auth/limits.js';

const DAY_MS = 86_400_000;
const NOON_MS = 20_000 * DAY_MS + DAY_MS / 2;
const ORDER: KeyOrder = { kind: 'demo', ratePerS: null, dailyMax: 5 };
const KEYS = [0, 1].map((keyIndex): IndexedRecord => {
  const { record } = issue(ORDER, NOON_MS);
  return { ...record, keyIndex, usableUntilMs: Infinity };
});
const [BUSY, IDLE] = KEYS as [IndexedRecord, IndexedRecord];

/** How many of `attempts` predictions of that key are admitted. */
function admitted(limits: Limits, key: IndexedRecord, attempts: number, nowMs: number): number {
  const outcomes = Array.from({ length: attempts }, () => limits.take(key.keyIndex, key, nowMs));
  return outcomes.filter((day) => day >= 0).length;
}

for (const [what, saves, restarts] of [
  ['between two saves', [], []],
  ['with a save each time', ['today', 'ahead', 'back'], []],
  ['with a restart before', [], ['today']],
  ['with a start ahead', [], ['today', 'ahead at first']],
  ['with a restart once it is back', ['today'], ['back']],
] as const) {
  t.test(`a clock set two days forth and back gives no second quota: ${what}`, async (t) => {
    const path = join(t.testdir(), 'keys.usage.json');
    let nowMs = NOON_MS;
    const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
    const start = async () => {
      const limits = new Limits(allocateLimits(KEYS.length));
      const store = new UsageFiles(path);
      const usage = new FileCounts({ limits, clock, keys: KEYS }, store);
      await usage.restore();
      return { limits, usage, store };
    };
    let server = await start();
    const at = async (moment: string): Promise<void> => {
      if ((saves as readonly string[]).includes(moment)) await server.usage.save();
      if (!(restarts as readonly string[]).includes(moment)) return;
      await server.usage.close();
      server = await start();
    };
    t.equal(admitted(server.limits, BUSY, 3, nowMs) + admitted(server.limits, IDLE, 5, nowMs), 8);
    await at('today');
    nowMs += 2 * DAY_MS;
    await at('ahead at first');
    t.equal(admitted(server.limits, BUSY, 4, nowMs), 4);
    await at('ahead');
    nowMs -= 2 * DAY_MS;
    await at('back');
    t.equal(admitted(server.limits, BUSY, 9, nowMs), 2);
    t.equal(admitted(server.limits, IDLE, 9, nowMs), 0);
    await server.usage.close();

    server = await start();
    t.equal(admitted(server.limits, BUSY, 9, nowMs) + admitted(server.limits, IDLE, 9, nowMs), 0);
    t.strictSame(await server.store.days(19_999, 20_003), [
      { version: 1, day: 20_000, used: { [BUSY.id]: 5, [IDLE.id]: 5 } },
      { version: 1, day: 20_002, used: { [BUSY.id]: 4 } },
    ]);
  });
}

t.test('a key that comes back after days leaves the counts of its last day as they are', async (t) => {
  let nowMs = NOON_MS;
  const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
  const limits = new Limits(allocateLimits(KEYS.length));
  const store = new UsageFiles(join(t.testdir(), 'keys.usage.json'));
  const usage = new FileCounts({ limits, clock, keys: KEYS }, store);
  admitted(limits, IDLE, 2, nowMs);
  for (let day = 0; day < 6; day++) {
    admitted(limits, BUSY, 1, nowMs);
    await usage.save();
    nowMs += DAY_MS;
  }
  admitted(limits, IDLE, 1, nowMs);
  await usage.close();
  const counted = (await store.days(20_000, 20_006)).map(({ used }) => used);
  const busy = { [BUSY.id]: 1 };
  t.strictSame(counted, [{ [IDLE.id]: 2, ...busy }, busy, busy, busy, busy, busy, { [IDLE.id]: 1 }]);
});
