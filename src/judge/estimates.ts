/** The statistics of one outcome, with their draws. */
import { below, seededRandom } from '../base/random.js';
import {
  COVARIANCES,
  PREDICTORS,
  covarianceAt,
  covariancesOf,
  errorsOf,
  indexOf,
  slopeOf,
  takeOut,
  binaryWithin,
  type Predictor,
  type View,
} from './sums.js';

/** Predictors without a network, to which the score must add something. */
export const RIVALS = ['minutes', 'heart', 'own'] as const satisfies readonly Predictor[];
export type Rival = (typeof RIVALS)[number];

/** A statistic, with its values in draws of people, ascending; draws without a value are left out. */
export interface Drawn {
  readonly value: number;
  readonly draws: Float64Array;
}

/** Statistics by name, each with its draws. */
export type DrawnOf<Figures> = {
  readonly [Name in keyof Figures]: Figures[Name] extends number ? Drawn : DrawnOf<Figures[Name]>;
};

/** The statistics of one outcome. */
export type OutcomeEstimates = DrawnOf<ReturnType<Statistics['of']>>;

export interface EstimateOptions {
  readonly seed: number;
  readonly draws: number;
  /** The predicted sign of each predictor. */
  readonly signs: Readonly<Record<Predictor, 1 | -1>>;
  readonly isBinary: boolean;
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
export function drawnOver<Figures extends object>(
  people: readonly Float64Array[],
  of: (sums: Float64Array) => Figures,
  { seed, draws }: Pick<EstimateOptions, 'seed' | 'draws'>,
): DrawnOf<Figures> {
  const width = people[0]?.length ?? 0;
  const sums = new Float64Array(width);
  const add = (own: Float64Array | undefined): void => {
    for (let place = 0; place < width; place++) sums[place] = (sums[place] ?? 0) + (own?.[place] ?? 0);
  };
  for (const own of people) add(own);
  const figures = of(sums);
  const count = people.length < 2 ? 0 : draws;
  const columns = numbersIn(figures).map((value) => ({ value, draws: new Float64Array(count) }));
  const random = seededRandom(seed);
  for (let draw = 0; draw < count; draw++) {
    sums.fill(0);
    for (let person = 0; person < people.length; person++) add(people[below(random, people.length)]);
    for (const [place, value] of numbersIn(of(sums)).entries())
      columns[place]?.draws.fill(value, draw, draw + 1);
  }
  const drawn = columns.values();
  return shaped(figures, () => {
    const { value = { value: NaN, draws: [] } } = drawn.next();
    return {
      value: value.value,
      draws: Float64Array.from(value.draws)
        .toSorted()
        .filter((one) => !Number.isNaN(one)),
    };
  }) as DrawnOf<Figures>;
}

/** All numbers in groups of groups, in order. */
function numbersIn(figures: object): number[] {
  return Object.values(figures).flatMap((one: number | object | undefined) =>
    typeof one === 'number' ? [one] : numbersIn(one ?? {}),
  );
}

/** The same groups, with what `next` returns in place of each number. */
function shaped(figures: object, next: () => Drawn): object {
  const entries = Object.entries(figures) as [string, number | object | undefined][];
  return Object.fromEntries(
    entries.map(([name, one]) => [name, typeof one === 'number' ? next() : one && shaped(one, next)]),
  );
}

/** The statistics of one outcome, by the sums of `sumsOf`. */
export function estimate(people: readonly Float64Array[], options: EstimateOptions): OutcomeEstimates {
  const statistics = new Statistics(options);
  return drawnOver(people, (sums) => statistics.of(sums), options);
}

function byName<Name extends string>(
  names: readonly Name[],
  of: (name: Name) => number,
): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, number>;
}

class Statistics {
  private readonly covariances = new Float64Array(COVARIANCES);
  private readonly left = new Float64Array(COVARIANCES);

  constructor(private readonly options: EstimateOptions) {}

  of(sums: Float64Array) {
    return {
      views: { within: this.ofView(sums, 'within'), pooled: this.ofView(sums, 'pooled') },
      /** Change of the outcome for each point of the score above the person's own mean. */
      slope: slopeOf(sums),
      errors: errorsOf(sums),
    };
  }

  private ofView(sums: Float64Array, view: View) {
    const { covariances, options } = this;
    covariancesOf(sums, view, covariances);
    return {
      /** Rank correlation of the outcome with each predictor, signed so that positive is as predicted. */
      goes: byName(
        PREDICTORS,
        (name) => options.signs[name] * correlation(covariances, OUTCOME, indexOf(name)),
      ),
      /** Partial rank correlation of the outcome with the score, given all rivals. */
      adds: this.partial(RIVALS),
      /** The same, given one rival. */
      besides: byName(RIVALS, (rival) => this.partial([rival])),
      /** How often a predictor orders two nights of a binary outcome correctly (area under the ROC curve). */
      area: options.isBinary ? byName(PREDICTORS, (name) => this.areaOf(sums, view, name)) : undefined,
      /** Correlation with the mean of the person's last outcomes, */
      ownAlone: Math.abs(correlation(covariances, OUTCOME, indexOf('own'))),
      /** and with the best linear combination of that mean and the score. */
      ownAndScore: this.multiple(),
    };
  }

  private areaOf(sums: Float64Array, view: View, name: Predictor): number {
    const { covariances } = this;
    // The ranks of two values are half a unit apart, however often each occurs.
    const pooled =
      0.5 +
      (0.5 * covarianceAt(covariances, OUTCOME, indexOf(name))) / covarianceAt(covariances, OUTCOME, OUTCOME);
    const area = view === 'pooled' ? pooled : binaryWithin(sums, name);
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
