/** The form of API keys, and their digest. */
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type KeyKind = 'demo' | 'live';

/*
 *   sk_demo_ 8fK…32 characters…Qz 1a2B3c
 *   ──┬───── ──────────┬───────── ──┬───
 *   prefix   secret, base62         checksum: CRC-32 of all before it, base62
 *
 * The checksum is no secret and proves nothing. It lets the authenticator refuse mistyped keys and plain junk without
 * hashing, and lets secret scanners recognise a leaked key.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIXES: Readonly<Record<KeyKind, string>> = { demo: 'sk_demo_', live: 'sk_live_' };
const SECRET_LENGTH = 32;
/** 62⁶ exceeds 2³², so six characters hold any CRC-32. */
const CHECKSUM_LENGTH = 6;
const CHECKED_LENGTH = 'sk_demo_'.length + SECRET_LENGTH;

/** Characters in a key. */
export const KEY_LENGTH = CHECKED_LENGTH + CHECKSUM_LENGTH;

const FORM = /^sk_(?:demo|live)_[0-9A-Za-z]{38}$/;

/** `count` base62 characters from the system's CSPRNG, each equally likely. */
export function randomBase62(count: number): string {
  // randomInt rejects and draws again instead of taking a remainder, which would favour some characters.
  return Array.from({ length: count }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** A new key, in clear: show it once and forget it. */
export function createKey(kind: KeyKind): string {
  const checked = PREFIXES[kind] + randomBase62(SECRET_LENGTH);
  return checked + base62(crc32(checked));
}

/** Whether `key` has the form of a key and a matching checksum. Does not say whether it was ever issued. */
export function isWellFormed(key: string): boolean {
  return FORM.test(key) && key.endsWith(base62(crc32(key.slice(0, CHECKED_LENGTH))));
}

/** SHA-256 of the key, 32 bytes: the only form in which a key is stored. */
export function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function base62(crc: number): string {
  let digits = '';
  let rest = crc;
  for (let at = 0; at < CHECKSUM_LENGTH; at++) {
    digits = ALPHABET.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
