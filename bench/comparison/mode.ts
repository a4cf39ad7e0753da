/** How requests arrive. */
export type Mode =
  /** Every connection is busy all the time. */
  | 'saturation'
  /** One request at a time. */
  | 'alone'
  /** Evenly spaced, a fixed number per second. */
  | 'rate'
  /** Evenly spaced, at a share of the service's saturation. */
  | 'share'
  /** Every connection is busy, and refused callers ask again at once. */
  | 'crowd'
  /** Evenly spaced, at twice the service's saturation. */
  | 'flood'
  /** Every connection is busy, and nearly all requests are refused. */
  | 'refusal'
  /** Evenly spaced, as many per second as were refused. */
  | 'matched'
  /** As in saturation, for ten minutes. */
  | 'long';

export const MODE_TITLES: Readonly<Record<Mode, string>> = {
  saturation: 'saturation',
  alone: 'one request at a time',
  rate: 'fixed rate',
  share: '60 % of what saturates the service, fixed rate',
  crowd: 'all ask again at once',
  flood: 'twice what saturates the service, fixed rate',
  refusal: 'a queue that is always full',
  matched: 'as many a second as were refused, fixed rate',
  long: 'saturation, ten minutes',
};

/** Relative to the throughput that the service reached at saturation in the same repetition. */
export const RATE_SHARES: Readonly<Partial<Record<Mode, number>>> = { share: 0.6, flood: 2 };

/** Whether a 503 counts as an answer here, not as a fault. */
export function mayRefuse(mode: Mode): boolean {
  return mode === 'crowd' || mode === 'flood' || mode === 'refusal';
}
