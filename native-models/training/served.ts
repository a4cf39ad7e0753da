import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord } from '#acuity/contract/request.js';
import { EXPLANATION } from '#acuity/contract/explanation.js';
import { OUTPUT_COLUMNS } from '#acuity/model/tensors.js';
import type { Manifest, MeasuredConstants } from '#acuity/model/manifest.js';
import { featurisePast, featuriseRecord } from '#acuity/night/featurise.js';
import { adjustedRow } from '#acuity/night/measuredRow.js';
import { createReader, isBodyProblem, type RequestReader } from '#acuity/read/read.js';
import type { PredictionRequest } from '#acuity/night/request.js';
import type { ExplainSetup } from '#acuity/score/protocol.js';
import { Explainer } from '#acuity/score/worker/explainer.js';
import type { GraphVariant } from '#acuity/contract/graphVariant.js';
import { openGraph, type GraphSession, type Inputs } from '#acuity/score/worker/session.js';

/** Columns of a row of scores. */
export const COLUMN = {
  C_SCORE: 0,
  attention: 1,
  memory: 2,
  reasoning: 3,
  stress: 4,
  valence: 5,
  arousal: 6,
} as const;
export type Column = keyof typeof COLUMN;

/** The scores of a request without measurements, and its explanation in the order of `EXPLANATION`. */
export type Explain = (
  request: PredictionRequest,
) => Promise<{ readonly scores: Float32Array; readonly floats: Float32Array }>;

const BATCH_MAX = 256;
const THRESHOLDS = { valence: 0.5, arousal: 0.5 };

/**
 * A model folder scored in this thread by the service's own stages: reader, features, ONNX session. Only the transfer
 * to a worker is left out.
 */
export class ServedModel {
  private readonly readRequest: RequestReader = createReader(DEFAULT_SERIES_LIMITS);

  private constructor(private readonly graphs: Readonly<Record<GraphVariant, GraphSession>>) {}

  static async open(folder: string): Promise<ServedModel> {
    const files = graphFiles(folder);
    const open = (variant: GraphVariant) =>
      openGraph(variant, join(folder, files[variant]), BATCH_MAX, {
        intraOpThreads: 1,
        interOpThreads: 1,
        spinning: false,
      });
    return new ServedModel({ base: await open('base'), history: await open('history') });
  }

  /** Scores one request as the service would: seven floats, the labels as probabilities of High. */
  async score(body: PredictionRequestBody): Promise<Float32Array> {
    const request = this.readRequest(Buffer.from(JSON.stringify(body)));
    if (isBodyProblem(request)) throw new Error('not a valid request');
    return this.scoreRequest(request);
  }

  /**
   * As the service scores with a history: returns the answered scores, measurements included, and the next history.
   */
  async scoreCarried(
    body: PredictionRequestBody,
    constants: MeasuredConstants,
  ): Promise<{ readonly scores: Float32Array; readonly history: string }> {
    const request = this.readRequest(Buffer.from(JSON.stringify(body)), constants);
    if (isBodyProblem(request) || request.history === undefined)
      throw new Error('not a request with a history');
    const { history } = request;
    const scores = await this.scoreRequest(request);
    return {
      scores: history.adjustments === undefined ? scores : adjustedRow(history.adjustments, scores, 0),
      history: history.text({ scores, offset: 0 }, THRESHOLDS),
    };
  }

  /** Like `score`, for a request already read. */
  async scoreRequest(request: PredictionRequest): Promise<Float32Array> {
    const graph = this.graphs[request.pastCount > 0 ? 'history' : 'base'];
    graph.clear(1);
    featuriseRecord(request.records, 0, graph.inputs.session, 0);
    featurisePast(request, graph.inputs, 0);
    return (await graph.run(1)).scores;
  }

  /** What scores and explains a request by `table`, as the service's worker does. */
  explainer(table: ExplainSetup): Explain {
    const explainer = new Explainer(this.graphs, table);
    return async (request) => {
      const floats = new Float32Array(EXPLANATION.length);
      const { scores } = await explainer.explain(request, floats);
      return { scores, floats };
    };
  }

  /**
   * Runs `count` rows in batches; `fill` writes row `index` of the whole into row `row` of the zeroed inputs.
   * Gives [count, 7].
   */
  async scoreRows(
    variant: GraphVariant,
    count: number,
    fill: (inputs: Inputs, row: number, index: number) => void,
  ) {
    const graph = this.graphs[variant];
    const scores = new Float32Array(count * OUTPUT_COLUMNS);
    for (let start = 0; start < count; start += BATCH_MAX) {
      const rows = Math.min(BATCH_MAX, count - start);
      graph.clear(rows);
      for (let row = 0; row < rows; row++) fill(graph.inputs, row, start + row);
      scores.set((await graph.run(rows)).scores, start * OUTPUT_COLUMNS);
    }
    return scores;
  }
}

/** A bundle names its graphs; graphs not bundled yet are named after their variant. */
function graphFiles(folder: string): Readonly<Record<GraphVariant, string>> {
  const path = join(folder, 'manifest.json');
  if (!existsSync(path)) return { base: 'base.onnx', history: 'history.onnx' };
  const { graphs } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  return { base: graphs.base.file, history: graphs.history.file };
}

/** The score record that a caller would get and send back; labels by the thresholds of one half. */
export function recordOf(scores: Float32Array, offset = 0, digits = 2): ScoreRecord {
  const at = (column: Column): number => scores[offset + COLUMN[column]] ?? NaN;
  const round = (value: number): number => Math.round(value * 10 ** digits) / 10 ** digits;
  return {
    C_SCORE: round(at('C_SCORE')),
    attention: round(at('attention')),
    memory: round(at('memory')),
    reasoning: round(at('reasoning')),
    stress: round(at('stress')),
    valence: at('valence') >= 0.5 ? 'High' : 'Low',
    arousal: at('arousal') >= 0.5 ? 'High' : 'Low',
  };
}
