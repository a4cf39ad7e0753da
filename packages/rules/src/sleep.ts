/** Sleep in one unit; what is missing and could not be derived is NaN. Durations in seconds, shares as fractions. */
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
 * Makes sense of what was given, in place: one scale for the shares, one meaning for the sleep time, and what
 * arithmetic can derive.
 */
export function normalise(sleep: Sleep): void {
  const stagesS = sleep.deepS + sleep.remS + sleep.lightS;
  if (Number.isNaN(stagesS)) {
    scaleShares(sleep);
    deriveMissing(sleep);
    return;
  }
  // The stages are what was measured: whether the sleep time holds awake time too no longer matters.
  sleep.sleepS = stagesS;
  sleep.deepShare = ratio(sleep.deepS, stagesS);
  sleep.remShare = ratio(sleep.remS, stagesS);
  sleep.lightShare = ratio(sleep.lightS, stagesS);
}

/** Shares are fractions if each of them is at most 1, else percent points. */
export function areFractions({ deepShare, remShare, lightShare }: Sleep): boolean {
  // NaN compares as false: an absent share speaks neither for nor against a scale.
  return !(deepShare > 1 || remShare > 1 || lightShare > 1);
}

function scaleShares(sleep: Sleep): void {
  if (areFractions(sleep)) return;
  sleep.deepShare *= 0.01;
  sleep.remShare *= 0.01;
  sleep.lightShare *= 0.01;
}

/** A known value is never overwritten; every line does nothing where its inputs are missing (NaN). */
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
 * `value` where it is known, else what was derived. A derived negative is no knowledge, nor is the infinity that
 * division by a vanishing share gives.
 */
function known(value: number, derived: number): number {
  if (!Number.isNaN(value)) return value;
  return derived >= 0 && derived < Infinity ? derived : NaN;
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : NaN;
}
