/** How much of what is left of a day's quota each of several replicas may answer until it hears from the store. */
export function shareOf(left: number, replicas: number): number {
  return Math.ceil(Math.max(0, left) / Math.max(1, replicas));
}

/** What a bucket lacked at one moment, and all tokens that this replica had taken by then. */
interface BucketReading {
  readonly spent: number;
  readonly taken: number;
  readonly atMs: number;
}

/**
 * The tokens that a bucket lacks where the others took `others` since `before`. The others' tokens came in between, so
 * what flowed in since then is theirs too: after a long pause no bucket is in debt for what was paid long ago.
 */
export function spentWith(
  others: number,
  {
    now,
    before,
    ratePerS,
  }: { readonly now: BucketReading; readonly before: BucketReading; readonly ratePerS: number },
): number {
  const refilled = (ratePerS * Math.max(0, now.atMs - before.atMs)) / 1000;
  return Math.max(now.spent, before.spent + (now.taken - before.taken) + others - refilled);
}
