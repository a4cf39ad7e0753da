/**
 * Sleep in one unit: durations in seconds, shares as fractions. NaN for what is missing and could not be
 * derived.
 */
export class Sleep {
  sleepS = NaN;
  deepS = NaN;
  remS = NaN;
  lightS = NaN;
  awakeS = NaN;
  deepShare = NaN;
  remShare = NaN;
  lightShare = NaN;
}

/**
 * Normalises the given values in place: one scale for the shares, one meaning for the sleep time, and all
 * values that arithmetic can derive.
 */
export function normalise(sleep: Sleep): void {
  const stagesS = sleep.deepS + sleep.remS + sleep.lightS;
  if (Number.isNaN(stagesS)) {
    scaleShares(sleep);
    deriveMissing(sleep);
    return;
  }
  // The stages are measured, so it no longer matters whether the sleep time includes awake time.
  sleep.sleepS = stagesS;
  sleep.deepShare = ratio(sleep.deepS, stagesS);
  sleep.remShare = ratio(sleep.remS, stagesS);
  sleep.lightShare = ratio(sleep.lightS, stagesS);
}

/** Shares are fractions if each of them is at most 1, else percent points. */
export function areFractions({ deepShare, remShare, lightShare }: Sleep): boolean {
  // Comparisons with NaN are false: an absent share decides nothing.
  return !(deepShare > 1 || remShare > 1 || lightShare > 1);
}

function scaleShares(sleep: Sleep): void {
  if (areFractions(sleep)) return;
  sleep.deepShare *= 0.01;
  sleep.remShare *= 0.01;
  sleep.lightShare *= 0.01;
}

/** Never overwrites a known value; a line has no effect if its inputs are missing (NaN). */
function deriveMissing(sleep: Sleep): void {
  sleep.deepShare = known(sleep.deepShare, 1 - sleep.remShare - sleep.lightShare);
  sleep.remShare = known(sleep.remShare, 1 - sleep.deepShare - sleep.lightShare);
  sleep.lightShare = known(sleep.lightShare, 1 - sleep.deepShare - sleep.remShare);
  sleep.sleepS = known(sleep.sleepS, ratio(sleep.deepS, sleep.deepShare));
  sleep.sleepS = known(sleep.sleepS, ratio(sleep.remS, sleep.remShare));
  sleep.sleepS = known(sleep.sleepS, ratio(sleep.lightS, sleep.lightShare));
  sleep.deepS = known(sleep.deepS, sleep.deepShare * sleep.sleepS);
  sleep.remS = known(sleep.remS, sleep.remShare * sleep.sleepS);
  sleep.lightS = known(sleep.lightS, sleep.lightShare * sleep.sleepS);
  sleep.deepS = known(sleep.deepS, sleep.sleepS - sleep.remS - sleep.lightS);
  sleep.remS = known(sleep.remS, sleep.sleepS - sleep.deepS - sleep.lightS);
  sleep.lightS = known(sleep.lightS, sleep.sleepS - sleep.deepS - sleep.remS);
  sleep.deepShare = known(sleep.deepShare, ratio(sleep.deepS, sleep.sleepS));
  sleep.remShare = known(sleep.remShare, ratio(sleep.remS, sleep.sleepS));
  sleep.lightShare = known(sleep.lightShare, ratio(sleep.lightS, sleep.sleepS));
}

/**
 * `value` if it is known, else the derived value. A negative derived value counts as unknown, and so does the
 * infinity from dividing by a vanishing share.
 */
function known(value: number, derived: number): number {
  if (!Number.isNaN(value)) return value;
  return derived >= 0 && derived < Infinity ? derived : NaN;
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : NaN;
}
