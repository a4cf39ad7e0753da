/** The field `explanation` of an answer, from what a worker found. */
import { CONTRIBUTORS, EXPLANATION, type Confidence } from '../../contract/explanation.js';
import { SCORE_FIELDS, SERIES_FIELDS } from '#rules/fields.js';
import type { Explanation } from '../../contract/response.js';
import type { ExplainTable } from '../../model/manifest.js';
import { isMoved, type Adjustments } from '../measuredRow.js';
import type { Quality } from '../quality.js';
import { hundredths } from '../respond.js';
import { sentencesOf } from './sentences.js';

/** The part of an explanation that comes from the model's table, not from the worker. */
export type ExplainSettings = Pick<ExplainTable, 'notable' | 'explained' | 'widths'>;

/** A worker's output for one request: `scores[offset …]` as usual, and `floats` in the order of `EXPLANATION`. */
export interface ExplainedRow {
  readonly scores: Float32Array;
  readonly offset: number;
  readonly floats: Float32Array;
  /** The scores without measurements, and how measurements move them; undefined if none counts. */
  readonly unmeasured?:
    { readonly scores: Float32Array; readonly offset: number; readonly adjustments: Adjustments } | undefined;
}

const HUNDREDTHS = 100;
const MOST = 100 * HUNDREDTHS;
const POINTS = SCORE_FIELDS.length;

/**
 * The explanation in the answer. It is computed in whole hundredths, so that the printed numbers add up: score −
 * reference = change = sum of the contributions.
 */
export function explanationOf(row: ExplainedRow, quality: Quality, settings: ExplainSettings): Explanation {
  const { scores, offset, floats } = row;
  const standing = SCORE_FIELDS.map((_, score) => standingOf(row, score));
  const contributions = standing.map(({ change }, score) => shared(floats, score, change));
  const widest = Math.max(...standing.map(({ low, high }) => high - low)) / HUNDREDTHS;
  const limits = settings.notable[quality.against === 'usual' ? 'usual' : 'lastNights'];
  const explained = quality.sessions > 0 ? settings.explained.history : settings.explained.alone;
  const hasRecent = quality.against === 'usual' && quality.sessions > 0;
  const confidence = confidenceOf(widest, settings);
  const { against } = quality;
  const contributors = CONTRIBUTORS.map(({ group, label }, index) => ({
    group,
    label,
    ...named(SCORE_FIELDS, (_, score) => contributions[score]![index]! / HUNDREDTHS), // one for each, as below
    notable: SCORE_FIELDS.filter((_, score) =>
      isBeyond(contributions[score]![index]!, limits.groups[quality.sessions]?.[index]?.[score]),
    ),
  }));
  return {
    against,
    quality: {
      confidence,
      sessions: quality.sessions,
      missing: [...quality.missing],
      implausible: [...quality.implausible],
      not_at_rest: [...quality.notAtRest],
      series: named(SERIES_FIELDS, (_, index) => ({ ...(quality.series[index] ?? { samples: 0, used: 0 }) })),
    },
    scores: named(SCORE_FIELDS, (name, score) => {
      const { reference, change, low, high } = standing[score]!;
      const most = largestOf(contributions[score]!);
      const { label, notable } = contributors[most]!;
      const points = contributions[score]![most]! / HUNDREDTHS;
      const told = {
        reference: reference / HUNDREDTHS,
        change: change / HUNDREDTHS,
        ...(hasRecent ? { recent: recentOf(row, score, reference) / HUNDREDTHS } : {}),
        ...measuredOf(row, score),
        notable: isBeyond(change, limits.changes[quality.sessions]?.[score]),
        repeatability: [low / HUNDREDTHS, high / HUNDREDTHS],
        explained: explained[score] ?? 0,
      };
      const value = hundredths(scores[offset + score]!) / HUNDREDTHS;
      const about = { name, score: value, against, confidence };
      const text = sentencesOf(told, about, { label, points, isNotable: notable.includes(name) });
      return Object.assign(told, { text });
    }),
    labels: {
      valence: probability(scores[offset + POINTS]!),
      arousal: probability(scores[offset + POINTS + 1]!),
    },
    contributors,
  };
}

/** In whole hundredths. */
interface Standing {
  readonly reference: number;
  readonly change: number;
  readonly low: number;
  readonly high: number;
}

function standingOf({ scores, offset, floats }: ExplainedRow, score: number): Standing {
  const value = hundredths(scores[offset + score]!); // a row of scores, and the floats of one
  const reference = hundredths(floats[EXPLANATION.reference + score]!);
  return {
    reference,
    change: value - reference,
    low: Math.max(0, value - hundredths(floats[EXPLANATION.below + score]!)),
    high: Math.min(MOST, value + hundredths(floats[EXPLANATION.above + score]!)),
  };
}

/** How far the day of the last nights differs from the reference day. */
function recentOf({ floats }: ExplainedRow, score: number, reference: number): number {
  return hundredths(floats[EXPLANATION.lastNights + score]!) - reference;
}

/** How far measurements moved a score, if they move it. */
function measuredOf({ scores, offset, unmeasured }: ExplainedRow, score: number): { measured?: number } {
  if (unmeasured === undefined || !isMoved(unmeasured.adjustments, score)) return {};
  const before = hundredths(unmeasured.scores[unmeasured.offset + score]!); // a row, as the other
  return { measured: (hundredths(scores[offset + score]!) - before) / HUNDREDTHS };
}

/** Whether `change`, in hundredths, exceeds `limit` points. */
function isBeyond(change: number, limit = Infinity): boolean {
  return Math.abs(change) / HUNDREDTHS > limit;
}

/** Splits `change` among the groups in whole hundredths; the largest takes the rounding remainder. */
function shared(floats: Float32Array, score: number, change: number): number[] {
  const exact = CONTRIBUTORS.map((_, group) => floats[EXPLANATION.contributors + group * POINTS + score]!);
  const parts = exact.map(hundredths);
  parts[largestOf(exact)]! += change - parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part + 0); // no −0
}

/** The index of the one farthest from 0, the first of equals. */
function largestOf(values: readonly number[]): number {
  return values.reduce(
    (best, value, index) => (Math.abs(value) > Math.abs(values[best]!) ? index : best), // best < length
    0,
  );
}

function confidenceOf(widest: number, { widths }: ExplainSettings): Confidence {
  if (widest <= widths.high) return 'high';
  return widest <= widths.medium ? 'medium' : 'low';
}

function probability(value: number): number {
  return hundredths(value) / HUNDREDTHS;
}

function named<Name extends string, Value>(
  names: readonly Name[],
  valueOf: (name: Name, index: number) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name, index) => [name, valueOf(name, index)])) as Record<Name, Value>;
}
