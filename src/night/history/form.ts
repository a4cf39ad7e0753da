import { crc32 } from 'node:zlib';
import { LABEL_FIELDS, SCORED_BOUNDS, SCORE_FIELDS, SERIES_FIELDS } from '#rules/fields.js';
import { hundredths, type Thresholds } from '../respond.js';
import { LAYOUT } from '../layout.js';
import { SCALAR_PLACES, summaryAt } from '../places.js';
import { encodeMeasurements, MEASURED_BYTES_MAX } from './measuredForm.js';
import { type History, HISTORY_SESSIONS } from './history.js';
import { type LongRun, QUANTITIES } from './longRun.js';

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

const { RECORD_LENGTH, TARGET_LENGTH, COUNT, LEVEL } = LAYOUT;
const SCORES = SCORE_FIELDS.length;
const LABELS = LABEL_FIELDS.length;

/**
 * The numbers of a session: bit i says whether number i is present. Times in seconds come first, then the other
 * scalars.
 */
const NUMBERS = Object.entries(SCORED_BOUNDS).toSorted(
  ([, one], [, other]) => Number(other.isWhole) - Number(one.isWhole),
);
const TIMES = NUMBERS.filter(([, { isWhole }]) => isWhole).length;
/** The index of each number in a record; the levels of series follow. */
const PLACES = [
  ...NUMBERS.map(([field]) => SCALAR_PLACES[field as keyof typeof SCORED_BOUNDS]),
  ...SERIES_FIELDS.map((field) => summaryAt(0, field) + LEVEL),
];
const VALUES = PLACES.length;
const FIRST_LEVEL = NUMBERS.length;
const SEX_KNOWN = 1 << VALUES;
const SEX_MALE = SEX_KNOWN << 1;
/** The bit of the first label; the others follow. */
const LABEL_HIGH = SEX_MALE << 1;

const STAGES = bitsOf('deepSleepSeconds', 'remSleepSeconds', 'lightSleepSeconds');
/** Ignored if all three stages are given. */
const IMPLIED = bitsOf('sleepTimeSeconds', 'deepPercentage', 'remPercentage', 'lightPercentage');

function bitsOf(...fields: (keyof typeof SCORED_BOUNDS)[]): number {
  return fields.reduce((bits, field) => bits | (1 << PLACES.indexOf(SCALAR_PLACES[field])), 0);
}

/** The byte that holds the labels, and the bit of the first one in it. */
const LABEL_BYTE = Math.floor(Math.log2(LABEL_HIGH) / 8);
const LABEL_BIT = LABEL_HIGH >> (8 * LABEL_BYTE);

const U24 = 3;
const F64 = 8;
const CHANCE_UNKNOWN = 0xffff;
const CHANCE_ONE = 10_000;

const SESSION_HEAD_BYTES = U24 + U24 + 2 * (SCORES + LABELS);
const QUANTITY_BYTES = 2 + 3 * 4;
export const CRC_BYTES = 4;

/** A session with all other values lacks a stage, since all three stages replace the sleep time. */
const SESSION_BYTES_MAX = SESSION_HEAD_BYTES + (TIMES - 1) * U24 + (VALUES - TIMES) * F64;
/** Most bytes of a history without measurements, checksum excluded. */
export const UNMEASURED_BYTES_MAX =
  1 + HISTORY_SESSIONS * SESSION_BYTES_MAX + 2 + QUANTITIES.length * QUANTITY_BYTES + 1;
/** Most bytes of a history of this version, measurements included. */
export const HISTORY_BYTES_MAX = UNMEASURED_BYTES_MAX - 1 + MEASURED_BYTES_MAX + CRC_BYTES;

/** The prefix of the text of a history of this version; the rest is base64url without padding. */
export const VERSION = 'acu1.';

/** The text of `bytes`, with a checksum appended. */
export function textWithChecksum(bytes: Uint8Array): string {
  const whole = Buffer.allocUnsafe(bytes.length + CRC_BYTES);
  whole.set(bytes);
  return sealedText(whole);
}

/** The text of `bytes`, whose last four are reserved for the checksum. */
export function sealedText(bytes: Buffer): string {
  const length = bytes.length - CRC_BYTES;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, length)), length);
  return VERSION + bytes.toString('base64url');
}

/** Writes histories, one at a time; the parser reads them. */
export class HistoryForm {
  /** The bytes of the history encoded last. */
  readonly bytes: Buffer = Buffer.alloc(HISTORY_BYTES_MAX);
  private readonly view = new DataView(this.bytes.buffer, this.bytes.byteOffset, HISTORY_BYTES_MAX);
  private readonly sessionsAt: number[] = [];
  private at = 0;

  /** Where session `index` of the history encoded last starts. */
  sessionAt(index: number): number {
    return this.sessionsAt[index] ?? NaN;
  }

  /** Writes `history` to `bytes`; returns the number of bytes. */
  encode(history: History): number {
    this.at = 0;
    this.putU8(history.count);
    for (let index = 0; index < history.count; index++) this.encodeSession(history, index);
    this.encodeLongRun(history.longRun);
    return encodeMeasurements(history.measurements, this.bytes, this.at);
  }

  private encodeSession(history: History, index: number): void {
    const { days, records, targets, chances } = history;
    const record = index * RECORD_LENGTH;
    const bits = bitsOfRecord(records, record) | labelBits(targets, index * TARGET_LENGTH);
    const day = days[index]!; // index < count
    this.sessionsAt[index] = this.at;
    this.putU24(bits);
    this.putU24(Number.isNaN(day) ? 0 : day + 1);
    // Each index is within its session.
    for (let score = 0; score < SCORES; score++) {
      this.putU16(Math.round(targets[index * TARGET_LENGTH + score]! * 100));
    }
    for (let label = 0; label < LABELS; label++) {
      const chance = chances[index * LABELS + label]!;
      this.putU16(Number.isNaN(chance) ? CHANCE_UNKNOWN : Math.round(chance * CHANCE_ONE));
    }
    this.encodeValues(records, record, bits);
  }

  private encodeValues(records: Float64Array, record: number, bits: number): void {
    for (let index = 0; index < VALUES; index++) {
      if ((bits & (1 << index)) === 0) continue;
      const value = records[record + PLACES[index]!]!; // index < VALUES, within the record
      if (index < TIMES) this.putU24(value);
      else {
        this.view.setFloat64(this.at, value + 0, true); // no −0
        this.at += F64;
      }
    }
  }

  private encodeLongRun({ nights, counts, weights, means, spreads }: LongRun): void {
    const { view } = this;
    this.putU16(nights);
    if (nights === 0) return;
    let { at } = this;
    for (let index = 0; index < QUANTITIES.length; index++, at += QUANTITY_BYTES) {
      view.setUint16(at, counts[index]!, true); // all are of QUANTITIES.length
      view.setFloat32(at + 2, weights[index]!, true);
      view.setFloat32(at + 6, means[index]! + 0, true); // no −0
      view.setFloat32(at + 10, spreads[index]!, true);
    }
    this.at = at;
  }

  private putU8(value: number): void {
    this.view.setUint8(this.at++, value);
  }

  private putU16(value: number): void {
    this.view.setUint16(this.at, value, true);
    this.at += 2;
  }

  private putU24(value: number): void {
    this.view.setUint16(this.at, value, true);
    this.view.setUint8(this.at + 2, value >> 16);
    this.at += U24;
  }
}

function bitsOfRecord(records: Float64Array, record: number): number {
  let bits = 0;
  for (let index = 0; index < FIRST_LEVEL; index++) {
    const value = records[record + PLACES[index]!]!; // index < VALUES, within the record, as below
    if (value === value) bits |= 1 << index; // NaN is missing
  }
  for (let index = FIRST_LEVEL; index < VALUES; index++) {
    if (records[record + PLACES[index]! - LEVEL + COUNT]! > 0) bits |= 1 << index;
  }
  if ((bits & STAGES) === STAGES) bits &= ~IMPLIED;
  const sex = records[record + LAYOUT.SEX]!;
  return Number.isNaN(sex) ? bits : bits | SEX_KNOWN | (sex > 0 ? SEX_MALE : 0);
}

function labelBits(targets: Float64Array, target: number): number {
  let bits = 0;
  for (let label = 0; label < LABELS; label++) {
    if (targets[target + SCORES + label]! > 0) bits |= LABEL_HIGH << label; // within the target
  }
  return bits;
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
