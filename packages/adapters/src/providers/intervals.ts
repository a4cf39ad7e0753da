import { adapter, type AdapterOptions } from '../adapt.js';
import { listOf, type Field, type Sent } from '../field.js';
import { pieceOf, sleepsOfPieces, type Piece } from '../pieces.js';
import type { Records } from '../records.js';
import { series } from '../series.js';
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

function recordsIn(sent: Sent<IntervalsInput>): Records {
  const stages = sent('stages');
  const pieces = listOf(stages, 'intervals, with stage, from and to')?.flatMap(piecesOf);
  const samples = (field: Field) => [
    series(field, listOf(field, 'samples, with at and value') ?? [], 'at', 'value'),
  ];
  checkApart(pieces ?? []);
  return {
    sleeps: pieces && (() => sleepsOfPieces(pieces, stages)),
    heart: samples(sent('heart_rate')),
    breath: samples(sent('respiratory_rate')),
  };
}

/** A mistake in a table of one's own is refused. */
function piecesOf(field: Field): Piece[] {
  const [stage, from, to] = [field.get('stage'), field.get('from'), field.get('to')];
  const name = stage.required(stage.text());
  if (!STAGES.includes(name as Stage)) stage.fail(`expected one of ${STAGES.join(', ')}`, 'literal_error');
  return pieceOf(field, from.isSame(to) ? undefined : { stage: name as Stage, from, to });
}

function checkApart(pieces: readonly Piece[]): void {
  const sorted = pieces.toSorted((a, b) => a.from - b.from);
  sorted.forEach(({ from, field }, index) => {
    if (from < (sorted[index - 1]?.to ?? from))
      field.fail('overlaps another; give those of one device, each stretch once');
  });
}
