import { below, seededRandom } from '../base/random.js';
import {
  COVARIANCES,
  PREDICTORS,
  VIEWS,
  covarianceAt,
  covariancesOf,
  errorsOf,
  indexOf,
  slopeOf,
  takeOut,
  twoSidedWithin,
  type Predictor,
  type View,
} from './sums.js';

/** What the score must add something to: predictors without a network. */
export const RIVALS = ['minutes', 'heart', 'own'] as const satisfies readonly Predictor[];
export type Rival = (typeof RIVALS)[number];

/** A statistic, with its values in draws of people, ascending; draws without a value are left out. */
export interface Drawn {
  readonly value: number;
  readonly draws: Float64Array;
}

/** The statistics of one outcome in one view. */
export interface ViewEstimates {
  /** Rank correlation of the outcome with each predictor, signed so that positive is as predicted. */
  readonly goes: Readonly<Record<Predictor, Drawn>>;
  /** Partial rank correlation of the outcome with the score, given all rivals. */
  readonly adds: Drawn;
  /** The same, given one rival. */
  readonly besides: Readonly<Record<Rival, Drawn>>;
  /**
   * For a two-valued outcome: how often a predictor orders two nights of different value correctly (area under the
   * ROC curve).
   */
  readonly area: Readonly<Record<Predictor, Drawn>> | undefined;
  /**
   * Correlation with the mean of the person's last outcomes, and with the best linear combination of that mean and
   * the score.
   */
  readonly ownAlone: Drawn;
  readonly ownAndScore: Drawn;
}

export interface OutcomeEstimates {
  readonly views: Readonly<Record<View, ViewEstimates>>;
  /** Change of the outcome for each point of the score above the person's own mean. */
  readonly slope: Drawn;
  /**
   * Mean absolute difference of the outcome from the score, from 50, and from the mean of the person's last outcomes.
   */
  readonly errors: Readonly<Record<'score' | 'fifty' | 'own', Drawn>>;
}

export interface EstimateOptions {
  readonly seed: number;
  readonly draws: number;
  /** The predicted sign of each predictor. */
  readonly signs: Readonly<Record<Predictor, 1 | -1>>;
  readonly isTwoSided: boolean;
}

/** A variable whose remaining share of its variance is smaller holds only rounding. */
const ROUNDING = 1e-9;
const [OUTCOME, SCORE] = [indexOf('outcome'), indexOf('score')];
/** The variables controlled for a rival; with squares, because too few minutes may be as bad as too many. */
const CONTROLS: Readonly<Record<Rival, readonly number[]>> = {
  minutes: [indexOf('minutes'), indexOf('rankSquare'), indexOf('hours'), indexOf('hourSquare')],
  heart: [indexOf('heart')],
  own: [indexOf('own')],
};

/**
 * The statistics `of` sums over people, each with its values in draws of people; one person alone can't be drawn.
 * `people` has the sums of each person or block of people.
 */
export function drawnOver(
  people: readonly Float64Array[],
  of: (sums: Float64Array) => readonly number[],
  { seed, draws }: Pick<EstimateOptions, 'seed' | 'draws'>,
): Drawn[] {
  const width = people[0]?.length ?? 0;
  const sums = new Float64Array(width);
  const add = (own: Float64Array | undefined): void => {
    for (let place = 0; place < width; place++) sums[place] = (sums[place] ?? 0) + (own?.[place] ?? 0);
  };
  for (const own of people) add(own);
  const values = of(sums);
  const count = people.length < 2 ? 0 : draws;
  const columns = values.map(() => new Float64Array(count));
  const random = seededRandom(seed);
  for (let draw = 0; draw < count; draw++) {
    sums.fill(0);
    for (let person = 0; person < people.length; person++) add(people[below(random, people.length)]);
    for (const [place, value] of of(sums).entries()) columns[place]?.fill(value, draw, draw + 1);
  }
  return columns.map((column, place) => ({
    value: values[place] ?? NaN,
    draws: column.toSorted().filter((one) => !Number.isNaN(one)),
  }));
}

/** The statistics of one outcome, by the sums of `sumsOf`. */
export function estimate(people: readonly Float64Array[], options: EstimateOptions): OutcomeEstimates {
  const statistics = new Statistics(options);
  const drawn = drawnOver(people, (sums) => statistics.of(sums), options).values();
  /** In the order of `Statistics.of`. */
  const next = (): Drawn => {
    const { value } = drawn.next();
    if (value === undefined) throw new Error('fewer statistics than names');
    return value;
  };
  const named = <Name extends string>(names: readonly Name[]): Record<Name, Drawn> =>
    Object.fromEntries(names.map((name) => [name, next()])) as Record<Name, Drawn>;
  const view = (): ViewEstimates => ({
    goes: named(PREDICTORS),
    adds: next(),
    besides: named(RIVALS),
    area: options.isTwoSided ? named(PREDICTORS) : undefined,
    ownAlone: next(),
    ownAndScore: next(),
  });
  return {
    views: { within: view(), pooled: view() },
    slope: next(),
    errors: named(['score', 'fifty', 'own'] as const),
  };
}

class Statistics {
  private readonly covariances = new Float64Array(COVARIANCES);
  private readonly left = new Float64Array(COVARIANCES);

  constructor(private readonly options: EstimateOptions) {}

  of(sums: Float64Array): number[] {
    return [...VIEWS.flatMap((view) => this.ofView(sums, view)), slopeOf(sums), ...errorsOf(sums)];
  }

  private ofView(sums: Float64Array, view: View): number[] {
    const { covariances, options } = this;
    covariancesOf(sums, view, covariances);
    return [
      ...PREDICTORS.map((name) => options.signs[name] * correlation(covariances, OUTCOME, indexOf(name))),
      this.partial(RIVALS),
      ...RIVALS.map((rival) => this.partial([rival])),
      ...(options.isTwoSided ? PREDICTORS.map((name) => this.areaOf(sums, view, name)) : []),
      Math.abs(correlation(covariances, OUTCOME, indexOf('own'))),
      this.multiple(),
    ];
  }

  private areaOf(sums: Float64Array, view: View, name: Predictor): number {
    const { covariances } = this;
    // The ranks of two values are half a unit apart, however often each occurs.
    const pooled =
      0.5 +
      (0.5 * covarianceAt(covariances, OUTCOME, indexOf(name))) / covarianceAt(covariances, OUTCOME, OUTCOME);
    const area = view === 'pooled' ? pooled : twoSidedWithin(sums, name);
    return this.options.signs[name] === 1 ? area : 1 - area;
  }

  /** The partial correlation of outcome and score given `rivals`. */
  private partial(rivals: readonly Rival[]): number {
    this.left.set(this.covariances);
    for (const rival of rivals) for (const control of CONTROLS[rival]) this.takeOut(control);
    return this.options.signs.score * this.correlationLeft(SCORE);
  }

  /** The correlation of the outcome with the best linear combination of the person's last outcomes and the score. */
  private multiple(): number {
    this.left.set(this.covariances);
    for (const variable of [indexOf('own'), SCORE]) this.takeOut(variable);
    const all = covarianceAt(this.covariances, OUTCOME, OUTCOME);
    return Math.sqrt(Math.max(0, 1 - covarianceAt(this.left, OUTCOME, OUTCOME) / all));
  }

  private takeOut(variable: number): void {
    takeOut(this.left, variable, ROUNDING * covarianceAt(this.covariances, variable, variable));
  }

  private correlationLeft(variable: number): number {
    for (const each of [OUTCOME, variable]) {
      const rest = covarianceAt(this.left, each, each) / covarianceAt(this.covariances, each, each);
      if (!(rest > ROUNDING)) return NaN;
    }
    return correlation(this.left, OUTCOME, variable);
  }
}

/** NaN if either is constant over all nights. */
function correlation(covariances: Float64Array, left: number, right: number): number {
  const squares = covarianceAt(covariances, left, left) * covarianceAt(covariances, right, right);
  return squares > 0 ? covarianceAt(covariances, left, right) / Math.sqrt(squares) : NaN;
}

/** The central interval that contains all but `alpha` of the draws. */
export function intervalOf({ draws }: Drawn, alpha: number): readonly [low: number, high: number] {
  if (draws.length === 0) return [NaN, NaN];
  const left = Math.floor((draws.length * alpha) / 2);
  return [draws[left] ?? NaN, draws[draws.length - 1 - left] ?? NaN];
}

/** Two-sided p-value: how likely a value this far from 0 would be if there were no effect, by the draws. */
export function chanceOf({ draws }: Drawn): number {
  if (draws.length === 0) return 1;
  const notAbove = draws.findIndex((value) => value > 0);
  const below = draws.findLastIndex((value) => value < 0) + 1;
  const atMost = notAbove < 0 ? draws.length : notAbove;
  const least = Math.min(atMost, draws.length - below);
  return Math.min(1, (2 * (least + 1)) / (draws.length + 1));
}

/** Standard error from the draws. */
export function errorOf({ draws }: Drawn): number {
  let [sum, squares] = [0, 0];
  for (const value of draws) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / draws.length;
  return Math.sqrt(Math.max(0, squares / draws.length - mean * mean));
}
