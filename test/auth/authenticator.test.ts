import t from 'tap';
import { createKey, digestOf } from '#acuity/auth/key.js';
import type { IndexedRecord } from '#acuity/auth/authenticator.js';
import { Limits } from '#acuity/auth/limits/limits.js';
import type { Limited } from '#acuity/auth/limits/rateLimiter.js';
import { manualClock } from '../fixtures/manualClock.js';
import { KeyCheck, type Verdict } from '../fixtures/keyCheck.js';

const DAY_MS = 86_400_000;
const MORNING_MS = 20_000 * DAY_MS + 6 * 3_600_000;

function scene(verifiedMax = 100, random = (): number => 0) {
  let count = 0;
  const digest = (key: string): Buffer => {
    count++;
    return digestOf(key);
  };
  const clock = manualClock(MORNING_MS);
  const limits = new Limits(Limits.allocate(8));
  const keyCheck = new KeyCheck({ clock, limits, verifiedMax, digest, random });
  /** `hashes`: how many keys were hashed so far. */
  return { keyCheck, clock, hashes: () => count };
}

function recordOf(key: string, changes: Partial<IndexedRecord> = {}): IndexedRecord {
  const digest = digestOf(key).toString('base64url');
  const free = { usableUntilMs: Infinity, keyIndex: 7, ratePerS: null, dailyMax: null };
  return { id: `id of ${key.slice(-6)}`, kind: 'live', digest, ...free, ...changes };
}

/** A scene with one key; `check` asks with it. */
function known(changes: Partial<IndexedRecord> = {}, random?: () => number) {
  const key = createKey('demo');
  const { keyCheck, ...rest } = scene(undefined, random);
  const replace = (changed: Partial<IndexedRecord>): void => keyCheck.replace([recordOf(key, changed)]);
  replace(changes);
  const check = (text = key): Verdict => keyCheck.check(text);
  const outcomes = (count: number): string[] => Array.from({ length: count }, () => check().outcome);
  return { ...rest, key, keyCheck, replace, check, outcomes };
}

/** A key with one character of its secret replaced: of the right form, but for its checksum. */
function misspelt(key: string): string {
  return key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
}

t.test('a usable key is admitted under its id and kind', async (t) => {
  const { check } = known({ id: 'key_1', kind: 'demo' });
  t.match(check(), { outcome: 'admitted', key: { id: 'key_1', kind: 'demo' } });
  t.strictSame(check(''), { outcome: 'missing' });
});

t.test('a malformed key is refused without being hashed', async (t) => {
  const { key, check, hashes } = known();
  const malformed = [misspelt(key), key.slice(1), `${key} `, 'x', '☃'.repeat(46), 'x'.repeat(1_000_000)];
  for (const text of malformed) t.strictSame(check(text), { outcome: 'invalid' });
  t.equal(hashes(), 0);
});

t.test('unknown, expired and revoked keys take the same path each time', async (t) => {
  const { keyCheck, hashes } = scene();
  const [unknown, expired, revoked] = [createKey('live'), createKey('live'), createKey('live')];
  keyCheck.replace([
    recordOf(expired, { usableUntilMs: MORNING_MS }),
    recordOf(revoked, { usableUntilMs: -Infinity }),
  ]);
  for (const key of [unknown, expired, revoked]) {
    const before = hashes();
    t.strictSame(keyCheck.check(key), keyCheck.check(key));
    t.strictSame(keyCheck.check(key), { outcome: 'invalid' });
    t.equal(hashes() - before, 3);
  }
});

t.test('a key whose end is no number is refused, before and after it was verified', async (t) => {
  const { outcomes, replace } = known({ usableUntilMs: NaN });
  t.strictSame(outcomes(2), ['invalid', 'invalid']);
  replace({});
  t.strictSame(outcomes(1), ['admitted']);
  replace({ usableUntilMs: NaN });
  t.strictSame(outcomes(1), ['invalid']);
});

t.test('a verified key expires at its moment', async (t) => {
  const { outcomes, clock, hashes } = known({ usableUntilMs: MORNING_MS + 1000 });
  outcomes(1);
  clock.advance(999);
  t.strictSame(outcomes(1), ['admitted']);
  clock.advance(1);
  t.strictSame(outcomes(2), ['invalid', 'invalid']);
  t.equal(hashes(), 3, 'it left the cache');
});

t.test('revocation, renewal and new limits hold from the replacement on', async (t) => {
  const { keyCheck, replace, outcomes, clock } = known();
  t.strictSame(outcomes(1), ['admitted']);
  replace({ usableUntilMs: -Infinity });
  t.strictSame(outcomes(1), ['invalid']);
  replace({ usableUntilMs: clock.nowMs() + 1 });
  t.strictSame(outcomes(1), ['admitted']);
  replace({ keyIndex: 0, ratePerS: 1 });
  t.strictSame(outcomes(3), ['admitted', 'admitted', 'limited']);
  keyCheck.replace([]);
  t.strictSame(outcomes(1), ['invalid']);
});

t.test('a flood of junk pushes no verified key out', async (t) => {
  const { keyCheck, hashes } = scene(2);
  const [one, two] = [createKey('live'), createKey('live')];
  const expired = createKey('demo');
  keyCheck.replace([recordOf(one), recordOf(two), recordOf(expired, { usableUntilMs: 0 })]);
  keyCheck.check(one);
  keyCheck.check(two);
  for (let at = 0; at < 500; at++) {
    keyCheck.check(createKey('live'));
    keyCheck.check(misspelt(one));
    keyCheck.check(expired);
  }
  const before = hashes();
  t.equal(keyCheck.check(one).outcome, 'admitted');
  t.equal(keyCheck.check(two).outcome, 'admitted');
  t.equal(hashes(), before);
});

t.test('an empty bucket is described as in the draft', async (t) => {
  const { check, outcomes, clock } = known({ id: 'key_1', keyIndex: 0, ratePerS: 10, dailyMax: 1000 });
  t.strictSame(new Set(outcomes(20)), new Set(['admitted']));
  t.match(check(), {
    outcome: 'limited',
    key: { id: 'key_1', kind: 'live' },
    limit: 'burst',
    retryAfterS: 1,
    policy: '"burst";q=20;w=2, "daily";q=1000;w=86400',
    state: '"burst";r=0;t=1',
  });
  clock.advance(100);
  t.strictSame(outcomes(1), ['admitted']);
});

t.test('callers of one key get different times, the same in both headers', async (t) => {
  let drawn = 0;
  const { check, outcomes } = known({ keyIndex: 0, ratePerS: 10 }, () => (drawn = (drawn + 0.3) % 1));
  outcomes(20);
  const told = Array.from({ length: 8 }, () => check() as Limited);
  t.ok(new Set(told.map(({ retryAfterS }) => retryAfterS)).size > 1);
  for (const { retryAfterS, state } of told) t.equal(state, `"burst";r=0;t=${retryAfterS}`);
});

t.test('a used-up quota is reported with the seconds to midnight', async (t) => {
  const { check, clock } = known({ id: 'key_1', keyIndex: 0, dailyMax: 2 });
  const first = check();
  check();
  clock.advance(500);
  t.match(check(), {
    outcome: 'limited',
    key: { id: 'key_1', kind: 'live' },
    limit: 'daily',
    retryAfterS: 18 * 3600,
    policy: '"daily";q=2;w=86400',
    state: `"daily";r=0;t=${18 * 3600}`,
  });
  clock.advance(18 * 3_600_000);
  t.match(check(), { outcome: 'admitted', day: 20_001 });
  t.match(first, { day: 20_000 }, 'an admission that is still being answered keeps its day');
});

t.test('no verdict holds the key', async (t) => {
  const { key, check } = known({ keyIndex: 0, ratePerS: 1, id: 'key_1' });
  const verdicts = [1, 2, 3].map(() => JSON.stringify(check()));
  t.notOk(verdicts.join().includes(key.slice(8, 20)));
});
