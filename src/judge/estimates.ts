import { below, seededRandom } from '../base/random.js';
import {
  COVARIANCES,
  PREDICTORS,
  SUMS,
  VIEWS,
  covarianceAt,
  covariancesOf,
  errorsOf,
  indexOf,
  slopeOf,
  takeOut,
  twoSidedWithin,
  type BlockSums,
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

/** The statistics of one outcome, each with `options.draws` draws of people. */
export function estimate(blocks: BlockSums, options: EstimateOptions): OutcomeEstimates {
  const all = new Float64Array(SUMS);
  for (let block = 0; block < blocks.blocks; block++) addBlock(blocks, block, all);
  const statistics = new Statistics(options);
  const values = statistics.of(all).slice();
  const columns = Array.from(values, () => new Float64Array(options.draws));
  const random = seededRandom(options.seed);
  const drawn = new Float64Array(SUMS);
  for (let draw = 0; draw < options.draws; draw++) {
    drawn.fill(0);
    for (let block = 0; block < blocks.blocks; block++) addBlock(blocks, below(random, blocks.blocks), drawn);
    for (const [place, value] of statistics.of(drawn).entries()) {
      const column = columns[place];
      if (column !== undefined) column[draw] = value;
    }
  }
  return statistics.named((place) => {
    const sorted = columns[place]?.toSorted() ?? new Float64Array();
    const known = sorted.findIndex(Number.isNaN);
    return { value: values[place] ?? NaN, draws: known < 0 ? sorted : sorted.subarray(0, known) };
  });
}

function addBlock({ sums }: BlockSums, block: number, into: Float64Array): void {
  const first = block * SUMS;
  for (let place = 0; place < SUMS; place++) into[place] = (into[place] ?? 0) + (sums[first + place] ?? 0);
}

/**
 * In each view: each predictor, the score's partial correlation, the same for each rival, the areas, and the two with
 * own outcomes.
 */
const PER_VIEW = PREDICTORS.length + 1 + RIVALS.length + PREDICTORS.length + 2;
const ADDS = PREDICTORS.length;
const BESIDES = ADDS + 1;
const AREAS = BESIDES + RIVALS.length;
const OWN = AREAS + PREDICTORS.length;
const SLOPE = VIEWS.length * PER_VIEW;
const ERRORS = SLOPE + 1;
const LENGTH = ERRORS + 3;

class Statistics {
  private readonly values = new Float64Array(LENGTH);
  private readonly covariances = new Float64Array(COVARIANCES);
  private readonly left = new Float64Array(COVARIANCES);

  constructor(private readonly options: EstimateOptions) {}

  /** Computes all statistics of the sums; the result's buffer is reused. */
  of(sums: Float64Array): Float64Array {
    for (const [index, view] of VIEWS.entries()) this.writeView(sums, view, index * PER_VIEW);
    this.values[SLOPE] = slopeOf(sums);
    this.values.set(errorsOf(sums), ERRORS);
    return this.values;
  }

  named(at: (place: number) => Drawn): OutcomeEstimates {
    const predictors = (first: number): Record<Predictor, Drawn> => ({
      score: at(first),
      coin: at(first + 1),
      minutes: at(first + 2),
      heart: at(first + 3),
      own: at(first + 4),
    });
    const view = (first: number): ViewEstimates => ({
      goes: predictors(first),
      adds: at(first + ADDS),
      besides: { minutes: at(first + BESIDES), heart: at(first + BESIDES + 1), own: at(first + BESIDES + 2) },
      area: this.options.isTwoSided ? predictors(first + AREAS) : undefined,
      ownAlone: at(first + OWN),
      ownAndScore: at(first + OWN + 1),
    });
    return {
      views: { within: view(0), pooled: view(PER_VIEW) },
      slope: at(SLOPE),
      errors: { score: at(ERRORS), fifty: at(ERRORS + 1), own: at(ERRORS + 2) },
    };
  }

  private writeView(sums: Float64Array, view: View, first: number): void {
    const { signs, isTwoSided } = this.options;
    const { covariances, values } = this;
    covariancesOf(sums, view, covariances);
    for (const [index, name] of PREDICTORS.entries()) {
      values[first + index] = signs[name] * correlation(covariances, OUTCOME, 1 + index);
      if (isTwoSided) values[first + AREAS + index] = this.areaOf(sums, view, name, index);
    }
    values[first + ADDS] = this.partial(RIVALS);
    for (const [index, rival] of RIVALS.entries()) values[first + BESIDES + index] = this.partial([rival]);
    values[first + OWN] = Math.abs(correlation(covariances, OUTCOME, indexOf('own')));
    values[first + OWN + 1] = this.multiple();
  }

  private areaOf(sums: Float64Array, view: View, name: Predictor, index: number): number {
    const { covariances } = this;
    // The ranks of two values are half a unit apart, however often each occurs.
    const pooled =
      0.5 +
      (0.5 * covarianceAt(covariances, OUTCOME, 1 + index)) / covarianceAt(covariances, OUTCOME, OUTCOME);
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
