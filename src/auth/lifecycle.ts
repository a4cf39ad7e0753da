/** The life of a key: issued, renewed, rotated, expired, revoked. */
import { DAY_MS } from '../base/days.js';
import { isUsable } from './authenticator.js';
import { createKey, digestOf, randomBase62, type KeyKind } from './key.js';
import { KeyStoreError, type KeyRecord } from './record.js';
import type { Amendment } from './store.js';

export type KeyState = 'valid' | 'expired' | 'revoked';

/** The operator's order of a key; absent fields take the default of the kind. */
export interface KeyOrder {
  readonly kind: KeyKind;
  readonly label?: string;
  /** ISO 8601; may be in the past. */
  readonly expiresAt?: string;
  readonly ratePerS?: number | null;
  readonly dailyMax?: number | null;
}

/** A new key with its record: the only place where a key exists in clear. */
export interface IssuedKey {
  readonly record: KeyRecord;
  readonly key: string;
}

interface KindDefaults {
  readonly ratePerS: number;
  readonly dailyMax: number | null;
  readonly lifetimeMs: number | null;
}

/** Demo keys are valid for 90 days. */
const DEMO_LIFETIME_MS = 90 * DAY_MS;
/** 62¹² ids: two keys of one store practically never collide. */
const ID_LENGTH = 12;

const DEFAULTS: Readonly<Record<KeyKind, KindDefaults>> = {
  demo: { ratePerS: 10, dailyMax: 1000, lifetimeMs: DEMO_LIFETIME_MS },
  live: { ratePerS: 500, dailyMax: null, lifetimeMs: null },
};

export function issue(order: KeyOrder, nowMs: number): IssuedKey {
  const key = createKey(order.kind);
  const defaults = DEFAULTS[order.kind];
  const { ratePerS = defaults.ratePerS, dailyMax = defaults.dailyMax } = order;
  const record: KeyRecord = {
    id: `key_${randomBase62(ID_LENGTH)}`,
    kind: order.kind,
    digest: digestOf(key).toString('base64url'),
    label: order.label ?? '',
    createdAt: isoTime(nowMs),
    expiresAt: order.expiresAt ?? expiryAfter(defaults.lifetimeMs, nowMs),
    revokedAt: null,
    ratePerS,
    dailyMax,
  };
  return { record, key };
}

export function stateOf(record: KeyRecord, nowMs: number): KeyState {
  if (record.revokedAt !== null) return 'revoked';
  return isUsable({ usableUntilMs: usableUntilMs(record) }, nowMs) ? 'valid' : 'expired';
}

/** First epoch ms at which the key is refused: `Infinity` for never, `-Infinity` for a revoked key. */
export function usableUntilMs(record: KeyRecord): number {
  if (record.revokedAt !== null) return -Infinity;
  return record.expiresAt === null ? Infinity : Date.parse(record.expiresAt);
}

/** 90 more days from now. Throws `KeyStoreError` for a revoked key and for one that never expires. */
export function renewed(record: KeyRecord, nowMs: number): Amendment {
  if (record.revokedAt !== null)
    throw new KeyStoreError(`key ${record.id} is revoked and can't be renewed: issue a new one`);
  if (record.expiresAt === null)
    throw new KeyStoreError(`key ${record.id} never expires: there is nothing to renew`);
  return { record: { ...record, expiresAt: expiryAfter(DEMO_LIFETIME_MS, nowMs) } };
}

/** A key that is already revoked keeps the time of its first revocation. */
export function revoked(record: KeyRecord, nowMs: number): Amendment {
  return { record: { ...record, revokedAt: record.revokedAt ?? isoTime(nowMs) } };
}

/**
 * The key that replaces `record`, with the same kind, label and limits. A demo key gets a new lifetime; a live key
 * keeps its expiry. Throws `KeyStoreError` for a revoked key, and where the new key would already be expired.
 */
export function successorOf(record: KeyRecord, nowMs: number): IssuedKey {
  if (record.revokedAt !== null)
    throw new KeyStoreError(`key ${record.id} is revoked and can't be rotated: issue a new one`);
  const { kind, label, ratePerS, dailyMax, expiresAt } = record;
  const keptEnd = kind === 'live' && expiresAt !== null ? { expiresAt } : {};
  const issued = issue({ kind, label, ratePerS, dailyMax, ...keptEnd }, nowMs);
  if (stateOf(issued.record, nowMs) === 'expired')
    throw new KeyStoreError(`key ${record.id} is expired: renew it before rotating it`);
  return issued;
}

function expiryAfter(lifetimeMs: number | null, nowMs: number): string | null {
  return lifetimeMs === null ? null : isoTime(nowMs + lifetimeMs);
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
