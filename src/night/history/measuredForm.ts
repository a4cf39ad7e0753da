import { MEASURED_FIELDS, type MeasuredField, RELIABILITY_BOUNDS, SCORE_BOUNDS } from '#rules/fields.js';
import { isLabel } from '../measured.js';
import {
  KEPT_MAX,
  type KeptMeasurement,
  type MeasuredScore,
  type Measurements,
  type OlderMeasurements,
} from './measurements.js';
import { LAST_DAY } from './night.js';

/**
 * The measurements of a history as bytes; numbers are little-endian:
 *
 *   score … │ their length u16 │ mask u8
 *
 *   score  count u8 (1 to 8; 9: eight, and the sum of older ones), then that many, oldest first: value u16 (hundredths; High is 100, Low 0),
 *          reliability u16 (ten-thousandths), day u24; then the sum, if there is one: Σ k·r, Σ k, Σ w·a and Σ w f32, and
 *          the day u24 of the newest in it
 *
 * The mask has a bit for each of `MEASURED_FIELDS`, lowest first; without measurements, only a mask of 0 is written.
 * Length and mask come last, so a client that forgets measurements can cut `length + 3` bytes and append a 0.
 */

const HUNDREDTHS = 100;
const RELIABILITY_ONE = 10_000;
const U24 = 3;
const KEPT_BYTES = 2 + 2 + U24;
const OLDER_BYTES = 4 * 4 + U24;
/** After the scores: their length and the mask. */
const END_BYTES = 2 + 1;
const WITH_OLDER = KEPT_MAX + 1;

/** Most bytes of measurements in a history. */
export const MEASURED_BYTES_MAX =
  MEASURED_FIELDS.length * (1 + KEPT_MAX * KEPT_BYTES + OLDER_BYTES) + END_BYTES;

/** The largest sum of weights: distinct days, at most 1 each. */
const WEIGHT_MOST = LAST_DAY + 1;
/** Largest possible residual: for a label, some 15.7. */
const RESIDUAL_MOST = 20;
/** Wider than the bounds of a single reliability, because sums are rounded. */
const SHARE_LEAST = RELIABILITY_BOUNDS.minimum * 0.99;
const PRECISION_LEAST = SHARE_LEAST / (1 - SHARE_LEAST);
const PRECISION_MOST = 1.01 / (1 - RELIABILITY_BOUNDS.maximum);

/** Writes them, even if there are none, to `bytes` from `start` on; returns where they end. */
export function encodeMeasurements(measurements: Measurements, bytes: Buffer, start: number): number {
  if (measurements.isEmpty) {
    bytes[start] = 0; // the usual case: a checked write costs more
    return start + 1;
  }
  let at = start;
  let mask = 0;
  for (const [index, score] of measurements.scores.entries()) {
    if (score === undefined) continue;
    mask |= 1 << index;
    at = encodeScore(score, bytes, at);
  }
  at = bytes.writeUInt16LE(at - start, at);
  return bytes.writeUInt8(mask, at);
}

function encodeScore({ kept, older }: MeasuredScore, bytes: Buffer, start: number): number {
  let at = bytes.writeUInt8(older === undefined ? kept.length : WITH_OLDER, start);
  for (const { value, reliability, day } of kept) {
    at = bytes.writeUInt16LE(Math.round(value * HUNDREDTHS), at);
    at = bytes.writeUInt16LE(Math.round(reliability * RELIABILITY_ONE), at);
    at = bytes.writeUIntLE(day, at, U24);
  }
  if (older === undefined) return at;
  const { pull, precision, shares, weight } = older.evidence;
  for (const sum of [pull, precision, shares, weight]) at = bytes.writeFloatLE(sum, at);
  return bytes.writeUIntLE(older.day, at, U24);
}

/** Reads the measurements that end, with their mask, before `end`; false if they are invalid. */
export function decodeMeasurements(
  measurements: Measurements,
  bytes: Buffer,
  start: number,
  end: number,
): boolean {
  measurements.clear();
  if (end <= start) return false;
  const mask = bytes.readUInt8(end - 1);
  if (mask === 0) return end - start === 1;
  const scoresEnd = end - END_BYTES;
  if (mask >> MEASURED_FIELDS.length !== 0 || scoresEnd < start) return false;
  if (bytes.readUInt16LE(scoresEnd) !== scoresEnd - start) return false;
  let at = start;
  for (const [index, field] of MEASURED_FIELDS.entries()) {
    if ((mask & (1 << index)) === 0) continue;
    const count = at < scoresEnd ? bytes.readUInt8(at) : 0;
    const score = scoreBytes(count);
    if (count === 0 || count > WITH_OLDER || at + score > scoresEnd) return false;
    const decoded = decodeScore(field, bytes, at);
    if (decoded === undefined) return false;
    measurements.scores[index] = decoded;
    at += score;
  }
  measurements.isEmpty = false;
  return at === scoresEnd;
}

function scoreBytes(count: number): number {
  return 1 + (count === WITH_OLDER ? KEPT_MAX * KEPT_BYTES + OLDER_BYTES : count * KEPT_BYTES);
}

function decodeScore(field: MeasuredField, bytes: Buffer, start: number): MeasuredScore | undefined {
  const count = bytes.readUInt8(start);
  const kept: KeptMeasurement[] = [];
  let at = start + 1;
  let before = -1;
  for (; kept.length < Math.min(count, KEPT_MAX); at += KEPT_BYTES) {
    const one = decodeKept(bytes, at);
    if (!isSound(field, one) || one.day <= before) return undefined;
    before = one.day;
    kept.push(one);
  }
  if (count < WITH_OLDER) return { kept, older: undefined };
  const older = decodeOlder(bytes, at);
  return isSumSound(older) && older.day < kept[0]!.day ? { kept, older } : undefined; // `kept` has KEPT_MAX elements
}

function decodeKept(bytes: Buffer, at: number): KeptMeasurement {
  return {
    value: bytes.readUInt16LE(at) / HUNDREDTHS,
    reliability: bytes.readUInt16LE(at + 2) / RELIABILITY_ONE,
    day: bytes.readUIntLE(at + 4, U24),
  };
}

function isSound(field: MeasuredField, { value, reliability, day }: KeptMeasurement): boolean {
  const isValue = isLabel(field)
    ? value === SCORE_BOUNDS.maximum || value === SCORE_BOUNDS.minimum
    : value <= SCORE_BOUNDS.maximum;
  const { minimum, maximum } = RELIABILITY_BOUNDS;
  return isValue && reliability >= minimum && reliability <= maximum && day <= LAST_DAY;
}

function decodeOlder(bytes: Buffer, at: number): OlderMeasurements {
  return {
    day: bytes.readUIntLE(at + OLDER_BYTES - U24, U24),
    evidence: {
      pull: bytes.readFloatLE(at),
      precision: bytes.readFloatLE(at + 4),
      own: 0,
      shares: bytes.readFloatLE(at + 8),
      weight: bytes.readFloatLE(at + 12),
    },
  };
}

function isSumSound({ evidence: { pull, precision, shares, weight } }: OlderMeasurements): boolean {
  return (
    isWithin(weight, 1, WEIGHT_MOST) &&
    isWithin(shares, SHARE_LEAST * weight, weight) &&
    isWithin(precision, PRECISION_LEAST * weight, PRECISION_MOST * weight) &&
    isWithin(pull, -RESIDUAL_MOST * precision, RESIDUAL_MOST * precision)
  );
}

/** False for NaN, and for −0, which would be a second encoding of 0. */
function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most && (value !== 0 || 1 / value > 0);
}
