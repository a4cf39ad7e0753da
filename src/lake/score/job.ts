import { setTimeout as sleep } from 'node:timers/promises';
import { PROBLEMS } from '../../contract/problems.js';
import { OUTPUT_COLUMNS } from '../../model/tensors.js';
import { SERIES_FIELDS } from '#rules/fields.js';
import { LAYOUT } from '../../night/layout.js';
import { explanationOf, type ExplainedRow } from '../../night/explained/explanation.js';
import { adjustedRow } from '../../night/measuredRow.js';
import { qualityOf, type QualifiedRequest, type Quality } from '../../night/quality.js';
import type { GivenMeasurement, HistoryToCome, PredictionRequest } from '../../night/request.js';
import type { AdmitOutcome, ScoredRow, ScoreHandler, ScoringModel, Timing } from '../../score/scorer.js';
import type { RowProblem } from '../errors.js';
import type { Page } from '../input/page.js';

/** A page being scored, with what is known of each row so far. */
export class Job {
  /** Row i is `scores[i · OUTPUT_COLUMNS …]`: the network's output, moved by measurements. */
  readonly scores: Float32Array;
  /** The model's time for each row, in milliseconds. */
  readonly inferMs: Float32Array;
  readonly problems = new Map<number, RowProblem>();
  /** The network's output for rows moved by measurements. */
  readonly unmeasured = new Map<number, Float32Array>();
  /** The fate of the measurements of a row, if there is something to tell. */
  readonly measured = new Map<number, Pick<HistoryToCome, 'tests' | 'ignored'>>();
  /** Explanations as JSON, by row. */
  readonly explanations: string[] = [];
  /** The quality of each row's data, if requested. */
  readonly qualities: Quality[] = [];
  /** Empty without history. */
  readonly ofPeople: PersonRows;
  /** Rows with neither scores nor a problem yet. */
  private left: number;
  /** Resolves when every row has scores or a problem. */
  readonly whole: Promise<void>;
  private resolve = (): void => undefined;

  constructor(
    readonly page: Page,
    hasPeople: boolean,
  ) {
    this.left = page.rows;
    this.whole = new Promise((resolve) => {
      this.resolve = resolve;
      if (page.rows === 0) resolve();
    });
    this.scores = new Float32Array(page.rows * OUTPUT_COLUMNS);
    this.inferMs = new Float32Array(page.rows);
    this.ofPeople = personRows(hasPeople ? page.rows : 0);
  }

  /** Rows without scores, in order. */
  get badRows(): readonly (readonly [row: number, problem: RowProblem])[] {
    return [...this.problems].toSorted(([a], [b]) => a - b);
  }

  refuse(row: number, { status, detail }: RowProblem): void {
    this.problems.set(row, { status, detail });
    this.finished();
  }

  finished(): void {
    this.left--;
    if (this.left === 0) this.resolve();
  }
}

/** A person with the past, as the bytes that the service returns as text. */
export interface Person {
  /** Longer than a part of a slab only with many measurements. */
  bytes: Buffer;
  /** Bytes in use of `bytes`; 0 if there is no history yet. */
  length: number;
  /** Where the history after the row under way is written. */
  room: Buffer | undefined;
  /** The latest night read, in days since 1970; −Infinity if none is dated. */
  latest: number;
  /** The row read last, until it is scored: row `lastRow` of this page. */
  lastJob: Job | undefined;
  lastRow: number;
}

/** Rows that wait for their people's rows before them: a column for each thing, and no object for a row. */
function personRows(rows: number) {
  return {
    /** Record i is `records[i · RECORD_LENGTH …]`. */
    records: new Float64Array(rows * LAYOUT.RECORD_LENGTH),
    /** As in `ReadRows`. */
    lengths: new Uint32Array(rows * SERIES_FIELDS.length),
    /** Days since 1970. */
    nights: new Int32Array(rows),
    people: [] as Person[],
    /** The measurements of rows that have any. */
    given: new Map<number, readonly GivenMeasurement[]>(),
    /** The person's next row, which needs this one's scores: row `nextRows[i]` of this page. */
    nextJobs: Array.from({ length: rows }, (): Job | undefined => undefined),
    nextRows: new Int32Array(rows),
  };
}

export type PersonRows = ReturnType<typeof personRows>;

/** Receives the scores of one row. */
export class RowPlace implements ScoreHandler {
  readonly isGone = false;
  /** The resulting history, if the row has one. */
  history: HistoryToCome | undefined;

  constructor(
    readonly job: Job,
    readonly index: number,
    /** Told the network's output for the row, or that it has no scores. */
    private readonly follower?: { done(place: RowPlace, row: ScoredRow | undefined): void },
  ) {}

  scored(row: ScoredRow, { inferMs }: Timing): void {
    const { job, index, history } = this;
    job.inferMs[index] = inferMs;
    if (history !== undefined && history.tests.length + history.ignored.length > 0)
      job.measured.set(index, { tests: history.tests, ignored: history.ignored });
    const adjustments = history?.adjustments;
    if (adjustments === undefined) this.answer(row, row.scores, row.offset);
    else {
      const unmeasured = row.scores.slice(row.offset, row.offset + OUTPUT_COLUMNS);
      job.unmeasured.set(index, unmeasured);
      const moved = adjustedRow(adjustments, unmeasured, 0);
      this.answer(row, moved, 0, { scores: unmeasured, offset: 0, adjustments });
    }
    this.follower?.done(this, row);
    job.finished();
  }

  /** Writes the scores of the row, and their explanation if requested. */
  private answer(
    { model, explanation: floats }: ScoredRow,
    scores: Float32Array,
    offset: number,
    unmeasured?: ExplainedRow['unmeasured'],
  ): void {
    const { job, index } = this;
    const quality = job.qualities[index];
    const { explainSettings } = model;
    const first = index * OUTPUT_COLUMNS;
    for (let column = 0; column < OUTPUT_COLUMNS; column++)
      job.scores[first + column] = scores[offset + column]!; // within a row of the output
    if (floats === undefined || quality === undefined || explainSettings === undefined) return;
    const row = { scores, offset, floats, unmeasured };
    job.explanations[index] = JSON.stringify(explanationOf(row, quality, explainSettings));
  }

  failed(cause: 'expired' | 'fault'): void {
    // No deadline bounds a row: a worker hangs. The process is about to end, and the next run scores the row.
    if (cause === 'expired') return;
    this.follower?.done(this, undefined);
    this.job.refuse(this.index, PROBLEMS.internal);
  }
}

/** Scores rows: the service's scorer, with or without an explanation of each. */
export interface RowScorer {
  readonly model: ScoringModel;
  /** Whether the quality of each row is needed. */
  readonly explainsEach: boolean;
  admit(request: PredictionRequest, place: RowPlace): AdmitOutcome;
}

/** With a full queue all workers have batches for longer; asking in each turn of the loop would burn a processor. */
const ROOM_MS = 1;

/** Sends a row to the scorer. @returns what to await if there is no room yet; until then the request has to stay */
export function sent(
  scorer: RowScorer,
  request: QualifiedRequest,
  place: RowPlace,
): Promise<void> | undefined {
  if (scorer.explainsEach) place.job.qualities[place.index] = qualityOf(request);
  place.history = request.history;
  return scorer.admit(request, place) === 'saturated' ? sentLater(scorer, request, place) : undefined;
}

async function sentLater(scorer: RowScorer, request: PredictionRequest, place: RowPlace): Promise<void> {
  do await sleep(ROOM_MS);
  while (scorer.admit(request, place) === 'saturated');
}
