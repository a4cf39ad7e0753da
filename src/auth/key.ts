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
const PREFIX_LENGTH = 8;
const SECRET_LENGTH = 32;
/** 62⁶ exceeds 2³², so six characters hold any CRC-32. */
const CHECKSUM_LENGTH = 6;
const CHECKED_LENGTH = PREFIX_LENGTH + SECRET_LENGTH;

/** Characters in a key. */
export const KEY_LENGTH = CHECKED_LENGTH + CHECKSUM_LENGTH;

/** Code unit → digit; 255 for characters outside base62. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = ALPHABET.indexOf(String.fromCharCode(code));
  return digit === -1 ? 255 : digit;
});

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
  if (key.length !== KEY_LENGTH) return false;
  if (!key.startsWith(PREFIXES.live) && !key.startsWith(PREFIXES.demo)) return false;
  for (let at = PREFIX_LENGTH; at < KEY_LENGTH; at++) {
    const code = key.charCodeAt(at);
    if (code > 127 || DIGITS[code] === 255) return false;
  }
  return hasChecksum(key, crc32(key.slice(0, CHECKED_LENGTH)));
}

/** SHA-256 of the key, 32 bytes: the only form in which a key is stored. */
export function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Compares digit by digit, so that checking allocates no string. */
function hasChecksum(key: string, crc: number): boolean {
  let rest = crc;
  for (let at = KEY_LENGTH - 1; at >= CHECKED_LENGTH; at--) {
    if (DIGITS[key.charCodeAt(at)] !== rest % 62) return false;
    rest = Math.floor(rest / 62);
  }
  return true;
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
