/** Sums over each person's nights, of which all statistics are made. */
import { seededRandom } from '../base/random.js';
import type { Grouped } from './nights.js';
import { centredRanks } from './ranks.js';

/** The predictors of an outcome: the score, and those that need no network. */
export const PREDICTORS = ['score', 'coin', 'minutes', 'heart', 'own'] as const;
export type Predictor = (typeof PREDICTORS)[number];
/** How nights are compared: all with all, or only within each person. */
export const VIEWS = ['within', 'pooled'] as const;
export type View = (typeof VIEWS)[number];

/** The nights of one outcome. */
export type JudgedNights = Grouped<'outcome' | 'score' | 'minutes' | 'heart'>;

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

/** How many sums a block has of each kind; `errors` are for the score, always 50, and the person's last outcomes. */
const COUNTS = {
  nights: 1,
  pooledSums: WIDTH,
  pooled: PAIRS,
  within: PAIRS,
  ordered: PREDICTORS.length,
  binaryPairs: 1,
  changeSquares: 1,
  changeProducts: 1,
  errors: 3,
} as const;
type Kind = keyof typeof COUNTS;
const KINDS = Object.keys(COUNTS) as Kind[];
const sizeOf = (kinds: readonly Kind[]): number => kinds.reduce((sum, kind) => sum + COUNTS[kind], 0);
const SUMS = sizeOf(KINDS);
/** Where those of each kind begin. */
const AT = Object.fromEntries(KINDS.map((kind, index) => [kind, sizeOf(KINDS.slice(0, index))])) as Readonly<
  Record<Kind, number>
>;

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

/** Visits each person's nights, from one index up to another. */
export function eachPerson(
  starts: Int32Array,
  visit: (from: number, to: number, person: number) => void,
): void {
  for (let person = 0; person + 1 < starts.length; person++)
    visit(starts[person] ?? 0, starts[person + 1] ?? 0, person);
}

/**
 * The basis of all statistics of an outcome: `SUMS` additive numbers for each person or block of people. Ranks are
 * computed once, over all nights and within each person; a draw of people only changes whose ranks count.
 */
export function sumsOf(nights: JudgedNights, options: SumOptions): Float64Array[] {
  const { outcome, starts } = nights;
  const raw = rawOf(nights, options.seed);
  const ranks = VARIABLES.map(() => new Float64Array(outcome.length));
  const count = Math.min(starts.length - 1, BLOCKS_MAX);
  const blocks = Array.from({ length: count }, () => new Block(nights, raw, ranks, options));
  writeRanks(raw, ranks, 0, outcome.length);
  eachPerson(starts, (from, to, person) => blocks[person % count]?.addPooled(from, to));
  eachPerson(starts, (from, to) => writeRanks(raw, ranks, from, to));
  eachPerson(starts, (from, to, person) => blocks[person % count]?.addWithin(from, to));
  return blocks.map(({ sums }) => sums);
}

/** The outcome and its predictors as values. */
function rawOf({ outcome, score, minutes, heart, starts }: JudgedNights, seed: number): Float64Array[] {
  const random = seededRandom(seed);
  const coin = Float64Array.from(outcome, () => random());
  return [outcome, score, coin, minutes, heart, ownMeans(outcome, starts)];
}

/** To so many digits means are compared: beyond them lies what adding left of equal ones. */
const DIGITS = 14;

/** The mean of the person's last outcomes before each night; NaN before the first. */
function ownMeans(outcome: Float64Array, starts: Int32Array): Float64Array {
  const means = new Float64Array(outcome.length).fill(NaN);
  eachPerson(starts, (from, to) => {
    for (let night = from + 1; night < to; night++)
      means[night] = Number(meanOf(outcome, Math.max(from, night - OWN_OUTCOMES), night).toPrecision(DIGITS));
  });
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

/** The sums of a person or a block of people. */
class Block {
  readonly sums = new Float64Array(SUMS);

  constructor(
    private readonly nights: JudgedNights,
    private readonly raw: readonly Float64Array[],
    private readonly ranks: readonly Float64Array[],
    private readonly options: SumOptions,
  ) {}

  /** Adds a person's nights, ranked among all. */
  addPooled(from: number, to: number): void {
    const { outcome, score } = this.nights;
    const { sign } = this.options;
    for (let night = from; night < to; night++) {
      this.add(AT.nights, 1);
      for (let variable = 0; variable < WIDTH; variable++)
        this.add(AT.pooledSums + variable, this.ranks[variable]?.[night] ?? 0);
      this.addPairs(AT.pooled, night);
      const own = this.raw[indexOf('own')]?.[night] ?? NaN;
      const percentile = sign === 1 ? score[night] : 100 - (score[night] ?? 0);
      for (const [place, guess] of [percentile ?? 0, ALWAYS, Number.isNaN(own) ? ALWAYS : own].entries())
        this.add(AT.errors + place, Math.abs((outcome[night] ?? 0) - guess));
    }
  }

  /** The same, ranked among themselves. */
  addWithin(from: number, to: number): void {
    if (to - from < 2) return;
    const { outcome, score } = this.nights;
    const [outcomeMean, scoreMean] = [meanOf(outcome, from, to), meanOf(score, from, to)];
    for (let night = from; night < to; night++) {
      this.addPairs(AT.within, night);
      // The covariance of the outcome with the score's deviation from the person's mean score.
      const change = (score[night] ?? 0) - scoreMean;
      this.add(AT.changeSquares, change * change);
      this.add(AT.changeProducts, change * ((outcome[night] ?? 0) - outcomeMean));
    }
    if (this.options.low !== undefined) this.addBinary(from, to, this.options.low);
  }

  private add(place: number, value: number): void {
    this.sums[place] = (this.sums[place] ?? 0) + value;
  }

  private addPairs(first: number, night: number): void {
    let place = first;
    for (let left = 0; left < WIDTH; left++) {
      const value = this.ranks[left]?.[night] ?? 0;
      for (let right = left; right < WIDTH; right++)
        this.add(place++, value * (this.ranks[right]?.[night] ?? 0));
    }
  }

  /**
   * Counts a person's pairs of nights with different values, and how much more often a predictor orders them
   * correctly than wrongly.
   */
  private addBinary(from: number, to: number, low: number): void {
    const { outcome } = this.nights;
    let high = 0;
    for (let night = from; night < to; night++) if (outcome[night] !== low) high++;
    this.add(AT.binaryPairs, high * (to - from - high));
    for (const [place] of PREDICTORS.entries()) {
      const rank = this.ranks[1 + place];
      let sum = 0;
      for (let night = from; night < to; night++)
        sum += ((outcome[night] !== low ? 1 : 0) - high / (to - from)) * (rank?.[night] ?? 0);
      this.add(AT.ordered + place, sum * (to - from));
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
  let place = AT[view];
  for (let left = 0; left < WIDTH; left++) {
    for (let right = left; right < WIDTH; right++) {
      const product = sums[place++] ?? 0;
      const means =
        view === 'within'
          ? 0
          : ((sums[AT.pooledSums + left] ?? 0) * (sums[AT.pooledSums + right] ?? 0)) / nights;
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
export function binaryWithin(sums: Float64Array, predictor: Predictor): number {
  const right = sums[AT.ordered + PREDICTORS.indexOf(predictor)] ?? NaN;
  return 0.5 + right / (sums[AT.binaryPairs] ?? 0);
}

/** Change of the outcome for each point of the score above the person's own mean. */
export function slopeOf(sums: Float64Array): number {
  return (sums[AT.changeProducts] ?? NaN) / (sums[AT.changeSquares] ?? NaN);
}

/**
 * Mean absolute difference of the outcome from the score, from 50, and from the mean of the person's last outcomes.
 */
export function errorsOf(sums: Float64Array): Readonly<Record<'score' | 'fifty' | 'own', number>> {
  const of = (place: number): number => (sums[AT.errors + place] ?? NaN) / (sums[0] ?? 0);
  return { score: of(0), fifty: of(1), own: of(2) };
}
