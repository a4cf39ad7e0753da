import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { Authenticator, type Rejection } from '#acuity/auth/authenticator.js';
import { createKey, digestOf } from '#acuity/auth/key.js';
import type { IndexedRecord } from '#acuity/auth/authenticator.js';
import { allocateLimits, Limits } from '#acuity/auth/limits.js';
import { RateLimiter } from '#acuity/auth/rateLimiter.js';
import { systemClock } from '#acuity/base/clock.js';
import { nothing, turns, type MicroCase, type Suite } from './harness.js';
import { itemAt } from './requests.js';

const FEW = 100;
const MANY = 100_000;
const CALLERS = 64;
const DIGEST_BYTES = 32;

/** Checking a key: known, unknown, malformed; and whether the cost depends on the number of keys. */
export const AUTHENTICATE: Suite = {
  name: 'authenticate',
  open: () => Promise.resolve({ cases: [FEW, MANY].flatMap(casesOf), close: nothing }),
};

function casesOf(count: number): MicroCase[] {
  const authenticator = new Authenticator();
  const rateLimiter = new RateLimiter(new Limits(allocateLimits(CALLERS)));
  const outcomeOf = (key: string): Outcome => {
    const nowMs = systemClock.nowMs();
    const entry = authenticator.identify(key, nowMs);
    return typeof entry === 'string' ? entry : rateLimiter.admit(entry, nowMs).outcome;
  };
  const keys = Array.from({ length: Math.min(CALLERS, count) }, () => createKey('live'));
  authenticator.replace([...keys.map(recordOf), ...fillers(Math.max(0, count - CALLERS))]);
  const strangers = Array.from({ length: CALLERS }, () => createKey('live'));
  const malformed = strangers.map((key) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
  return [
    caseOf(outcomeOf, `sent before, of ${count} keys`, keys, 'admitted'),
    caseOf(outcomeOf, `unknown, of ${count} keys`, strangers, 'invalid'),
    caseOf(outcomeOf, `wrong checksum, of ${count} keys`, malformed, 'invalid'),
  ];
}

type Outcome = Rejection | 'admitted' | 'limited';

function caseOf(
  outcomeOf: (key: string) => Outcome,
  name: string,
  keys: readonly string[],
  outcome: Outcome,
): MicroCase {
  const next = turns(keys.length);
  return {
    name,
    units: 1,
    run: () => outcomeOf(itemAt(keys, next())),
    check: (result) => assert.equal(result, outcome),
  };
}

/** With a limit that is never reached, because looking it up is part of the check. */
function recordOf(key: string, keyIndex: number): IndexedRecord {
  return { ...unlimited(digestOf(key), keyIndex), keyIndex, ratePerS: 1_000_000_000 };
}

/** Keys that are never sent; a random digest serves as well, and one call makes a million of them. */
function fillers(count: number): IndexedRecord[] {
  const digests = randomFillSync(Buffer.alloc(count * DIGEST_BYTES));
  return Array.from({ length: count }, (_, index) =>
    unlimited(digests.subarray(index * DIGEST_BYTES, (index + 1) * DIGEST_BYTES), index + CALLERS),
  );
}

function unlimited(digest: Buffer, index: number): IndexedRecord {
  return {
    id: `key_${index}`,
    kind: 'live',
    digest: digest.toString('base64url'),
    usableUntilMs: Infinity,
    keyIndex: 0,
    ratePerS: null,
    dailyMax: null,
  };
}
