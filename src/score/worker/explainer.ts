import { EXPLANATION, MIXTURES } from '../../contract/explanation.js';
import { FEATURE_COUNT } from '../../contract/features.js';
import type { GraphVariant } from '../../contract/graphVariant.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../../model/tensors.js';
import { featurisePast, featuriseRecord } from '../../night/featurise.js';
import { eachMissingField } from '../../night/missing.js';
import { adjustReach, adjustRow, offsetsOf } from '../../night/measuredRow.js';
import { writeMixtures, writeShapley, type MixedDay } from '../../night/explained/mixtures.js';
import { reachOf } from '../../night/explained/reach.js';
import { ReferenceDay, hoursOf } from '../../night/explained/referenceDay.js';
import type { PredictionRequest } from '../../night/request.js';
import type { ExplainSetup } from '../protocol.js';
import type { GraphRun, GraphSession } from './session.js';

/** Scores requests with an explanation: one at a time, all its mixtures in one run of the graph that scores it. */
export class Explainer {
  private readonly reference: ReferenceDay;
  private readonly today: MixedDay = {
    row: new Float32Array(FEATURE_COUNT),
    hours: { asleep: NaN, awake: NaN },
  };

  /** `graphs` have room for `EXPLAIN_ROWS`. */
  constructor(
    private readonly graphs: Readonly<Record<GraphVariant, GraphSession>>,
    private readonly table: ExplainSetup,
  ) {
    this.reference = new ReferenceDay(table);
  }

  /**
   * Writes the explanation of `request` to `into` in the order of `EXPLANATION`. Resolves to its scores [7] without
   * measurements, and the milliseconds of the run.
   */
  async explain(request: PredictionRequest, into: Float32Array): Promise<GraphRun> {
    const { today, reference } = this;
    const { adjustments, pastCount, usual } = request;
    const graph = this.graphs[pastCount > 0 ? 'history' : 'base'];
    const { inputs } = graph;
    graph.clear(1);
    today.row.fill(0);
    featuriseRecord(request.records, 0, today.row, 0);
    featurisePast(request, inputs, 0);
    hoursOf(request, 0, today.hours);
    reference.find(request, today.row, inputs.past);
    const hasRecent = usual !== undefined && pastCount > 0;
    if (hasRecent) inputs.session.set(reference.row, MIXTURES * FEATURE_COUNT);
    if (usual !== undefined) reference.turnUsual(usual, today.row);
    writeMixtures(today, reference, inputs.session);
    const rows = hasRecent ? EXPLAIN_ROWS : MIXTURES;
    graph.repeatPast(rows);
    const { scores: mixed, elapsedMs } = await graph.run(rows);
    const scores = mixed.slice(TODAY, TODAY + OUTPUT_COLUMNS);
    let missing = 0;
    eachMissingField(request, () => missing++);
    into.set(reachOf(this.table, pastCount, missing), EXPLANATION.below); // below, then above
    if (adjustments !== undefined) {
      // Before any comparison, because measurements move the scores of every day.
      const offsets = offsetsOf(adjustments, scores, 0);
      adjustReach(into.subarray(EXPLANATION.below), scores, adjustments, offsets);
      for (let row = 0; row < rows; row++) adjustRow(mixed, row * OUTPUT_COLUMNS, adjustments, offsets);
    }
    into.set(mixed.subarray(0, POINTS), EXPLANATION.reference);
    writeShapley(mixed, OUTPUT_COLUMNS, into, EXPLANATION.contributors);
    if (hasRecent) into.set(mixed.subarray(LAST_NIGHTS, LAST_NIGHTS + POINTS), EXPLANATION.lastNights);
    else into.fill(0, EXPLANATION.lastNights);
    return { scores, elapsedMs };
  }
}

const POINTS = SCORE_FIELDS.length;
/** Rows that an explained request takes of a graph: all mixtures, and the day of the last nights after them. */
export const EXPLAIN_ROWS = MIXTURES + 1;
/** The last mixture is today. */
const TODAY = (MIXTURES - 1) * OUTPUT_COLUMNS;
const LAST_NIGHTS = MIXTURES * OUTPUT_COLUMNS;
