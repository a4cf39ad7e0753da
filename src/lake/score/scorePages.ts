/** The way of pages through the scorer, in the order of the input. */
import { UNPROCESSABLE } from '../../contract/problems.js';
import { Job, RowPlace, sent, type RowScorer } from './job.js';
import type { RowProblem } from '../errors.js';
import { type Page } from '../input/page.js';
import type { PersonOrder } from './personOrder.js';

/** Receives scored pages in the order of the input. */
export interface PageSink {
  /** Resolves once there is room for more. */
  write(job: Job): Promise<void>;
  /** Writes the rest, where there may be one; does not close the destination. */
  end?(): Promise<void>;
}

/** Progress of a run. */
export class RowTally {
  /** Rows written: scores and errors. */
  lines = 0;
  badLines = 0;
  /** Measurements that came too late to count. */
  ignored = 0;
  /** Number of the first bad row in its file; 0 for none. */
  firstBadLine = 0;
  /** Bytes of the inputs: of lines as they are read, of tables when they are done; NaN for a query. */
  bytes = 0;

  /** Counts a page that is written. */
  add({ page, badRows, measured }: Job): void {
    this.lines += page.rows;
    this.badLines += badRows.length;
    for (const { ignored } of measured.values()) this.ignored += ignored.length;
    const [[first] = []] = badRows;
    if (first !== undefined) this.firstBadLine ||= page.numberOf(first);
  }
}

/** Most rows read and not yet written. */
const ROWS_MAX = 4_096;
/** More with history: if the nights of a person are adjacent, many people must be in progress at once. */
const HISTORY_ROWS_MAX = 32_768;

/**
 * Scores the rows of `pages`, with the past of their person by `personOrder`, and writes each page in the same order.
 *
 *   pages ─► row ─► [person order] ─► scorer ─┐
 *             │                               ▼
 *             └─ problem ─► page whole ─► in order ─► write
 *
 * Reading stops while too many rows are under way.
 * @throws what `pages` or `write` throws, once the pages before are written
 */
export async function scorePages(
  pages: AsyncIterable<Page>,
  write: PageSink['write'],
  scorer: RowScorer,
  personOrder: PersonOrder | undefined,
): Promise<void> {
  const rowsMax = personOrder === undefined ? ROWS_MAX : HISTORY_ROWS_MAX;
  /** Pages not yet written, oldest first. */
  const queue: Promise<void>[] = [];
  const underWay = { rows: 0 };
  let last: Promise<void> = Promise.resolve();
  const writeInOrder = async (before: Promise<void>, job: Job): Promise<void> => {
    await before;
    await job.whole;
    await write(job);
    queue.shift();
    underWay.rows -= job.page.rows;
  };
  try {
    for await (const page of pages) {
      // A page larger than `rowsMax` goes alone.
      while (underWay.rows > 0 && underWay.rows + page.rows > rowsMax) await queue[0];
      const job = new Job(page, personOrder !== undefined);
      underWay.rows += page.rows;
      try {
        for (let row = 0; row < page.rows; row++) {
          const waiting = start(job, row, scorer, personOrder);
          if (waiting !== undefined) await waiting;
        }
      } finally {
        page.close();
      }
      last = writeInOrder(last, job);
      last.catch(() => undefined); // awaited below
      queue.push(last);
    }
  } finally {
    await last;
  }
}

/** Reads a row and submits it. @returns what to await before reading the next row */
function start(
  job: Job,
  row: number,
  scorer: RowScorer,
  personOrder: PersonOrder | undefined,
): Promise<void> | undefined {
  const { page } = job;
  const request = page.read(row);
  if ('status' in request) return void job.refuse(row, request);
  if (personOrder === undefined) return sent(scorer, request, new RowPlace(job, row));
  if (request.pastCount > 0 || request.history !== undefined) return void job.refuse(row, PAST_BESIDE_PERSON);
  const given = page.measured(row);
  if ('status' in given) return void job.refuse(row, given);
  const detail = personOrder.take(job, row, request, given);
  if (detail !== undefined) job.refuse(row, { status: UNPROCESSABLE.status, detail });
  return undefined;
}

const PAST_BESIDE_PERSON: RowProblem = {
  status: UNPROCESSABLE.status,
  detail: 'past_sessions or a history of its own in a row whose past comes from --person',
};
