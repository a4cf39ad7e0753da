import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Authenticator } from '#acuity/auth/authenticator.js';
import { createKey, digestOf } from '#acuity/auth/key.js';
import type { IndexedRecord } from '#acuity/auth/authenticator.js';
import { Limits } from '#acuity/auth/limits/limits.js';
import { RateLimiter } from '#acuity/auth/limits/rateLimiter.js';
import { systemClock } from '#acuity/base/clock.js';
import { turning, type MicroCase, type Suite } from './harness.js';

const FEW = 100;
const MANY = 100_000;
const CALLERS = 64;

/** Checking a key: known, unknown, malformed; and whether the cost depends on the number of keys. */
export const AUTHENTICATE: Suite = {
  name: 'authenticate',
  open: () => Promise.resolve({ cases: [FEW, MANY].flatMap(casesOf) }),
};

function casesOf(count: number): MicroCase[] {
  const authenticator = new Authenticator();
  const rateLimiter = new RateLimiter(new Limits(Limits.allocate(CALLERS)));
  const keys = Array.from({ length: CALLERS }, () => createKey('live'));
  // A limit that is never reached, because looking it up is part of the check.
  const sent = keys.map((key, keyIndex) => ({
    ...recordOf(digestOf(key), keyIndex),
    ratePerS: 1_000_000_000,
  }));
  // Keys that are never sent; a random digest serves as well.
  const others = Array.from({ length: count - CALLERS }, (_, index) => recordOf(randomBytes(32), index + CALLERS)); // prettier-ignore
  authenticator.replace([...sent, ...others]);
  const strangers = keys.map(() => createKey('live'));
  const malformed = strangers.map((key) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
  const caseOf = (name: string, from: readonly string[], outcome: string): MicroCase => {
    const next = turning(from);
    const run = (): string => {
      const nowMs = systemClock.nowMs();
      const entry = authenticator.identify(next(), nowMs);
      return typeof entry === 'string' ? entry : rateLimiter.admit(entry, nowMs).outcome;
    };
    return {
      name: `${name}, of ${count} keys`,
      units: 1,
      run,
      check: (result) => assert.equal(result, outcome),
    };
  };
  return [
    caseOf('sent before', keys, 'admitted'),
    caseOf('unknown', strangers, 'invalid'),
    caseOf('wrong checksum', malformed, 'invalid'),
  ];
}

function recordOf(digest: Buffer, keyIndex: number): IndexedRecord {
  const id = `key_${keyIndex}`;
  return { id, kind: 'live', digest: digest.toString('base64url'), usableUntilMs: Infinity, keyIndex, ratePerS: null, dailyMax: null }; // prettier-ignore
}
