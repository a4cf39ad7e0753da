import t from 'tap';
import { createGate, type Admission, type Gate, type Verdict } from '#acuity/auth/authenticator.js';
import { createKey, digestOf } from '#acuity/auth/key.js';
import type { IndexedRecord } from '#acuity/auth/keyTable.js';
import { allocateLimits, Limits } from '#acuity/auth/limits.js';
import { manualClock, type ManualClock } from '#acuity/base/clock.js';

const DAY_MS = 86_400_000;
const MORNING_MS = 20_000 * DAY_MS + 6 * 3_600_000;

interface Scene {
  readonly gate: Gate;
  readonly clock: ManualClock;
  readonly limits: Limits;
  /** How many keys were hashed so far. */
  hashes(): number;
}

function scene(verifiedMax = 100): Scene {
  let count = 0;
  const digest = (key: string): Buffer => {
    count++;
    return digestOf(key);
  };
  const clock = manualClock(MORNING_MS);
  const limits = new Limits(allocateLimits(8));
  return { gate: createGate({ clock, limits, verifiedMax, digest }), clock, limits, hashes: () => count };
}

function recordOf(key: string, changes: Partial<IndexedRecord> = {}): IndexedRecord {
  const digest = digestOf(key).toString('base64url');
  const free = { usableUntilMs: Infinity, keyIndex: 7, ratePerS: null, dailyMax: null };
  return { id: `id of ${key.slice(-6)}`, kind: 'live', digest, ...free, ...changes };
}

function admission(verdict: Verdict): Admission {
  if (verdict.outcome !== 'admitted') throw new Error(`not admitted but ${verdict.outcome}`);
  return verdict;
}

/** A key with one character of its secret replaced: of the right form, but for its checksum. */
function misspelt(key: string): string {
  return key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
}

t.test('no key is missing, not invalid', async (t) => {
  t.strictSame(scene().gate.check(''), { outcome: 'missing' });
});

t.test('a usable key is admitted under its id and kind', async (t) => {
  const { gate } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { id: 'key_1', kind: 'demo' })]);
  t.match(gate.check(key), { outcome: 'admitted', id: 'key_1', kind: 'demo' });
  t.equal(gate.entryCount, 1);
});

t.test('a malformed key is refused without being hashed', async (t) => {
  const { gate, hashes } = scene();
  const key = createKey('live');
  gate.replace([recordOf(key)]);
  const malformed = [misspelt(key), key.slice(1), `${key} `, 'x', '☃'.repeat(46), 'x'.repeat(1_000_000)];
  for (const text of malformed) t.strictSame(gate.check(text), { outcome: 'invalid' });
  t.equal(hashes(), 0);
});

t.test('unknown, expired and revoked keys take the same path each time', async (t) => {
  const { gate, hashes } = scene();
  const [unknown, expired, revoked] = [createKey('live'), createKey('live'), createKey('live')];
  gate.replace([
    recordOf(expired, { usableUntilMs: MORNING_MS }),
    recordOf(revoked, { usableUntilMs: -Infinity }),
  ]);
  for (const key of [unknown, expired, revoked]) {
    const before = hashes();
    t.equal(gate.check(key), gate.check(key));
    t.strictSame(gate.check(key), { outcome: 'invalid' });
    t.equal(hashes() - before, 3);
  }
});

t.test('a verified key is hashed once', async (t) => {
  const { gate, hashes } = scene();
  const key = createKey('live');
  gate.replace([recordOf(key)]);
  const first = gate.check(key);
  t.equal(gate.check(key), first);
  t.ok(Object.isFrozen(first));
  t.equal(hashes(), 1);
});

t.test('a verified key expires at its moment', async (t) => {
  const { gate, clock, hashes } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { usableUntilMs: MORNING_MS + 1000 })]);
  gate.check(key);
  clock.advance(999);
  t.equal(gate.check(key).outcome, 'admitted');
  clock.advance(1);
  t.equal(gate.check(key).outcome, 'invalid');
  t.equal(gate.check(key).outcome, 'invalid');
  t.equal(hashes(), 3, 'it left the cache');
});

t.test('an expired key that keeps knocking takes no other key’s place', async (t) => {
  const { gate, clock, hashes } = scene(2);
  const [ending, one, two] = [createKey('demo'), createKey('live'), createKey('live')];
  gate.replace([recordOf(ending, { usableUntilMs: MORNING_MS + 1 }), recordOf(one), recordOf(two)]);
  gate.check(ending);
  gate.check(one);
  clock.advance(1);
  gate.check(ending);
  gate.check(two);
  const before = hashes();
  t.equal(gate.check(one).outcome, 'admitted');
  t.equal(hashes(), before);
});

t.test('revocation, renewal and new limits hold from the replacement on', async (t) => {
  const { gate, clock } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key)]);
  t.equal(gate.check(key).outcome, 'admitted');
  gate.replace([recordOf(key, { usableUntilMs: -Infinity })]);
  t.equal(gate.check(key).outcome, 'invalid');
  gate.replace([recordOf(key, { usableUntilMs: clock.nowMs() + 1 })]);
  t.equal(gate.check(key).outcome, 'admitted');
  gate.replace([recordOf(key, { keyIndex: 0, ratePerS: 1 })]);
  t.strictSame(
    [1, 2, 3].map(() => gate.check(key).outcome),
    ['admitted', 'admitted', 'limited'],
  );
  gate.replace([]);
  t.equal(gate.check(key).outcome, 'invalid');
  t.equal(gate.entryCount, 0);
});

t.test('a flood of junk pushes no verified key out', async (t) => {
  const { gate, hashes } = scene(2);
  const [one, two] = [createKey('live'), createKey('live')];
  const expired = createKey('demo');
  gate.replace([recordOf(one), recordOf(two), recordOf(expired, { usableUntilMs: 0 })]);
  gate.check(one);
  gate.check(two);
  for (let at = 0; at < 500; at++) {
    gate.check(createKey('live'));
    gate.check(misspelt(one));
    gate.check(expired);
  }
  const before = hashes();
  t.equal(gate.check(one).outcome, 'admitted');
  t.equal(gate.check(two).outcome, 'admitted');
  t.equal(hashes(), before);
});

t.test('no more keys are kept verified than allowed', async (t) => {
  const { gate, hashes } = scene(2);
  const keys = [createKey('live'), createKey('live'), createKey('live')];
  gate.replace(keys.map((key) => recordOf(key)));
  for (const key of [...keys, ...keys]) t.equal(gate.check(key).outcome, 'admitted');
  t.equal(hashes(), 6);
});

t.test('an empty bucket is told in the words of the draft', async (t) => {
  const { gate, clock } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { id: 'key_1', keyIndex: 0, ratePerS: 10, dailyMax: 1000 })]);
  for (let at = 0; at < 20; at++) admission(gate.check(key));
  t.strictSame(gate.check(key), {
    outcome: 'limited',
    id: 'key_1',
    kind: 'live',
    limit: 'burst',
    retryAfterS: 1,
    policy: '"burst";q=20;w=2, "daily";q=1000;w=86400',
    state: '"burst";r=0;t=1',
  });
  clock.advance(100);
  t.equal(gate.check(key).outcome, 'admitted');
});

t.test('a used-up day is told with the seconds to midnight', async (t) => {
  const { gate, clock } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { id: 'key_1', keyIndex: 0, dailyMax: 2 })]);
  const first = admission(gate.check(key));
  gate.check(key);
  clock.advance(500);
  t.strictSame(gate.check(key), {
    outcome: 'limited',
    id: 'key_1',
    kind: 'live',
    limit: 'daily',
    retryAfterS: 18 * 3600,
    policy: '"daily";q=2;w=86400',
    state: `"daily";r=0;t=${18 * 3600}`,
  });
  clock.advance(18 * 3_600_000);
  const next = admission(gate.check(key));
  t.equal(next.day, first.day + 1);
  t.equal(first.day, 20_000, 'an admission that is still being answered keeps its day');
});

t.test('a refunded request leaves the day’s quota as it was', async (t) => {
  const { gate } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { keyIndex: 0, dailyMax: 1 })]);
  for (let at = 0; at < 5; at++) gate.refund(admission(gate.check(key)));
  admission(gate.check(key));
  t.equal(gate.check(key).outcome, 'limited');
});

t.test('a refund after midnight adds nothing to the new day', async (t) => {
  const { gate, clock } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { keyIndex: 0, dailyMax: 1 })]);
  const late = admission(gate.check(key));
  clock.advance(DAY_MS);
  admission(gate.check(key));
  gate.refund(late);
  t.equal(gate.check(key).outcome, 'limited');
});

t.test('the limits hold over a replacement', async (t) => {
  const { gate } = scene();
  const key = createKey('demo');
  const records = [recordOf(key, { keyIndex: 0, dailyMax: 1 })];
  gate.replace(records);
  admission(gate.check(key));
  gate.replace(records);
  t.equal(gate.check(key).outcome, 'limited');
});

t.test('two gates on the same memory share a key’s limits', async (t) => {
  const { gate, limits, clock } = scene();
  const other = createGate({ clock, limits: new Limits(limits.memory) });
  const key = createKey('demo');
  for (const each of [gate, other]) each.replace([recordOf(key, { keyIndex: 0, ratePerS: 1 })]);
  t.strictSame(
    [gate, other, gate, other].map((each) => each.check(key).outcome),
    ['admitted', 'admitted', 'limited', 'limited'],
  );
});

t.test('refused keys are charged to nobody', async (t) => {
  const { gate, limits } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { keyIndex: 0, ratePerS: 1, usableUntilMs: 0 })]);
  for (let at = 0; at < 5; at++) gate.check(key);
  t.ok(new Uint8Array(limits.memory).every((byte) => byte === 0));
});

t.test('an unlimited key touches no shared memory', async (t) => {
  const { gate, limits } = scene();
  const key = createKey('live');
  gate.replace([recordOf(key)]);
  for (let at = 0; at < 5; at++) gate.refund(admission(gate.check(key)));
  t.ok(new Uint8Array(limits.memory).every((byte) => byte === 0));
});

t.test('no verdict holds the key', async (t) => {
  const { gate } = scene();
  const key = createKey('demo');
  gate.replace([recordOf(key, { keyIndex: 0, ratePerS: 1, id: 'key_1' })]);
  const verdicts = [1, 2, 3].map(() => JSON.stringify(gate.check(key)));
  t.notOk(verdicts.join().includes(key.slice(8, 20)));
});
