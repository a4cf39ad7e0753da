import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { PredictionRequest } from '../records/request.js';
import { UNPROCESSABLE } from '../contract/problems.js';
import { qualityOf } from '../pipeline/quality.js';
import type { RowScorer } from './rowScorer.js';
import { Job, RowPlace } from './job.js';
import type { Page } from './page.js';
import { rowProblem, type RowProblem } from './rowProblem.js';
import type { PersonOrder } from './personOrder.js';

/** Receives scored pages in the order of the input. */
export interface PageSink {
  /** Resolves once there is room for more. */
  write(job: Job): Promise<void>;
}

export interface ScorePagesOptions {
  readonly scorer: RowScorer;
  /** Most rows read and not yet written. */
  readonly rowsMax: number;
  /** Updated as rows are written. */
  readonly tally: RowTally;
  /** Called with each row without scores, in order. */
  readonly onBad?: (row: number, problem: RowProblem, header: Page['header']) => void;
  /** Gives rows the past of their person. */
  readonly personOrder?: PersonOrder | undefined;
}

/** Progress of the run. */
export interface RowTally {
  bytesRead: number;
  /** Rows written: scores and errors. */
  lines: number;
  badLines: number;
  /** Measurements that came too late to count. */
  ignored: number;
  /** Number of the first bad row in its file; 0 for none. */
  firstBadLine: number;
}

export function newTally(): RowTally {
  return { bytesRead: 0, lines: 0, badLines: 0, ignored: 0, firstBadLine: 0 };
}

/**
 * Scores the rows of `pages` and writes each page to `sink`, in the same order.
 *
 *   pages ─► row ─► [person order] ─► scorer ─┐
 *             │                               ▼
 *             └─ problem ─► page whole ─► in order ─► sink
 *
 * Reading stops while `rowsMax` rows are under way.
 * @throws what `pages` or `sink` throws, once nothing is under way any more
 */
export async function scorePages(
  pages: AsyncIterable<Page>,
  sink: PageSink,
  options: ScorePagesOptions,
): Promise<void> {
  const queue = new OrderedPages(sink, options);
  try {
    for await (const page of pages) await queue.take(page);
  } finally {
    await queue.finished();
  }
}

const PAST_BESIDE_PERSON: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'past_sessions or a history of its own in a row whose past comes from --person',
};

/** Pages in progress, oldest first; complete ones leave from the front. */
class OrderedPages {
  private readonly jobs: Job[] = [];
  private rowsUnderWay = 0;
  private failure: { readonly error: unknown } | undefined;
  private isWriting = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly sink: PageSink,
    private readonly options: ScorePagesOptions,
  ) {}

  async take(page: Page): Promise<void> {
    if (page.rows === 0) return;
    const job = new Job(page, this.options.personOrder !== undefined, () => this.write());
    while (this.failure === undefined && this.rowsUnderWay > 0 && !this.hasRoomFor(page.rows)) {
      await this.change();
    }
    if (this.failure !== undefined) throw this.failure.error;
    this.jobs.push(job);
    this.rowsUnderWay += page.rows;
    let row = 0;
    try {
      for (; row < page.rows; row++) {
        const waiting = this.start(job, row);
        if (waiting !== undefined) await waiting;
      }
    } catch (error) {
      // The rows after it are not read: the pages before this one are written, and nothing of this one.
      job.isBroken = true;
      for (; row < page.rows; row++) job.finished();
      throw error;
    } finally {
      page.close();
    }
  }

  /** Resolves when every page taken is written. */
  async finished(): Promise<void> {
    while (this.jobs.length > 0) await this.change();
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** A page larger than `rowsMax` goes alone. */
  private hasRoomFor(rows: number): boolean {
    return this.rowsUnderWay + rows <= this.options.rowsMax;
  }

  /** Reads a row and submits it. @returns what to await before reading the next row */
  private start(job: Job, row: number): Promise<void> | undefined {
    const { page } = job;
    const { scorer, personOrder } = this.options;
    const place = new RowPlace(job, row);
    const request = page.read(row);
    if ('status' in request) return void place.refused(request);
    if ('kind' in request) return void place.refused(rowProblem(request));
    if (scorer.explainsEach === true) place.quality = qualityOf(request);
    place.history = request.history;
    if (personOrder === undefined) {
      return scorer.admit(request, place) === 'saturated' ? this.admitLater(request, place) : undefined;
    }
    if (request.pastCount > 0 || request.history !== undefined) return void place.refused(PAST_BESIDE_PERSON);
    const given = page.measured(row);
    if ('status' in given) return void place.refused(given);
    place.record.set(request.records);
    const problem = personOrder.take(place, { person: page.person(row), moment: page.moment(row), given });
    if (problem !== undefined) place.refused({ status: UNPROCESSABLE.status, detail: problem });
    return undefined;
  }

  /** The request is valid until the next row is read, which happens only after this one is admitted. */
  private async admitLater(request: PredictionRequest, place: RowPlace): Promise<void> {
    do await turnOfTheLoop();
    while (this.options.scorer.admit(request, place) === 'saturated');
  }

  private write(): void {
    if (this.isWriting) return;
    this.isWriting = true;
    // Once for all pages completed in this turn: a batch answers its rows one by one.
    queueMicrotask(() => void this.writeWhole());
  }

  private async writeWhole(): Promise<void> {
    for (let job = this.jobs[0]; job?.isComplete === true; job = this.jobs[0]) {
      try {
        if (this.failure === undefined && !job.isBroken) {
          await this.sink.write(job);
          this.count(job);
        }
      } catch (error) {
        this.failure ??= { error };
      }
      this.jobs.shift();
      this.rowsUnderWay -= job.page.rows;
      this.changed();
    }
    this.isWriting = false;
  }

  private count({ page, problems, measured }: Job): void {
    const { tally } = this.options;
    tally.lines += page.rows;
    tally.badLines += problems.size;
    for (const { ignored } of measured.values()) tally.ignored += ignored.length;
    for (const [row, problem] of [...problems].toSorted(([a], [b]) => a - b)) {
      tally.firstBadLine ||= page.numberOf(row);
      this.options.onBad?.(page.numberOf(row), problem, page.header);
    }
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private changed(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }
}
