/** The way of pages through the scorer, in the order of the input. */
import { UNPROCESSABLE } from '../../contract/problems.js';
import { Job, RowPlace, sent, type RowScorer } from './job.js';
import { rowProblem, type RowProblem } from '../errors.js';
import { type Page } from '../input/page.js';
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
  /** Rows written: scores and errors. */
  lines: number;
  badLines: number;
  /** Measurements that came too late to count. */
  ignored: number;
  /** Number of the first bad row in its file; 0 for none. */
  firstBadLine: number;
  /** Bytes of the inputs: of lines as they are read, of tables when they are done; NaN for a query. */
  bytes: number;
}

export function newTally(): RowTally {
  return { lines: 0, badLines: 0, ignored: 0, firstBadLine: 0, bytes: 0 };
}

/**
 * Scores the rows of `pages` and writes each page to `sink`, in the same order.
 *
 *   pages ─► row ─► [person order] ─► scorer ─┐
 *             │                               ▼
 *             └─ problem ─► page whole ─► in order ─► sink
 *
 * Reading stops while `rowsMax` rows are under way.
 * @throws what `pages` or `sink` throws, once the pages before are written
 */
export async function scorePages(
  pages: AsyncIterable<Page>,
  sink: PageSink,
  options: ScorePagesOptions,
): Promise<void> {
  /** Pages not yet written, oldest first. */
  const queue: { readonly rows: number; readonly written: Promise<void> }[] = [];
  const underWay = { rows: 0 };
  let last: Promise<void> = Promise.resolve();
  const writeInOrder = async (before: Promise<void>, job: Job): Promise<void> => {
    await before;
    await job.whole;
    await sink.write(job);
    count(job, options);
    queue.shift();
    underWay.rows -= job.page.rows;
  };
  try {
    for await (const page of pages) {
      if (page.rows === 0) continue;
      // A page larger than `rowsMax` goes alone.
      while (underWay.rows > 0 && underWay.rows + page.rows > options.rowsMax) await queue[0]?.written;
      const job = new Job(page, options.personOrder !== undefined);
      underWay.rows += page.rows;
      try {
        for (let row = 0; row < page.rows; row++) {
          const waiting = start(job, row, options);
          if (waiting !== undefined) await waiting;
        }
      } finally {
        page.close();
      }
      last = writeInOrder(last, job);
      last.catch(() => undefined); // awaited below
      queue.push({ rows: page.rows, written: last });
    }
  } finally {
    await last;
  }
}

/** Reads a row and submits it. @returns what to await before reading the next row */
function start(job: Job, row: number, { scorer, personOrder }: ScorePagesOptions): Promise<void> | undefined {
  const { page } = job;
  const request = page.read(row);
  if ('status' in request) return void job.refuse(row, request);
  if ('kind' in request) return void job.refuse(row, rowProblem(request));
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

function count({ page, problems, measured }: Job, { tally, onBad }: ScorePagesOptions): void {
  tally.lines += page.rows;
  tally.badLines += problems.size;
  for (const { ignored } of measured.values()) tally.ignored += ignored.length;
  for (const [row, problem] of [...problems].toSorted(([a], [b]) => a - b)) {
    tally.firstBadLine ||= page.numberOf(row);
    onBad?.(page.numberOf(row), problem, page.header);
  }
}
