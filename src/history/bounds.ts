/** NaN is within no bounds, and −0 is another encoding of 0. */
export function isWithin(value: number, least: number, most: number): boolean {
  return value >= least && value <= most && (value !== 0 || 1 / value > 0);
}
