import type { SeriesField } from '../contract/request.js';

/** Plausible values, in the words of a refusal; the parser's own bounds are in `assembly/series.ts`. */
const HEART_EXPECTED = 'Expected beats per minute, 25 to 240';
const BREATH_EXPECTED = 'Expected breaths per minute, 3 to 70';

/** Breathing in the hundreds is most likely beat-to-beat intervals in milliseconds. */
const INTERVALS_MS = { min: 200, max: 3_000 };
const HEART_RATES = { min: 40, max: 240 };

/** What a caller is told of a series that is most likely in another unit. */
export function unitMessage(field: SeriesField, values: ArrayLike<number>): string {
  if (field === 'HR_day_1h' || field === 'HR_night') return `${HEART_EXPECTED}; most samples lie outside`;
  if (areMostlyWithin(values, INTERVALS_MS)) {
    return `${BREATH_EXPECTED}; these look like R-R intervals in milliseconds, not respiratory rate`;
  }
  return areMostlyWithin(values, HEART_RATES)
    ? `${BREATH_EXPECTED}; these look like heart rate`
    : `${BREATH_EXPECTED}; most samples lie outside`;
}

function areMostlyWithin(values: ArrayLike<number>, { min, max }: { min: number; max: number }): boolean {
  let within = 0;
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!; // index < length
    if (value >= min && value <= max) within++;
  }
  return within > values.length / 2;
}
