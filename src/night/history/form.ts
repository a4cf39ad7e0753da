import { crc32 } from 'node:zlib';
import { LABEL_FIELDS, SCORED_BOUNDS, SCORE_FIELDS, SERIES_FIELDS } from '#rules/fields.js';
import { hundredths, type Thresholds } from '../respond.js';
import { MEASURED_BYTES_MAX } from './measuredForm.js';
import { HISTORY_SESSIONS } from './history.js';
import { QUANTITIES } from './longRun.js';

/**
 * A history as bytes; numbers are little-endian:
 *
 *   sessions u8 │ session … │ nights u16 │ long run, unless nights is 0 │ measurements │ CRC-32
 *
 *   session   bits u24, day + 1 u24 (0: undated), five scores u16 (hundredths), two chances of High u16 (ten-thousandths),
 *             then each value whose bit is set: seconds u24, all others f64
 *   long run  for each quantity: nights u16, weight f32, mean f32, spread f32
 *
 * `measuredForm.ts` draws the measurements; without any they are one byte 0.
 *
 * Each history has exactly one encoding. Values that a network never sees are left out: with all three stages their sum is the
 * sleep time, and the shares follow from them.
 */

const SCORES = SCORE_FIELDS.length;
const LABELS = LABEL_FIELDS.length;

/** The numbers of a session and the levels of its series: bit i says whether number i is present. Times come first. */
const NUMBERS = Object.values(SCORED_BOUNDS);
const TIMES = NUMBERS.filter(({ isWhole }) => isWhole).length;
const VALUES = NUMBERS.length + SERIES_FIELDS.length;
const SEX_KNOWN = 1 << VALUES;
const SEX_MALE = SEX_KNOWN << 1;
/** The bit of the first label; the others follow. */
const LABEL_HIGH = SEX_MALE << 1;

/** The byte that holds the labels, and the bit of the first one in it. */
const LABEL_BYTE = Math.floor(Math.log2(LABEL_HIGH) / 8);
const LABEL_BIT = LABEL_HIGH >> (8 * LABEL_BYTE);

const U24 = 3;
const F64 = 8;
const CHANCE_ONE = 10_000;

const SESSION_HEAD_BYTES = U24 + U24 + 2 * (SCORES + LABELS);
const QUANTITY_BYTES = 2 + 3 * 4;
export const CRC_BYTES = 4;

/** A session with all other values lacks a stage, since all three stages replace the sleep time. */
const SESSION_BYTES_MAX = SESSION_HEAD_BYTES + (TIMES - 1) * U24 + (VALUES - TIMES) * F64;
/** Most bytes of a history without measurements. */
export const UNMEASURED_BYTES_MAX =
  1 + HISTORY_SESSIONS * SESSION_BYTES_MAX + 2 + QUANTITIES.length * QUANTITY_BYTES + 1 + CRC_BYTES;
/** Most bytes of a history of this version, measurements included. */
export const HISTORY_BYTES_MAX = UNMEASURED_BYTES_MAX - 1 + MEASURED_BYTES_MAX;

/** The prefix of the text of a history of this version; the rest is base64url without padding. */
export const VERSION = 'acu1.';

/** The text of the bytes before `end`, whose last four are reserved for the checksum. */
export function sealedText(bytes: Buffer, end = bytes.length): string {
  const length = end - CRC_BYTES;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, length)), length);
  return VERSION + bytes.toString('base64url', 0, end);
}

/** The network's output for one session: five scores and two probabilities, from `offset` on. */
export interface SessionScores {
  readonly scores: Float32Array;
  readonly offset: number;
}

/** Writes the network's output into the session that starts at byte `session`. */
export function writeScores(
  bytes: Buffer,
  session: number,
  { scores, offset }: SessionScores,
  { valence, arousal }: Thresholds,
): void {
  let at = session + 2 * U24;
  for (let score = 0; score < SCORES; score++, at += 2)
    putU16(bytes, at, hundredths(scores[offset + score]!)); // a row
  const pleasant = scores[offset + SCORES]!;
  const active = scores[offset + SCORES + 1]!;
  putU16(bytes, at, Math.round(pleasant * CHANCE_ONE));
  putU16(bytes, at + 2, Math.round(active * CHANCE_ONE));
  const labels = (pleasant >= valence ? LABEL_BIT : 0) | (active >= arousal ? LABEL_BIT << 1 : 0);
  bytes[session + LABEL_BYTE] = (bytes[session + LABEL_BYTE]! & ~(LABEL_BIT | (LABEL_BIT << 1))) | labels;
}

function putU16(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >> 8;
}
