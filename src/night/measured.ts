import type { LABELS, MeasuredField } from '#rules/fields.js';
import { normalCdf, probit } from './normal.js';

/**
 * The arithmetic of measurements: how they move a person's scores beyond the network's output for each day.
 *
 * The model. Within an age and sex group, the result that a test of one score would have on a day, as a standard normal
 * value, is
 *
 *     z = λ + t + e,   t ~ N(0, A),   e ~ N(0, 1 − A).
 *
 * λ comes from the day's recordings, t is the person's own and lasts, e belongs to the day and the test. A network that does
 * not know t says the expected percentile p = 100 · E Φ(z). Since E Φ(z) = P(x < z) with x ~ N(0, 1) of its own, and
 * z − x ~ N(λ, 2), that is 100 · Φ(λ/√2). So λ = √2 · probit(p/100).
 *
 * A measurement v of a day with λ' leaves the residual r = probit(v/100) − λ' = t + e. A normal prior and normal noise give
 * a normal posterior. With k = a/(1 − a) for a measurement whose reliability, the share A of its own, is a:
 *
 *     mean m = Σ k r / (1 + Σ k),   variance A · u,   u = 1 / (1 + Σ k).
 *
 * An old measurement counts less, since t drifts: k is multiplied by w = 2^(−age / half-life). Where reliabilities differ,
 * A is their mean, weighted by w. A day later z ~ N(λ + m, s²) with s² = 1 − A + A·u, and the expected percentile is
 *
 *     100 · Φ((λ + m) / √(1 + s²)).
 *
 * Without measurements u = 1, s = 1, and that is p. With n fresh ones of one reliability m = n·a·r̄ / (1 + (n − 1)·a),
 * which is Spearman and Brown's shrinkage of a mean.
 *
 * Labels: a day is High where z > 0. So the network's output, a probability, is Φ(λ) itself, and with measurements it is
 * Φ((λ + m) / s): there is no comparison with another person. The logistic function replaces Φ, with λ = log(p/(1 − p)),
 * as log-odds suit probabilities. A label says only on which side of 0 its z is; it counts as if z were at
 * `LABEL_VALUES`, and its reliability is the correlation of a person's labels, smaller than that of the underlying z.
 *
 * The residual of the current night depends on the network's output for that night: m = base − own · λ. So base, own and
 * s are found from the history alone, before the night is scored.
 */

/**
 * The value of each label, in percent. With 16 and 84, one standard deviation from the middle, probabilities come out
 * too close to one half.
 */
export const LABEL_VALUES: Readonly<Record<(typeof LABELS)[number], number>> = { Low: 12, High: 88 };

/** A measured percentile is clamped to this distance from 0 and 100: no test places a person further out. */
const VALUE_LEAST = 0.5;
const VALUE_MOST = 99.5;
/** A network score is clamped to half a hundredth from its ends: answers have no finer resolution. */
const SCORE_LEAST = 0.005;
const SCORE_MOST = 99.995;

/** The sums of one score's measurements on a day; all 0 without measurements. */
export interface Evidence {
  /** Σ k·r, of the known residuals. */
  readonly pull: number;
  /** Σ k, of all measurements. */
  readonly precision: number;
  /** Σ k, of those of the current night: λ of that night is still to be subtracted from each. */
  readonly own: number;
  /** Σ w·a */
  readonly shares: number;
  /** Σ w */
  readonly weight: number;
}

export const NO_EVIDENCE: Evidence = { pull: 0, precision: 0, own: 0, shares: 0, weight: 0 };

/** How measurements move one score of an answer: m = base − own · λ; `scale` is s of the day. */
export interface Adjustment {
  readonly base: number;
  readonly own: number;
  readonly scale: number;
}

export function isLabel(field: MeasuredField): boolean {
  return field === 'valence' || field === 'arousal';
}

/** λ of the network's output: `score` is a percentile, or for a label the probability of High in percent. */
export function latentOf(field: MeasuredField, score: number): number {
  const link = linkOf(field, clamp(score, SCORE_LEAST, SCORE_MOST));
  return isLabel(field) ? link : Math.SQRT2 * link;
}

/** The position of a measured value, 0 to 100 (`LABEL_VALUES`), on the scale of λ. */
export function standingOf(field: MeasuredField, value: number): number {
  return linkOf(field, clamp(value, VALUE_LEAST, VALUE_MOST));
}

/**
 * The weight of a measurement `days` away, in either direction: tomorrow's test says as much about today as
 * yesterday's.
 */
export function weightAfter(days: number, halfLifeDays: number): number {
  return 2 ** (-Math.abs(days) / halfLifeDays);
}

/**
 * The evidence of one measurement. `latent` is λ of its night; undefined for the current night. `reliability` is
 * between 0 and 1, exclusive.
 */
export function evidenceOf(
  standing: number,
  latent: number | undefined,
  reliability: number,
  weight: number,
): Evidence {
  const precision = (weight * reliability) / (1 - reliability);
  return {
    pull: precision * (standing - (latent ?? 0)),
    precision,
    own: latent === undefined ? precision : 0,
    shares: weight * reliability,
    weight,
  };
}

/** The sum of both. */
export function added(one: Evidence, other: Evidence): Evidence {
  return {
    pull: one.pull + other.pull,
    precision: one.precision + other.precision,
    own: one.own + other.own,
    shares: one.shares + other.shares,
    weight: one.weight + other.weight,
  };
}

/** `evidence` with each measurement aged by `factor`, as from `weightAfter`. */
export function faded({ pull, precision, own, shares, weight }: Evidence, factor: number): Evidence {
  return {
    pull: factor * pull,
    precision: factor * precision,
    own: factor * own,
    shares: factor * shares,
    weight: factor * weight,
  };
}

/** Undefined without measurements: the score then stays identical, to the last bit. */
export function adjustmentOf({ pull, precision, own, shares, weight }: Evidence): Adjustment | undefined {
  if (!(precision > 0)) return undefined;
  const unknown = 1 / (1 + precision);
  const lasting = shares / weight;
  return {
    base: pull * unknown,
    own: own * unknown,
    scale: Math.sqrt(1 - lasting + lasting * unknown),
  };
}

/**
 * m of a day for which the network gives `unmeasured`: 0 to 100, or for a label the probability of High in percent.
 */
export function offsetOf(field: MeasuredField, { base, own }: Adjustment, unmeasured: number): number {
  return own === 0 ? base : base - own * latentOf(field, unmeasured);
}

/**
 * `score` (0 to 100, or for a label the probability of High in percent) moved by the offset `m`, in the same unit.
 */
export function adjusted(field: MeasuredField, score: number, m: number, scale: number): number {
  const latent = latentOf(field, score) + m;
  if (isLabel(field)) return 100 / (1 + Math.exp(-latent / scale));
  return 100 * normalCdf(latent / Math.sqrt(1 + scale * scale));
}

function linkOf(field: MeasuredField, percent: number): number {
  return isLabel(field) ? Math.log(percent / (100 - percent)) : probit(percent / 100);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
