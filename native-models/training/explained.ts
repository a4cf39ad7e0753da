import { EXPLANATION } from '#acuity/contract/explanation.js';
import type { ExplainTable } from '#acuity/model/manifest.js';
import type { PredictionRequest } from '#acuity/records/request.js';
import { Explainer } from '#acuity/worker/explainer.js';
import { openExplainGraph, type ExplainGraph } from '#acuity/worker/session.js';
import type { ServedModel } from './served.js';

/** The scores of a request, and its explanation in the order of `EXPLANATION`. */
export interface ExplainedScores {
  readonly scores: Float32Array;
  readonly floats: Float32Array;
}

/** A model that explains, in this thread, by the service's own stages. */
export class ExplainedModel {
  private constructor(
    private readonly model: ServedModel,
    private readonly graph: ExplainGraph,
    private readonly explainer: Explainer,
  ) {}

  /** `graph` is the path of the graph for explained requests. */
  static async open(model: ServedModel, graph: string, table: Pick<ExplainTable, 'typical' | 'pooling'>) {
    const options = { intraOpThreads: 1, interOpThreads: 1, spinning: false };
    const opened = await openExplainGraph(graph, options);
    return new ExplainedModel(model, opened, new Explainer(opened, table));
  }

  async explain(request: PredictionRequest): Promise<ExplainedScores> {
    const scores = await this.model.scoreRequest(request);
    const floats = new Float32Array(EXPLANATION.length);
    await this.explainer.explain(request, scores, 0, floats, (row) => this.model.scoreDay(row));
    return { scores, floats };
  }
  /** How far ranges reach below the five scores, then above, after so many sessions and with so many fields missing. */
  async reach(sessions: number, missing: number): Promise<Float32Array> {
    const { inputs } = this.graph;
    for (const input of Object.values(inputs)) input.fill(0);
    inputs.present.fill(1, 0, sessions);
    inputs.missing[0] = missing;
    return (await this.graph.run()).reach;
  }
}
