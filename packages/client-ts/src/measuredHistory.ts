import { crc32 } from 'node:zlib';

/** The prefix of a history that this client can take apart; base64url follows. */
const VERSION = 'acu1.';
const CRC_BYTES = 4;
/** After the measurements: their length (u16) and the mask (u8), which is 0 if there are none. */
const END_BYTES = 3;

/**
 * The history without measurements:
 *
 *   nights │ measurements │ their length u16 │ mask u8, not 0 │ CRC-32   becomes   nights │ 0 u8 │ CRC-32
 *
 * @throws RangeError if it is damaged, or of a version that this client does not know
 * @internal
 */
export function withoutMeasurements(history: string): string {
  const bytes = Buffer.from(history.slice(VERSION.length), 'base64url');
  const end = bytes.length - CRC_BYTES;
  const isWhole =
    history.startsWith(VERSION) && end > 0 && crc32(bytes.subarray(0, end)) === bytes.readUInt32LE(end);
  if (isWhole && bytes[end - 1] === 0) return history;
  const kept = !isWhole || end < END_BYTES ? 0 : end - END_BYTES - bytes.readUInt16LE(end - END_BYTES);
  if (kept < 1)
    throw new RangeError(
      'the stored history is damaged, or newer than this client: restore what was stored of the person, or forget them',
    );
  const shorter = Buffer.alloc(kept + 1 + CRC_BYTES); // the byte after what is kept is 0
  bytes.copy(shorter, 0, 0, kept);
  shorter.writeUInt32LE(crc32(shorter.subarray(0, kept + 1)), kept + 1);
  return VERSION + shorter.toString('base64url');
}
