import { crc32 } from 'node:zlib';
import { HISTORY_LENGTH_MAX } from '#rules/fields.js';

/** The prefix of a history of this version; the rest is base64url without padding. */
export const VERSION = 'acu1.';

const CRC_BYTES = 4;
const ENCODING = 'base64url';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Decodes the text of a history into `bytes`; returns their number without the checksum, or −1 if the text is
 * damaged, of another version, or not exactly as `textOf` writes it.
 */
export function bytesOf(text: string, bytes: Buffer): number {
  if (text.length > HISTORY_LENGTH_MAX || !text.startsWith(VERSION)) return -1;
  const encoded = text.slice(VERSION.length);
  const length = Math.floor((encoded.length * 3) / 4) - CRC_BYTES;
  if (length <= 0 || length + CRC_BYTES > bytes.length) return -1;
  if (bytes.write(encoded, ENCODING) !== length + CRC_BYTES || !isCanonical(encoded)) return -1;
  return bytes.readUInt32LE(length) === crc32(bytes.subarray(0, length)) ? length : -1;
}

/**
 * Whether a text is exactly as it would be written, given that it decoded to as many bytes as its characters allow.
 * The decoder skips unknown characters, which gives fewer bytes unless a single character is left over; it also
 * accepts the other alphabet, and any bits after the last byte.
 */
function isCanonical(encoded: string): boolean {
  const left = encoded.length % 4;
  if (left === 1 || encoded.includes('+') || encoded.includes('/')) return false;
  const unused = left === 0 ? 0 : left === 2 ? 0b1111 : 0b11;
  return (ALPHABET.indexOf(encoded.at(-1) ?? '') & unused) === 0;
}

/** The text of `bytes`, with a checksum appended. */
export function textWithChecksum(bytes: Uint8Array): string {
  const whole = Buffer.allocUnsafe(bytes.length + CRC_BYTES);
  whole.set(bytes);
  return textOf(whole);
}

/** The text of `bytes`, whose last four are reserved for the checksum. */
export function textOf(bytes: Buffer): string {
  const length = bytes.length - CRC_BYTES;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, length)), length);
  return VERSION + bytes.toString(ENCODING);
}
