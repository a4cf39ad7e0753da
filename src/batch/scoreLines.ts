import type { Writable } from 'node:stream';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import {
  MALFORMED,
  PROBLEMS,
  UNPROCESSABLE,
  malformedBody,
  problemBody,
  unprocessableBody,
  type BodyProblem,
  type Problem,
} from '../contract/problems.js';
import { isBodyProblem, type RequestReader } from '../pipeline/read.js';
import { respond } from '../pipeline/respond.js';
import type { ScoreHandler, Scorer, ScoringModel, Timing } from '../scoring/scorer.js';
import { LineSplitter, type Line } from './lineSplitter.js';

export interface ScoreLinesOptions {
  readonly readRequest: RequestReader;
  readonly scorer: Pick<Scorer, 'admit'>;
  /** Most lines read and not yet written; at most the scorer's queue. */
  readonly inFlightMax: number;
  /** A longer line is a bad one. */
  readonly lineBytesMax: number;
  /** Kept up to date as lines are written. */
  readonly tally: Tally;
}

/** How far the work has come. */
export interface Tally {
  bytesRead: number;
  /** Lines written: scores and errors. */
  lines: number;
  badLines: number;
  /** Number of the first bad line; 0 while there is none. */
  firstBadLine: number;
}

export function newTally(): Tally {
  return { bytesRead: 0, lines: 0, badLines: 0, firstBadLine: 0 };
}

/**
 * Scores the request in each line of `input` and writes one line for each to `output`, in the same order: the
 * body of a 200, or `{"error":{"line":N,"status":S,"detail":…}}` as the service would have refused it.
 *
 *   input ─► line ─► read ─► scorer ─┐
 *                      │             ▼
 *                      └─ refusal ─► in order ─► output
 *
 * Reading stops while `inFlightMax` lines are under way or `output` is full.
 * @throws Error where `input` or `output` fails, once nothing is under way any more
 */
export async function scoreLines(
  input: AsyncIterable<Uint8Array>,
  output: Writable,
  options: ScoreLinesOptions,
): Promise<void> {
  const queue = new OrderedOutput(output, options);
  const splitter = new LineSplitter(options.lineBytesMax);
  try {
    for await (const chunk of input) {
      options.tally.bytesRead += chunk.length;
      await queue.takeAll(splitter.split(chunk));
    }
    await queue.takeAll(splitter.end());
  } finally {
    await queue.finished();
  }
}

/** The place of one line in the output. */
class Place implements ScoreHandler {
  readonly isGone = false;
  text: string | undefined;
  isBad = false;

  constructor(
    readonly line: number,
    private readonly onReady: () => void,
  ) {}

  scored(scores: Float32Array, offset: number, { inferMs }: Timing, { thresholds }: ScoringModel): void {
    this.ready(respond(scores, offset, inferMs, thresholds));
  }

  failed(cause: 'expired' | 'fault'): void {
    this.failedWith(cause === 'expired' ? PROBLEMS.overloaded : PROBLEMS.internal);
  }

  failedWith(problem: Problem): void {
    this.refused(problem.status, problemBody(problem));
  }

  refusedFor(problem: BodyProblem): void {
    if (problem.kind === 'malformed') this.refused(MALFORMED.status, malformedBody(problem.byte));
    else this.refused(UNPROCESSABLE.status, unprocessableBody(problem.findings));
  }

  /** `body` is the object that the service would have answered with: its fields join the line's own. */
  private refused(status: number, body: string): void {
    this.isBad = true;
    this.ready(`{"error":{"line":${this.line},"status":${status},${body.slice(1)}}`);
  }

  private ready(text: string): void {
    this.text = text;
    this.onReady();
  }
}

/** Lines under way, oldest first; what is ready leaves from the front. */
class OrderedOutput {
  private places: Place[] = [];
  /** Places before this one have left. */
  private front = 0;
  private isFull = false;
  private failure: Error | undefined;
  private flushScheduled = false;
  private wake: (() => void) | undefined;
  private readonly onReady = (): void => this.scheduleFlush();

  constructor(
    private readonly output: Writable,
    private readonly options: ScoreLinesOptions,
  ) {
    output.on('error', (error) => {
      this.failure ??= error;
      this.flush();
    });
    output.on('drain', () => {
      this.isFull = false;
      this.flush();
    });
  }

  async takeAll(lines: Iterable<Line>): Promise<void> {
    for (const line of lines) {
      while (!this.hasRoom()) await this.change();
      if (this.failure !== undefined) throw this.failure;
      await this.take(line);
    }
  }

  /** Resolves when every line taken was written and the output has let go of it. */
  async finished(): Promise<void> {
    while (this.underWay > 0) await this.change();
    if (this.failure !== undefined) throw this.failure;
    await new Promise<void>((resolve, reject) => {
      this.output.write('', (error) => (error ? reject(error) : resolve()));
    });
  }

  private get underWay(): number {
    return this.places.length - this.front;
  }

  private hasRoom(): boolean {
    return this.failure !== undefined || (!this.isFull && this.underWay < this.options.inFlightMax);
  }

  private async take({ number, bytes }: Line): Promise<void> {
    const { readRequest, scorer } = this.options;
    const place = new Place(number, this.onReady);
    this.places.push(place);
    if (bytes === undefined) return place.failedWith(PROBLEMS.bodyTooLarge);
    const request = readRequest(bytes);
    if (isBodyProblem(request)) return place.refusedFor(request);
    // The request holds until the next line is read, and none is read before this one is admitted.
    while (scorer.admit(request, place) === 'saturated') await turnOfTheLoop();
  }

  /** Once for all that became ready in this turn: a batch answers its rows one after the other. */
  private scheduleFlush(): void {
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    queueMicrotask(() => {
      this.flushScheduled = false;
      this.flush();
    });
  }

  private flush(): void {
    if (this.failure === undefined && this.isFull) return;
    let text = '';
    for (;;) {
      const place = this.places[this.front];
      if (place?.text === undefined) break;
      text += place.text + '\n';
      this.count(place);
      this.front++;
    }
    this.forgetLeft();
    // Nothing is written behind a failure; the places are emptied so that the end is reached.
    if (text !== '' && this.failure === undefined) this.isFull = !this.output.write(text);
    this.changed();
  }

  private count({ isBad, line }: Place): void {
    const { tally } = this.options;
    tally.lines++;
    if (!isBad) return;
    tally.badLines++;
    tally.firstBadLine ||= line;
  }

  /** Moves the places to the beginning of the array once as many have left as may be under way. */
  private forgetLeft(): void {
    if (this.front < this.options.inFlightMax && this.front < this.places.length) return;
    this.places = this.places.slice(this.front);
    this.front = 0;
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
