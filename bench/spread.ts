import { spreadOf } from '#acuity/load/statistics.js';

/** "median (least–most)"; a dash if a value is missing. */
export function spread(values: readonly number[], digits: number): string {
  if (values.length === 0 || values.some((value) => !Number.isFinite(value))) return '–';
  const { median, min, max } = spreadOf(values);
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}
