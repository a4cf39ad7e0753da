import { EXPLANATION, MIXTURES } from '../contract/explanation.js';
import { FEATURE_COUNT } from '../contract/features.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import type { ExplainTable } from '../model/manifest.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { featurisePast, featuriseRecord } from '../pipeline/featurise.js';
import { eachMissingField } from '../pipeline/missing.js';
import { adjustReach, adjustRow, offsetsOf } from '../pipeline/measuredRow.js';
import { writeMixtures, writeShapley, type MixedDay } from '../pipeline/mixtures.js';
import { ReferenceDay, hoursOf } from '../pipeline/referenceDay.js';
import type { PredictionRequest } from '../records/request.js';
import type { ExplainGraph } from './session.js';

const POINTS = SCORE_FIELDS.length;

/** The plain graph's output [7] for `row` [F] in place of today's, with the past of the request scored last. */
export type ScoreDay = (row: Float32Array) => Promise<Float32Array>;

/** Computes the numbers of an explanation: one request at a time, all its mixtures in one run. */
export class Explainer {
  private readonly reference: ReferenceDay;
  private readonly today: MixedDay = {
    row: new Float32Array(FEATURE_COUNT),
    hours: { asleep: NaN, awake: NaN },
  };

  constructor(
    private readonly graph: ExplainGraph,
    table: Pick<ExplainTable, 'typical' | 'pooling'>,
  ) {
    this.reference = new ReferenceDay(table);
  }

  /**
   * Writes the explanation of `request`, whose plain scores are `scores[offset …]`, to `into` in the order of
   * `EXPLANATION`. Resolves to the milliseconds of the run.
   */
  async explain(
    request: PredictionRequest,
    scores: Float32Array,
    offset: number,
    into: Float32Array,
    scoreDay: ScoreDay,
  ): Promise<number> {
    const { graph, today, reference } = this;
    this.fill(request);
    reference.find(request, today.row, graph.inputs.past);
    into.fill(0, EXPLANATION.lastNights);
    const plain = scores.slice(offset, offset + OUTPUT_COLUMNS);
    const { adjustments } = request;
    const offsets = adjustments && offsetsOf(adjustments, scores, offset);
    if (request.usual !== undefined) {
      if (request.pastCount > 0) {
        const lastNights = await scoreDay(reference.row);
        if (adjustments && offsets) adjustRow(lastNights, 0, adjustments, offsets);
        into.set(lastNights.subarray(0, POINTS), EXPLANATION.lastNights);
      }
      reference.turnUsual(request.usual, today.row);
    }
    writeMixtures(today, reference, graph.inputs.session);
    const { scores: mixed, reach, elapsedMs } = await graph.run();
    if (adjustments && offsets) {
      // Before any comparison, because measurements move the scores of every day.
      adjustReach(reach, plain, adjustments, offsets);
      adjustRow(plain, 0, adjustments, offsets);
      for (let row = 0; row < MIXTURES; row++) adjustRow(mixed, row * OUTPUT_COLUMNS, adjustments, offsets);
    }
    for (let score = 0; score < POINTS; score++) {
      // The change comes from the explain graph alone, so it is exactly 0 if today is the reference day.
      const change = at(mixed, (MIXTURES - 1) * OUTPUT_COLUMNS + score) - at(mixed, score);
      into[EXPLANATION.reference + score] = Math.min(100, Math.max(0, at(plain, score) - change));
    }
    writeShapley(mixed, OUTPUT_COLUMNS, into, EXPLANATION.contributors);
    into.set(reach, EXPLANATION.below); // below, then above
    return elapsedMs;
  }

  private fill(request: PredictionRequest): void {
    const { inputs } = this.graph;
    const { row, hours } = this.today;
    row.fill(0);
    inputs.past.fill(0);
    inputs.targets.fill(0);
    inputs.present.fill(0);
    featuriseRecord(request.records, 0, row, 0);
    featurisePast(request, inputs, 0);
    hoursOf(request, 0, hours);
    let missing = 0;
    eachMissingField(request, () => missing++);
    inputs.missing[0] = missing;
  }
}

/** NaN outside, which makes the explanation invalid. */
function at(values: Float32Array, index: number): number {
  return values[index] ?? NaN;
}
