import type { Against } from '../contract/explanation.js';
import { FIELDS_OF_A_SESSION, SERIES_FIELDS } from '#rules/fields.js';
import { Sleep } from '#rules/sleep.js';
import { IMPLAUSIBLE_SHARE_MOST, LIKELY } from '#rules/unlikely.js';
import { eachMissingField } from './missing.js';
import { normaliseSleep } from './normalise.js';
import { HOUR_FIELDS, isAtRest } from './rest.js';
import { LAYOUT } from './layout.js';
import { SCALAR_PLACES, summaryAt } from './places.js';
import type { PredictionRequest, ReadRequest } from './request.js';

/** The data quality of a request, as far as it is known without its scores: names of fields, and counts. */
export interface Quality {
  readonly sessions: number;
  readonly against: Against;
  readonly missing: readonly string[];
  readonly implausible: readonly string[];
  /** Series of an hour that was not at rest; these are missing, too. */
  readonly notAtRest: readonly string[];
  /** In the order of `SERIES_FIELDS`. */
  readonly series: readonly { readonly samples: number; readonly used: number }[];
}

/** The input of `qualityOf`. */
export type QualifiedRequest = Pick<ReadRequest, 'records' | 'targets' | 'lengths' | 'pastCount'> &
  Partial<Pick<ReadRequest, 'history' | 'usual'>>;

export function qualityOf(request: QualifiedRequest): Quality {
  const { records, lengths, pastCount, history } = request;
  const missing: string[] = [];
  eachMissingField(request, (field) => missing.push(FIELDS_OF_A_SESSION[field] ?? ''));
  const series = SERIES_FIELDS.map((field, index) => ({
    samples: lengths[index] ?? 0,
    used: records[summaryAt(0, field) + LAYOUT.COUNT] ?? 0,
  }));
  const implausible = implausibleOf(records);
  if (history?.isOthers === true) implausible.push('history');
  const notAtRest = isAtRest(records, 0)
    ? []
    : HOUR_FIELDS.filter((_, index) => (series[index]?.used ?? 0) > 0);
  return { sessions: pastCount, against: againstOf(request), missing, implausible, notAtRest, series };
}

/** The day that an explanation of `request` compares today with. */
export function againstOf({ usual, pastCount }: Pick<PredictionRequest, 'usual' | 'pastCount'>): Against {
  if (usual !== undefined) return 'usual';
  return pastCount > 0 ? 'last nights' : 'typical';
}

const sleep = new Sleep();

function implausibleOf(records: Float64Array): string[] {
  normaliseSleep(records, 0, sleep);
  // In normalised form, where the field was given; the total also where only its parts were.
  const made: Readonly<Record<string, number>> = {
    sleepTimeSeconds: sleep.sleepS,
    deepPercentage: sleep.deepShare,
    remPercentage: sleep.remShare,
    lightPercentage: sleep.lightShare,
  };
  return LIKELY.filter(({ field, least, most }) => {
    if (isSeries(field)) return isUnlikelySeries(records, summaryAt(0, field), least, most);
    const given = records[SCALAR_PLACES[field]] ?? NaN;
    const isGiven = !Number.isNaN(given) || field === 'sleepTimeSeconds';
    const value = made[field] ?? given;
    return isGiven && (value < least || value > most);
  }).map(({ field }) => field);
}

function isSeries(field: string): field is (typeof SERIES_FIELDS)[number] {
  return (SERIES_FIELDS as readonly string[]).includes(field);
}

function isUnlikelySeries(records: Float64Array, summary: number, least: number, most: number): boolean {
  const used = records[summary + LAYOUT.COUNT] ?? 0;
  const left = records[summary + LAYOUT.IMPLAUSIBLE] ?? 0;
  const level = records[summary + LAYOUT.LEVEL] ?? NaN;
  if (used === 0) return left > 0;
  return level < least || level > most || left > IMPLAUSIBLE_SHARE_MOST * (used + left);
}
