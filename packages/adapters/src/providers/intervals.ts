import { adapter, type AdapterOptions } from '../adapt.js';
import { fieldsOf, recordsOf, spanOf, type Field } from '../field.js';
import { sleepsOfPieces, type Piece } from '../pieces.js';
import type { Records, SleepRecord } from '../records.js';
import { namedSeries } from '../series.js';
import { STAGES, type Stage } from '../sleep.js';

/** A table of one's own: intervals of stages, and samples in any order, with times in ISO 8601. */
export interface IntervalsInput extends AdapterOptions {
  /** `[{stage, from, to}]`; a stage is `deep`, `rem`, `light` or `awake`. Without overlap: those of one device. */
  readonly stages?: unknown;
  /** `[{at, value}]` in beats per minute. */
  readonly heart_rate?: unknown;
  /** `[{at, value}]` in breaths per minute. */
  readonly respiratory_rate?: unknown;
}

/** The session of a table. */
export const fromIntervals = /* @__PURE__ */ adapter(
  'intervals',
  ['stages', 'heart_rate', 'respiratory_rate'],
  recordsIn,
);

function recordsIn(input: IntervalsInput): Records {
  const sent = fieldsOf(input);
  const stages = sent('stages');
  const what = 'a list of intervals, with stage, from and to';
  const pieces = recordsOf(stages, { isList: true, what })?.map(pieceOf);
  const samples = (field: Field) => {
    const items = recordsOf(field, { isList: true, what: 'a list of samples, with at and value' });
    return [namedSeries(field, items ?? [], 'at', 'value')];
  };
  const sleeps = pieces && sleepsOf(stages, pieces);
  return { sleeps, heart: samples(sent('heart_rate')), breath: samples(sent('respiratory_rate')) };
}

function pieceOf(field: Field): Piece {
  const stage = field.get('stage');
  const name = stage.required(stage.text());
  if (!STAGES.includes(name as Stage)) stage.fail(`expected one of ${STAGES.join(', ')}`, 'literal_error');
  const { fromMs: from, toMs: to, eastMs } = spanOf(field.get('from'), field.get('to'));
  if (to < from) field.fail('ends before it begins');
  return { field, stage: name as Stage, from, to, eastMs, source: '' };
}

function sleepsOf(sent: Field, pieces: readonly Piece[]): SleepRecord[] {
  const sorted = pieces.toSorted((a, b) => a.from - b.from);
  sorted.forEach(({ from, field }, index) => {
    if (from < (sorted[index - 1]?.to ?? from))
      field.fail('overlaps another; give those of one device, each stretch once');
  });
  return sleepsOfPieces(sorted, sent);
}
