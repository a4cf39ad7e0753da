import { seededRandom } from '../base/random.js';
import { centredRanks } from './ranks.js';

/** The predictors of an outcome: the score, and those that need no network. */
export const PREDICTORS = ['score', 'coin', 'minutes', 'heart', 'own'] as const;
export type Predictor = (typeof PREDICTORS)[number];
/** How nights are compared: all with all, or only within each person. */
export const VIEWS = ['within', 'pooled'] as const;
export type View = (typeof VIEWS)[number];

/** The nights of one outcome, grouped by person, each person's in order of time. */
export interface JudgedNights {
  /** The index of each person's first night; one more entry at the end. */
  readonly starts: Int32Array;
  readonly outcome: Float64Array;
  readonly score: Float64Array;
  readonly minutes: Float64Array;
  readonly heart: Float64Array;
}

/** Number of outcomes before a night whose mean is the rival "own". */
export const OWN_OUTCOMES = 5;
/** More people than this are put into random blocks, so that a draw costs the same for any number of them. */
const BLOCKS_MAX = 2_000;
const ALWAYS = 50;
/** Hours are measured from here before squaring; any other origin works, with less precision. */
const USUAL_MINUTES = 420;

/**
 * The outcome and its predictors as ranks; also the minutes asleep themselves, whose rank loses information; and the
 * squares of both, because too few minutes may be as bad as too many.
 */
const VARIABLES = ['outcome', ...PREDICTORS, 'rankSquare', 'hours', 'hourSquare'] as const;
type Variable = (typeof VARIABLES)[number];
const WIDTH = VARIABLES.length;
const PAIRS = (WIDTH * (WIDTH + 1)) / 2;

/** The position of each sum in a block. */
const POOLED_SUMS = 1;
const POOLED_PAIRS = POOLED_SUMS + WIDTH;
const WITHIN_PAIRS = POOLED_PAIRS + PAIRS;
const TWO_SIDED = WITHIN_PAIRS + PAIRS;
const TWO_SIDED_PAIRS = TWO_SIDED + PREDICTORS.length;
const CHANGE_SQUARES = TWO_SIDED_PAIRS + 1;
const CHANGE_PRODUCTS = CHANGE_SQUARES + 1;
const ERRORS = CHANGE_PRODUCTS + 1;
/** For the score, for always 50, and for the mean of the person's last outcomes. */
const ERROR_COUNT = 3;
const SUMS = ERRORS + ERROR_COUNT;

export function indexOf(variable: Variable): number {
  return VARIABLES.indexOf(variable);
}

export interface SumOptions {
  readonly seed: number;
  /** 1 or −1; with −1, the score as a percentile of the outcome is 100 less the score. */
  readonly sign: 1 | -1;
  /** The lower of the outcome's two values, if it has exactly two. */
  readonly low: number | undefined;
}

/**
 * The basis of all statistics of an outcome: `SUMS` additive numbers for each person or block of people. Ranks are
 * computed once, over all nights and within each person; a draw of people only changes whose ranks count.
 */
export function sumsOf(nights: JudgedNights, options: SumOptions): Float64Array[] {
  const people = nights.starts.length - 1;
  const blocks = Math.min(people, BLOCKS_MAX);
  const sums = new Float64Array(blocks * SUMS);
  const raw = rawOf(nights, options.seed);
  const adder = new Adder(nights, raw, options, sums, blocks);
  const count = nights.outcome.length;
  const ranks = VARIABLES.map(() => new Float64Array(count));
  writeRanks(raw, ranks, 0, count);
  adder.addPooled(ranks);
  for (let person = 0; person < people; person++) {
    const [from = 0, to = 0] = nights.starts.subarray(person, person + 2);
    writeRanks(raw, ranks, from, to);
  }
  adder.addWithin(ranks);
  return Array.from({ length: blocks }, (_, block) => sums.subarray(block * SUMS, (block + 1) * SUMS));
}

/** The outcome and its predictors as values. */
function rawOf({ outcome, score, minutes, heart, starts }: JudgedNights, seed: number): Float64Array[] {
  const random = seededRandom(seed);
  const coin = Float64Array.from(outcome, () => random());
  return [outcome, score, coin, minutes, heart, ownMeans(outcome, starts)];
}

/** The mean of the person's last outcomes before each night; NaN before the first. */
function ownMeans(outcome: Float64Array, starts: Int32Array): Float64Array {
  const means = new Float64Array(outcome.length).fill(NaN);
  for (let person = 0; person + 1 < starts.length; person++) {
    const [from = 0, to = 0] = starts.subarray(person, person + 2);
    let sum = 0;
    for (let night = from; night < to; night++) {
      const known = Math.min(night - from, OWN_OUTCOMES);
      if (known > 0) means[night] = sum / known;
      sum += outcome[night] ?? 0;
      if (known === OWN_OUTCOMES) sum -= outcome[night - OWN_OUTCOMES] ?? 0;
    }
  }
  return means;
}

/** Ranks the nights from `from` to `to` among each other. */
function writeRanks(
  raw: readonly Float64Array[],
  ranks: readonly Float64Array[],
  from: number,
  to: number,
): void {
  for (const [variable, values] of raw.entries()) centredRanks(values, from, to, ranks[variable] ?? values);
  const place = indexOf('minutes');
  const [minutes, rank] = [raw[place] ?? new Float64Array(), ranks[place] ?? new Float64Array()];
  const hours = (night: number): number => ((minutes[night] ?? NaN) - USUAL_MINUTES) / 60;
  writeCentred(minutes, ranks[indexOf('hours')] ?? minutes, from, to, hours);
  writeCentred(minutes, ranks[indexOf('hourSquare')] ?? minutes, from, to, (night) => hours(night) ** 2);
  writeCentred(minutes, ranks[indexOf('rankSquare')] ?? rank, from, to, (night) => (rank[night] ?? 0) ** 2);
}

/** `valueOf` less its mean over the nights with known minutes, and 0 for the others. */
function writeCentred(
  minutes: Float64Array,
  into: Float64Array,
  from: number,
  to: number,
  valueOf: (night: number) => number,
): void {
  let sum = 0;
  let known = 0;
  for (let night = from; night < to; night++) {
    if (Number.isNaN(minutes[night] ?? NaN)) continue;
    sum += valueOf(night);
    known++;
  }
  for (let night = from; night < to; night++)
    into[night] = Number.isNaN(minutes[night] ?? NaN) ? 0 : valueOf(night) - sum / known;
}

/** Adds each person's nights to the sums of the person's block. */
class Adder {
  private readonly row = new Float64Array(WIDTH);

  constructor(
    private readonly nights: JudgedNights,
    private readonly raw: readonly Float64Array[],
    private readonly options: SumOptions,
    private readonly sums: Float64Array,
    private readonly blocks: number,
  ) {}

  addPooled(ranks: readonly Float64Array[]): void {
    this.each((block, from, to) => {
      for (let night = from; night < to; night++) {
        this.read(ranks, night);
        this.add(block, 1);
        for (let variable = 0; variable < WIDTH; variable++)
          this.add(block + POOLED_SUMS + variable, this.row[variable] ?? 0);
        this.addPairs(block + POOLED_PAIRS);
        this.addErrors(block + ERRORS, night);
      }
    });
  }

  addWithin(ranks: readonly Float64Array[]): void {
    const { low } = this.options;
    this.each((block, from, to) => {
      if (to - from < 2) return;
      for (let night = from; night < to; night++) {
        this.read(ranks, night);
        this.addPairs(block + WITHIN_PAIRS);
      }
      this.addChange(block, from, to);
      if (low !== undefined) this.addTwoSided(ranks, block, from, to, low);
    });
  }

  private each(visit: (block: number, from: number, to: number) => void): void {
    const { starts } = this.nights;
    for (let person = 0; person + 1 < starts.length; person++) {
      visit((person % this.blocks) * SUMS, starts[person] ?? 0, starts[person + 1] ?? 0);
    }
  }

  private read(ranks: readonly Float64Array[], night: number): void {
    for (let variable = 0; variable < WIDTH; variable++) this.row[variable] = ranks[variable]?.[night] ?? 0;
  }

  private add(place: number, value: number): void {
    this.sums[place] = (this.sums[place] ?? 0) + value;
  }

  private addPairs(first: number): void {
    let place = first;
    for (let left = 0; left < WIDTH; left++) {
      const value = this.row[left] ?? 0;
      for (let right = left; right < WIDTH; right++) this.add(place++, value * (this.row[right] ?? 0));
    }
  }

  private addErrors(first: number, night: number): void {
    const { sign } = this.options;
    const outcome = this.nights.outcome[night] ?? 0;
    const score = this.nights.score[night] ?? 0;
    const own = this.raw[indexOf('own')]?.[night] ?? NaN;
    this.add(first, Math.abs(outcome - (sign === 1 ? score : 100 - score)));
    this.add(first + 1, Math.abs(outcome - ALWAYS));
    this.add(first + 2, Math.abs(outcome - (Number.isNaN(own) ? ALWAYS : own)));
  }

  /** The covariance of the outcome with the score's deviation from the person's mean score. */
  private addChange(block: number, from: number, to: number): void {
    const { outcome, score } = this.nights;
    const outcomeMean = meanOf(outcome, from, to);
    const scoreMean = meanOf(score, from, to);
    for (let night = from; night < to; night++) {
      const change = (score[night] ?? 0) - scoreMean;
      this.add(block + CHANGE_SQUARES, change * change);
      this.add(block + CHANGE_PRODUCTS, change * ((outcome[night] ?? 0) - outcomeMean));
    }
  }

  /**
   * Counts a person's pairs of nights with different values, and how much more often a predictor orders them
   * correctly than wrongly.
   */
  private addTwoSided(
    ranks: readonly Float64Array[],
    block: number,
    from: number,
    to: number,
    low: number,
  ): void {
    const { outcome } = this.nights;
    let high = 0;
    for (let night = from; night < to; night++) if (outcome[night] !== low) high++;
    this.add(block + TWO_SIDED_PAIRS, high * (to - from - high));
    for (let predictor = 0; predictor < PREDICTORS.length; predictor++) {
      const rank = ranks[1 + predictor];
      let sum = 0;
      for (let night = from; night < to; night++)
        sum += ((outcome[night] !== low ? 1 : 0) - high / (to - from)) * (rank?.[night] ?? 0);
      this.add(block + TWO_SIDED + predictor, sum * (to - from));
    }
  }
}

function meanOf(values: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let place = from; place < to; place++) sum += values[place] ?? 0;
  return sum / (to - from);
}

/** The covariances of the variables times the number of nights, written to `into`: [WIDTH, WIDTH]. */
export function covariancesOf(sums: Float64Array, view: View, into: Float64Array): void {
  const nights = sums[0] ?? 0;
  let place = view === 'pooled' ? POOLED_PAIRS : WITHIN_PAIRS;
  for (let left = 0; left < WIDTH; left++) {
    for (let right = left; right < WIDTH; right++) {
      const product = sums[place++] ?? 0;
      const means =
        view === 'within' ? 0 : ((sums[POOLED_SUMS + left] ?? 0) * (sums[POOLED_SUMS + right] ?? 0)) / nights;
      into[left * WIDTH + right] = into[right * WIDTH + left] = product - means;
    }
  }
}

export const COVARIANCES = WIDTH * WIDTH;

export function covarianceAt(covariances: Float64Array, left: number, right: number): number {
  return covariances[left * WIDTH + right] ?? NaN;
}

/** Removes from all variables, in place, the part explained by variable `by`. */
export function takeOut(covariances: Float64Array, by: number, least: number): void {
  const own = covarianceAt(covariances, by, by);
  if (!(own > least)) return; // constant over all nights: nothing to remove
  const column = Float64Array.from({ length: WIDTH }, (_, left) => covarianceAt(covariances, left, by));
  for (let left = 0; left < WIDTH; left++) {
    const share = (column[left] ?? 0) / own;
    for (let right = 0; right < WIDTH; right++)
      covariances[left * WIDTH + right] =
        covarianceAt(covariances, left, right) - share * (column[right] ?? 0);
  }
}

/**
 * The share of a person's pairs of nights with different values that a predictor orders correctly; NaN without any.
 */
export function twoSidedWithin(sums: Float64Array, predictor: Predictor): number {
  const right = sums[TWO_SIDED + PREDICTORS.indexOf(predictor)] ?? NaN;
  return 0.5 + right / (sums[TWO_SIDED_PAIRS] ?? 0);
}

/** Change of the outcome for each point of the score above the person's own mean. */
export function slopeOf(sums: Float64Array): number {
  return (sums[CHANGE_PRODUCTS] ?? NaN) / (sums[CHANGE_SQUARES] ?? NaN);
}

/**
 * Mean absolute difference of the outcome from the score, from 50, and from the mean of the person's last outcomes.
 */
export function errorsOf(sums: Float64Array): readonly [score: number, fifty: number, own: number] {
  const nights = sums[0] ?? 0;
  return [0, 1, 2].map((place) => (sums[ERRORS + place] ?? NaN) / nights) as [number, number, number];
}
