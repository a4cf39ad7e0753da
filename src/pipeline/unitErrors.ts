import type { SeriesField } from '../contract/request.js';

/** Plausible values, in the words of a refusal; the parser's own bounds are in `assembly/series.ts`. */
const HEART_EXPECTED = 'Expected beats per minute, 25 to 240';
const BREATH_EXPECTED = 'Expected breaths per minute, 3 to 70';

/** Breathing in the hundreds is most likely beat-to-beat intervals in milliseconds. */
const INTERVAL_MS_MIN = 200;
const INTERVAL_MS_MAX = 3_000;

/** What a caller is told of a series that is most likely in another unit. */
export function unitMessage(field: SeriesField, values: readonly number[]): string {
  if (field === 'HR_day_1h' || field === 'HR_night') return `${HEART_EXPECTED}; most samples lie outside`;
  const intervals = values.filter((value) => value >= INTERVAL_MS_MIN && value <= INTERVAL_MS_MAX);
  return intervals.length > values.length / 2
    ? `${BREATH_EXPECTED}; these look like R-R intervals in milliseconds, not respiratory rate`
    : `${BREATH_EXPECTED}; most samples lie outside`;
}
