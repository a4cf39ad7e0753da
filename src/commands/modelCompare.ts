import { createReadStream, writeFileSync } from 'node:fs';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { differencesIn } from '../admin/differences.js';
import { textTable } from '../base/table.js';
import { MetricReader, MetricWriter } from '../base/metrics.js';
import { OperatorError } from '../base/operatorError.js';
import { LineSplitter, type Line } from '../lake/lineSplitter.js';
import type { Config } from '../config/options.js';
import { allocateLoopMetrics, METRICS } from '../contract/metrics.js';
import { systemReason } from '../files/fileError.js';
import { loadBundle } from '../model/bundle.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { modelLabel } from '../model/manifest.js';
import type { PredictionRequest } from '../records/request.js';
import { createReader, isBodyProblem } from '../reading/read.js';
import { createLog } from '../process/log.js';
import { Comparison } from '../scoring/comparison.js';
import { OFFLINE_LIMITS } from '../scoring/offlineLimits.js';
import { openScorer } from '../scoring/openScorer.js';
import type { ScoredRow, ScoreHandler, Scorer } from '../scoring/scorer.js';
import { cellsOf, comparisonPage, type ComparedModels } from './modelComparePage.js';

export interface CompareOrder {
  /** Folder of the model in use, and of its possible replacement. */
  readonly answering: string;
  readonly other: string;
  /** NDJSON: one request per line. */
  readonly requests: string;
  /** Where to write a page; absent: no page. */
  readonly html?: string;
}

/**
 * `acuity model compare A B requests.ndjson`: scores each request with both models, through the service's own reader,
 * features and workers, and reports how far B differs from A, like the metrics of the shadow model.
 * @throws OperatorError if a model can't be served, the file can't be read, or no line is a valid request
 */
export async function compareModels(
  order: CompareOrder,
  config: Config,
  print: (line: string) => void,
): Promise<void> {
  const [first, second] = [await loadBundle(order.answering), await loadBundle(order.other)];
  const memory = allocateLoopMetrics();
  const comparison = new Comparison(new MetricWriter(METRICS, memory));
  const scorers: Scorer[] = [];
  let refused = 0;
  try {
    const log = createLog({ level: 'silent' });
    for (const bundle of [first, second]) {
      const setup = { config: { ...config, ...OFFLINE_LIMITS }, bundle, workers: 1, loops: 1 };
      scorers.push(await openScorer(setup, log, () => undefined));
    }
    refused = await compareLines(order.requests, config, { scorers, comparison });
    for (const scorer of scorers) await scorer.drained();
  } finally {
    for (const scorer of scorers) await scorer.close();
  }
  const differences = differencesIn(new MetricReader(METRICS, [memory]));
  if (differences.compared + differences.errors === 0)
    throw new OperatorError(`${order.requests}: no line is a valid request`);
  const [answering, other] = [modelLabel(first.manifest), modelLabel(second.manifest)];
  const found = { answering, other, requests: order.requests, refused, differences };
  for (const line of linesOf(found)) print(line);
  if (order.html === undefined) return;
  writeFileSync(order.html, comparisonPage(found));
  print(`page: ${order.html}`);
}

interface Parts {
  readonly scorers: readonly Scorer[];
  readonly comparison: Comparison;
}

/** @returns the number of lines that are not valid requests */
async function compareLines(path: string, config: Config, parts: Parts): Promise<number> {
  const { daySamplesMax, nightSamplesMax, bodyMaxBytes } = config;
  const readRequest = createReader({ daySamplesMax, nightSamplesMax });
  const splitter = new LineSplitter(bodyMaxBytes);
  let refused = 0;
  const take = async (lines: Iterable<Line>): Promise<void> => {
    for (const { bytes } of lines) {
      while (!parts.scorers.every((scorer) => scorer.makeRoom())) await turnOfTheLoop();
      if (bytes?.length === 0) continue;
      const request = bytes === undefined ? undefined : readRequest(bytes);
      if (request === undefined || isBodyProblem(request)) refused++;
      else compareOne(request, parts);
    }
  };
  const file = createReadStream(path);
  try {
    for await (const chunk of file) await take(splitter.split(chunk as Buffer));
  } catch (error) {
    const reason = systemReason(error);
    if (reason === undefined) throw error;
    throw new OperatorError(`${path} can't be read: ${reason}`, { cause: error });
  }
  await take(splitter.end());
  return refused;
}

/** Both models get the request at once; the later answer triggers the comparison. */
function compareOne(request: PredictionRequest, { scorers, comparison }: Parts): void {
  const rows: (ScoredRow | undefined)[] = [];
  let otherMs = 0;
  let hasFailed = false;
  const both = (): void => {
    const [answered, other] = rows;
    if (answered !== undefined && other !== undefined) comparison.compared(answered, other, otherMs);
  };
  const handlerOf = (place: number): ScoreHandler => ({
    isGone: false,
    scored({ scores, offset, model }, { inferMs }) {
      rows[place] = { scores: scores.slice(offset, offset + OUTPUT_COLUMNS), offset: 0, model };
      if (place === 1) otherMs = inferMs;
      both();
    },
    failed() {
      if (!hasFailed) comparison.failed();
      hasFailed = true;
    },
  });
  for (const [place, scorer] of scorers.entries()) {
    if (scorer.admit(request, handlerOf(place)) !== 'admitted') throw new Error('the scorer has no room');
  }
}

/** The lines to print. */
function linesOf({ answering, other, refused, differences }: ComparedModels): string[] {
  const { compared, errors, scores, flips, run } = differences;
  const table = [['score', 'mean', 'mean, signed', 'half within', '99 % within'], ...scores.map(cellsOf)];
  return [
    `${other} beside ${answering}: ${compared} requests compared`,
    ...(refused === 0 ? [] : [`lines that are no valid requests: ${refused}`]),
    ...(errors === 0 ? [] : [`requests without sound scores: ${errors}`]),
    'differences in points:',
    textTable(table),
    ...flips.map(({ label, count }) => `${label} said otherwise: ${count} of ${compared}`),
    `model run of ${other}: mean ${run.meanMs} ms, p99 ${run.p99Ms} ms`,
  ];
}
