/** How requests come. */
export type Mode =
  /** Every connection is busy all the time. */
  | 'saturation'
  /** One request at a time. */
  | 'alone'
  /** Evenly spaced, so many a second. */
  | 'rate'
  /** Evenly spaced, at a share of what saturates the service. */
  | 'share'
  /** Every connection is busy, and who is refused asks again at once. */
  | 'crowd'
  /** Evenly spaced, at twice what saturates the service. */
  | 'flood'
  /** Every connection is busy, and hardly anyone is not refused. */
  | 'refusal'
  /** Evenly spaced, as many a second as were refused. */
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

/** Of the throughput that the service reached in saturation, in the same repetition. */
export const RATE_SHARES: Readonly<Partial<Record<Mode, number>>> = { share: 0.6, flood: 2 };

/** Whether a 503 is an answer here, not a fault. */
export function mayRefuse(mode: Mode): boolean {
  return mode === 'crowd' || mode === 'flood' || mode === 'refusal';
}
