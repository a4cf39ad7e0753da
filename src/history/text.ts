import { crc32 } from 'node:zlib';

/** The prefix of a history of this version; the rest is base64url without padding. */
export const VERSION = 'acu1.';

const CRC_BYTES = 4;
const ENCODING = 'base64url';

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
