/** Measurements applied to whole rows of scores. */
import { MEASURED_FIELDS, SCORE_FIELDS, type MeasuredField } from '#rules/fields.js';
import type { MeasuredConstants } from '../model/manifest.js';
import { adjusted, adjustmentOf, isLabel, offsetOf, type Evidence } from './measured.js';

/** The manifest's constants for measurements, without their sources. */
export type MeasuringConstants = Omit<MeasuredConstants, 'sources'>;

/**
 * How measurements move all score rows of one request, in any kind of memory: base, own and scale of each of
 * `MEASURED_FIELDS` (`Adjustment`; scale 0 if no measurement counts), then the weights of the composite, all 0 if it
 * does not move.
 */
export type Adjustments = Float64Array;

const FIELDS = MEASURED_FIELDS.length;
const POINTS = SCORE_FIELDS.length;
const ADJUSTMENT = 3;
const SCALE = 2;
const COMPOSED = ['attention', 'memory', 'reasoning'] as const;
const COMPOSITE = FIELDS * ADJUSTMENT;
export const ADJUSTMENTS_LENGTH = COMPOSITE + COMPOSED.length;

/** In a row, `MEASURED_FIELDS` start after `C_SCORE`. */
const FIRST_COLUMN = 1;
const COLUMNS = FIRST_COLUMN + FIELDS;
/** `measured.ts` has probabilities in percent, like scores. */
const UNITS = MEASURED_FIELDS.map((field) => (isLabel(field) ? 100 : 1));

/** Undefined if no measurement counts. */
export function adjustmentsOf(
  evidence: (field: MeasuredField) => Evidence,
  { composite }: Pick<MeasuringConstants, 'composite'>,
): Adjustments | undefined {
  const adjustments = new Float64Array(ADJUSTMENTS_LENGTH);
  let isAny = false;
  for (const [index, field] of MEASURED_FIELDS.entries()) {
    const adjustment = adjustmentOf(evidence(field));
    if (adjustment === undefined) continue;
    const { base, own, scale } = adjustment;
    adjustments.set([base, own, scale], index * ADJUSTMENT);
    isAny = true;
    if (index < COMPOSED.length)
      COMPOSED.forEach((name, part) => (adjustments[COMPOSITE + part] = composite[name]));
  }
  return isAny ? adjustments : undefined;
}

/** False if all are 0. */
export function isAnyMoved(adjustments: Adjustments): boolean {
  return MEASURED_FIELDS.some((_, index) => isMoved(adjustments, FIRST_COLUMN + index));
}

/** Whether measurements move column `column` of a row. */
export function isMoved(adjustments: Adjustments, column: number): boolean {
  if (column < FIRST_COLUMN) return isComposed(adjustments);
  return adjustments[(column - FIRST_COLUMN) * ADJUSTMENT + SCALE]! > 0; // within ADJUSTMENTS_LENGTH
}

function isComposed(adjustments: Adjustments): boolean {
  return COMPOSED.some((_, part) => isMoved(adjustments, FIRST_COLUMN + part));
}

/** m of each field on the day with the unmeasured scores `scores[offset …]`. */
export function offsetsOf(adjustments: Adjustments, scores: Float32Array, offset: number): Float64Array {
  return Float64Array.from(MEASURED_FIELDS, (field, index) => {
    const [base = 0, own = 0, scale = 0] = adjustments.subarray(index * ADJUSTMENT);
    const score = UNITS[index]! * scores[offset + FIRST_COLUMN + index]!; // within a row; one for each field
    return scale > 0 ? offsetOf(field, { base, own, scale }, score) : 0;
  });
}

/** Moves a row of scores in place, by the `offsets` of its day. */
export function adjustRow(
  row: Float32Array,
  at: number,
  adjustments: Adjustments,
  offsets: Float64Array,
): void {
  for (let index = 0; index < FIELDS; index++) {
    const scale = adjustments[index * ADJUSTMENT + SCALE]!; // within ADJUSTMENTS_LENGTH, and within a row, as below
    if (scale === 0) continue;
    const field = MEASURED_FIELDS[index]!;
    const unit = UNITS[index]!;
    const column = at + FIRST_COLUMN + index;
    row[column] = adjusted(field, unit * row[column]!, offsets[index]!, scale) / unit;
  }
  if (!isComposed(adjustments)) return;
  row[at] = COMPOSED.reduce(
    (sum, _, part) => sum + adjustments[COMPOSITE + part]! * row[at + FIRST_COLUMN + part]!,
    0,
  );
}

/** A request's scores with its measurements, as a new row. */
export function adjustedRow(adjustments: Adjustments, scores: Float32Array, offset: number): Float32Array {
  const row = scores.slice(offset, offset + COLUMNS);
  adjustRow(row, 0, adjustments, offsetsOf(adjustments, scores, offset));
  return row;
}

/**
 * Moves the ends of the ranges of a day whose unmeasured scores are `scores`: `reach` is how far they are below the
 * five scores, then above. The range of the composite widens and narrows with those of its parts.
 */
export function adjustReach(
  reach: Float32Array,
  scores: Float32Array,
  adjustments: Adjustments,
  offsets: Float64Array,
): void {
  for (const [side, sign] of [-1, 1].entries()) {
    const first = side * POINTS; // of the side's five, as in a row of scores
    const parts = { before: 0, after: 0 };
    for (let column = FIRST_COLUMN; column < POINTS; column++) {
      const index = column - FIRST_COLUMN;
      const was = reach[first + column]!; // within 2 · POINTS
      let is = was;
      if (isMoved(adjustments, column)) {
        const field = MEASURED_FIELDS[index]!; // the scores come first
        const scale = adjustments[index * ADJUSTMENT + SCALE]!; // within ADJUSTMENTS_LENGTH
        const score = scores[column]!; // within a row
        const moved = (value: number): number => adjusted(field, value, offsets[index]!, scale);
        is = sign * (moved(score + sign * was) - moved(score));
        reach[first + column] = is;
      }
      if (index < COMPOSED.length) {
        const weight = adjustments[COMPOSITE + index]!; // within ADJUSTMENTS_LENGTH
        parts.before += weight * was;
        parts.after += weight * is;
      }
    }
    if (parts.before > 0) reach[first]! *= parts.after / parts.before;
  }
}
