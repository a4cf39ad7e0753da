import { FEATURES, FEATURE_COUNT, ROW_CLAMP } from '../../contract/features.js';
import { LABEL_FIELDS, SCORE_BOUNDS, SCORE_FIELDS } from '#rules/fields.js';
import { featuriseRecord } from '../featurise.js';
import { LAYOUT } from '../layout.js';

/** A summary of the nights that a history no longer holds one by one. All numbers are 32-bit floats. */
export class LongRun {
  private readonly all: Uint32Array;
  /** In how many nights each quantity was known. */
  readonly counts: Uint16Array;
  /** The same count, with each night's weight halved every `HALF_LIFE_NIGHTS`. */
  readonly weights: Float32Array;
  readonly means: Float32Array;
  /** Weighted standard deviations of the nights. */
  readonly spreads: Float32Array;
  private readonly row = new Float32Array(FEATURE_COUNT);
  /** Values of the current night; NaN if unknown. */
  private readonly values = new Float64Array(QUANTITIES.length);
  private readonly usualDay = new Float64Array(FEATURE_COUNT).fill(NaN);

  /** In memory where a history begins at byte `history`. */
  constructor(memory: ArrayBuffer, history: number) {
    const floats = (place: number): Float32Array =>
      new Float32Array(memory, history + place - LAYOUT.HISTORY, LAYOUT.QUANTITIES);
    this.all = new Uint32Array(memory, history + LAYOUT.HISTORY_NIGHTS - LAYOUT.HISTORY, 1);
    this.weights = floats(LAYOUT.RUN_WEIGHTS);
    this.means = floats(LAYOUT.RUN_MEANS);
    this.spreads = floats(LAYOUT.RUN_SPREADS);
    this.counts = new Uint16Array(memory, history + LAYOUT.RUN_COUNTS - LAYOUT.HISTORY, LAYOUT.QUANTITIES);
  }

  /** Counted without decay, like `counts`. */
  get nights(): number {
    return this.all[0]!; // one of them
  }

  set nights(nights: number) {
    this.all[0] = nights;
  }

  clear(): void {
    this.nights = 0;
    this.counts.fill(0);
    this.weights.fill(0);
    this.means.fill(0);
    this.spreads.fill(0);
  }

  /**
   * The usual day in the layout of requests, valid until the next call; undefined if there are too few nights, or no
   * input was known in enough of them.
   */
  usual(): Float64Array | undefined {
    if (this.nights < USUAL_NIGHTS_LEAST) return undefined;
    const { usualDay, counts, means } = this;
    let isAnyKnown = false;
    for (let index = 0; index < PLACES.length; index++) {
      const isKnown = counts[index]! >= USUAL_VALUES_LEAST; // index < QUANTITIES.length, which starts with the inputs
      usualDay[PLACES[index]!] = isKnown ? means[index]! : NaN;
      isAnyKnown ||= isKnown;
    }
    return isAnyKnown ? usualDay : undefined;
  }

  /** The mean of column `column` of a row of scores, probabilities in 0 to 1; NaN if it was never known. */
  meanOfScore(column: number): number {
    const index = INPUTS.length + column;
    return this.counts[index]! > 0 ? this.means[index]! : NaN; // column < QUANTITIES.length
  }

  /** Adds session `index` of `sessions`. */
  add({ records, targets, chances }: Sessions, index: number): void {
    const { row } = this;
    this.nights = Math.min(NIGHTS_MAX, this.nights + 1);
    row.fill(0);
    featuriseRecord(records, index * LAYOUT.RECORD_LENGTH, row, 0);
    const { values } = this;
    let at = 0;
    for (; at < PLACES.length; at++) {
      const place = PLACES[at]!; // its mask is directly before it
      values[at] = row[place - 1]! > 0 ? CENTRES[at]! + SCALES[at]! * row[place]! : NaN;
    }
    const target = index * LAYOUT.TARGET_LENGTH;
    for (let score = 0; score < SCORES; score++) values[at++] = targets[target + score]!; // TARGET_LENGTH
    for (let label = 0; label < LABELS; label++) values[at++] = chances[index * LABELS + label]!; // LABELS per session
    this.fold();
  }

  /** Adds one night, with `values`. */
  private fold(): void {
    const { values, counts, weights, means, spreads } = this; // all have QUANTITIES.length elements
    for (let index = 0; index < values.length; index++) {
      const value = values[index]!;
      const before = DECAY * weights[index]!;
      weights[index] = before;
      if (Number.isNaN(value)) continue;
      const weight = before + 1;
      const away = value - means[index]!;
      const mean = means[index]! + away / weight;
      const square = (before * (spreads[index]! ** 2 + (away * away) / weight)) / weight;
      counts[index] = Math.min(NIGHTS_MAX, counts[index]! + 1);
      weights[index] = weight;
      means[index] = Math.min(MOST[index]!, Math.max(LEAST[index]!, mean));
      spreads[index] = Math.min(WIDEST[index]!, Math.sqrt(square));
    }
  }
}

/** Traits of the person, not of the night: they have no long run. */
const LASTING = new Set(['age', 'sex']);

/** A quantity tracked in the long run. */
export interface Quantity {
  readonly name: string;
  readonly unit: string;
  /** The bounds of its mean, and the largest spread possible within them: 32-bit floats. */
  readonly least: number;
  readonly most: number;
  readonly widest: number;
}

/** The network's inputs; in a row, each value's mask is directly before it. */
const INPUTS = FEATURES.flatMap((feature, place) =>
  feature.name.endsWith('_known') || LASTING.has(feature.group) ? [] : [{ ...feature, place }],
);
const PLACES = INPUTS.map(({ place }) => place);
const CENTRES = INPUTS.map(({ centre }) => centre);
const SCALES = INPUTS.map(({ scale }) => scale);
const SCORES = SCORE_FIELDS.length;
const LABELS = LABEL_FIELDS.length;

/** In order: inputs in units of the features, the scores, the probabilities of High. */
export const QUANTITIES: readonly Quantity[] = [
  ...INPUTS.map(({ name, unit, centre, scale }) =>
    quantity(name, unit, centre - ROW_CLAMP * scale, centre + ROW_CLAMP * scale),
  ),
  ...SCORE_FIELDS.map((name) => quantity(name, 'points', SCORE_BOUNDS.minimum, SCORE_BOUNDS.maximum)),
  ...LABEL_FIELDS.map((name) => quantity(name, 'probability of High', 0, 1)),
];

const LEAST = Float32Array.from(QUANTITIES, ({ least }) => least);
const MOST = Float32Array.from(QUANTITIES, ({ most }) => most);
const WIDEST = Float32Array.from(QUANTITIES, ({ widest }) => widest);

function quantity(name: string, unit: string, least: number, most: number): Quantity {
  return {
    name,
    unit,
    least: Math.fround(least),
    most: Math.fround(most),
    widest: Math.fround((most - least) / 2),
  };
}

/** After this many further nights, a night has half its weight. */
export const HALF_LIFE_NIGHTS = 60;
const DECAY = 2 ** (-1 / HALF_LIFE_NIGHTS);
/** Most nights counted: 179 years. */
export const NIGHTS_MAX = 0xffff;
/** From this many nights on, the long run says what is usual, for each input known in as many of them. */
export const USUAL_NIGHTS_LEAST = 10;
export const USUAL_VALUES_LEAST = 5;

/** Consecutive sessions, with the network's output for each. */
export interface Sessions {
  /** In the layout of requests. */
  readonly records: Float64Array;
  readonly targets: Float64Array;
  /** Each session's probabilities of High, in the order of `LABEL_FIELDS`; NaN if unknown. */
  readonly chances: Float64Array;
}
