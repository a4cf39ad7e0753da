import { setTimeout as sleep } from 'node:timers/promises';
import { PROBLEMS } from '../contract/problems.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { LAYOUT } from '../records/layout.js';
import { explanationOf, type ExplainedRow } from '../pipeline/explanation.js';
import { adjustedRow, type MeasuringConstants } from '../pipeline/measuredRow.js';
import { againstOf, type Quality } from '../pipeline/quality.js';
import type { HistoryToCome, PredictionRequest, ReadRequest } from '../records/request.js';
import type { AdmitOutcome, ScoredRow, ScoreHandler, Timing } from '../scoring/scorer.js';
import type { RowProblem } from './errors.js';
import type { Page } from './page.js';

/** A page being scored, with what is known of each row so far. */
export class Job {
  /** Row i is `scores[i · OUTPUT_COLUMNS …]`: the network's output, moved by measurements. */
  readonly scores: Float32Array;
  /** The model's time for each row, in milliseconds. */
  readonly inferMs: Float32Array;
  readonly problems = new Map<number, RowProblem>();
  /** The network's output for rows moved by measurements. */
  readonly unmeasured = new Map<number, Float32Array>();
  /** What became of the measurements of a row, if there is something to tell. */
  readonly measured = new Map<number, Pick<HistoryToCome, 'tests' | 'ignored'>>();
  /** Explanations as JSON, by row. */
  readonly explanations: string[] = [];
  /** Rows with neither scores nor a problem yet. */
  private left: number;
  /** Resolves when every row has scores or a problem. */
  readonly whole: Promise<void>;
  private resolve = (): void => undefined;
  /** The records of the rows, if a later row needs them. */
  readonly records: Float64Array | undefined;

  constructor(
    readonly page: Page,
    keepsRecords: boolean,
  ) {
    this.left = page.rows;
    this.whole = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.scores = new Float32Array(page.rows * OUTPUT_COLUMNS);
    this.inferMs = new Float32Array(page.rows);
    this.records = keepsRecords ? new Float64Array(page.rows * LAYOUT.RECORD_LENGTH) : undefined;
  }

  refuse(row: number, problem: RowProblem): void {
    this.problems.set(row, problem);
    this.finished();
  }

  finished(): void {
    this.left--;
    if (this.left === 0) this.resolve();
  }
}

/** Receives the scores of one row. */
export class RowPlace implements ScoreHandler {
  readonly isGone = false;
  /** Called with the network's output for the row, or with undefined if it has no scores. */
  onDone: ((row: ScoredRow | undefined) => void) | undefined;
  /** The quality of its data, if requested. */
  quality: Quality | undefined;
  /** The resulting history, if the row has one. */
  history: HistoryToCome | undefined;

  constructor(
    private readonly job: Job,
    private readonly index: number,
  ) {}

  /** From 1 on, over the whole input. */
  get row(): number {
    return this.job.page.numberOf(this.index);
  }

  get record(): Float64Array {
    const { RECORD_LENGTH } = LAYOUT;
    if (this.job.records === undefined) throw new Error('no records are kept');
    return this.job.records.subarray(this.index * RECORD_LENGTH, (this.index + 1) * RECORD_LENGTH);
  }

  /** With --person the past is known only when the row is sent. */
  tellPast(request: ReadRequest): void {
    const { quality } = this;
    this.history = request.history;
    if (quality === undefined) return;
    const implausible =
      request.history?.isOthers === true ? [...quality.implausible, 'history'] : quality.implausible;
    this.quality = { ...quality, sessions: request.pastCount, against: againstOf(request), implausible };
  }

  scored(row: ScoredRow, { inferMs }: Timing): void {
    const { job, index, history } = this;
    job.inferMs[index] = inferMs;
    const { tests = [], ignored = [] } = history ?? {};
    if (tests.length + ignored.length > 0) job.measured.set(index, { tests, ignored });
    const adjustments = history?.adjustments;
    if (adjustments === undefined) this.answer(row, row.scores, row.offset);
    else {
      const unmeasured = row.scores.slice(row.offset, row.offset + OUTPUT_COLUMNS);
      job.unmeasured.set(index, unmeasured);
      const moved = adjustedRow(adjustments, unmeasured, 0);
      this.answer(row, moved, 0, { scores: unmeasured, offset: 0, adjustments });
    }
    this.onDone?.(row);
    job.finished();
  }

  /** Writes the scores of the row, and their explanation if requested. */
  private answer(
    { model, explanation: floats }: ScoredRow,
    scores: Float32Array,
    offset: number,
    unmeasured?: ExplainedRow['unmeasured'],
  ): void {
    const { job, index, quality } = this;
    const { explainSettings } = model;
    const first = index * OUTPUT_COLUMNS;
    for (let column = 0; column < OUTPUT_COLUMNS; column++)
      job.scores[first + column] = scores[offset + column]!; // within a row of the output
    if (floats === undefined || quality === undefined || explainSettings === undefined) return;
    const row = { scores, offset, floats, unmeasured };
    job.explanations[index] = JSON.stringify(explanationOf(row, quality, explainSettings));
  }

  failed(cause: 'expired' | 'fault'): void {
    this.refused(cause === 'expired' ? PROBLEMS.overloaded : PROBLEMS.internal);
  }

  refused({ status, detail }: RowProblem): void {
    this.onDone?.(undefined);
    this.job.refuse(this.index, { status, detail });
  }
}

/** What scores rows: the service's scorer, with or without an explanation of each. */
export interface RowScorer {
  /** Whether the quality of each row is needed. */
  readonly explainsEach?: boolean;
  /** The model's constants for measurements; undefined if it takes none. */
  readonly constants?: MeasuringConstants | undefined;
  admit(request: PredictionRequest, place: RowPlace): AdmitOutcome;
}

/** With a full queue all workers have batches for longer; asking in each turn of the loop would burn a processor. */
const ROOM_MS = 1;

/** Sends a row to the scorer. @returns what to await if there is no room yet; until then the request has to stay */
export function sent(
  scorer: RowScorer,
  request: PredictionRequest,
  place: RowPlace,
): Promise<void> | undefined {
  return scorer.admit(request, place) === 'saturated' ? sentLater(scorer, request, place) : undefined;
}

async function sentLater(scorer: RowScorer, request: PredictionRequest, place: RowPlace): Promise<void> {
  do await sleep(ROOM_MS);
  while (scorer.admit(request, place) === 'saturated');
}
