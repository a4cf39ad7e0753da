/** False for NaN, and for −0, which would be a second encoding of 0. */
export function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most && (value !== 0 || 1 / value > 0);
}
