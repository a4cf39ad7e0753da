import {
  LABEL_FIELDS,
  MEASURED_FIELDS,
  SCORE_FIELDS,
  SERIES_FIELDS,
  SESSION_SCALARS,
} from '#rules/fields.js';
import { isLabel } from '../pipeline/measured.js';
import { LAYOUT } from '../records/layout.js';
import { SCALAR_PLACES, summaryAt } from '../records/places.js';
import type { History } from './history.js';
import { HALF_LIFE_NIGHTS, QUANTITIES, type LongRun } from './longRun.js';
import type { Measurements } from './measurements.js';
import { dateOf } from './night.js';

/**
 * A history as an object to be printed as JSON, where `NaN` is `null` for what is not known: health data. Sessions stand
 * oldest first; of a series its level, of a sex 1 for M and −1 for F.
 */
export function described(history: History): object {
  return {
    sessions: Array.from({ length: history.count }, (_, index) => sessionOf(history, index)),
    long_run: longRunOf(history.longRun),
    measurements: measurementsOf(history.measurements),
  };
}

function sessionOf({ days, records, targets, chances }: History, index: number): object {
  const record = index * LAYOUT.RECORD_LENGTH;
  const target = index * LAYOUT.TARGET_LENGTH;
  const day = days[index] ?? NaN;
  const levelOf = (summary: number): number | undefined =>
    records[summary + LAYOUT.COUNT] === 0 ? NaN : records[summary + LAYOUT.LEVEL];
  return {
    night: Number.isNaN(day) ? null : dateOf(day),
    read: {
      ...fields(SERIES_FIELDS, (field) => levelOf(record + summaryAt(0, field))),
      ...fields(SESSION_SCALARS, (field) => records[record + SCALAR_PLACES[field]]),
    },
    scores: fields(SCORE_FIELDS, (_, score) => targets[target + score]),
    chances_of_high: fields(LABEL_FIELDS, (_, label) => chances[index * LABEL_FIELDS.length + label]),
  };
}

function longRunOf({ nights, counts, means, spreads }: LongRun): object {
  const known = QUANTITIES.flatMap(({ name, unit }, index) =>
    (counts[index] ?? 0) === 0
      ? []
      : [[name, { unit, nights: counts[index], mean: means[index], spread: spreads[index] }] as const],
  );
  return { nights, half_life_nights: HALF_LIFE_NIGHTS, quantities: Object.fromEntries(known) };
}

/** Of each score the eight newest; `older` is the sum of those before, up to a day. */
function measurementsOf({ scores }: Measurements): object[] {
  return MEASURED_FIELDS.flatMap((score, index) => {
    const { kept = [], older } = scores[index] ?? {};
    const { pull = NaN, precision = NaN } = older?.evidence ?? {};
    return [
      ...(older === undefined
        ? []
        : [{ score, on: dateOf(older.day), older: { spreads: pull / precision, weight: precision } }]),
      ...kept.map(({ value, reliability, day }) => ({
        score,
        on: dateOf(day),
        value: !isLabel(score) ? value : value > 0 ? 'High' : 'Low',
        reliability,
      })),
    ];
  });
}

function fields<Name extends string>(
  names: readonly Name[],
  valueOf: (name: Name, index: number) => number | undefined,
): object {
  return Object.fromEntries(names.map((name, index) => [name, valueOf(name, index)]));
}
