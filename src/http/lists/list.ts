import type { Admission } from '../../auth/limits/rateLimiter.js';
import { EXPLAIN_COMMAND } from '../../contract/explanation.js';
import type { RefusalCause } from '../../contract/metrics.js';
import {
  bodyRefusal,
  lineBody,
  problemAnswer,
  type BodyProblem,
  type Refused,
} from '../../contract/problems.js';
import { qualityOf, type Quality } from '../../night/quality.js';
import type { Line } from '../../read/lines.js';
import { isBodyProblem } from '../../read/read.js';
import type { HistoryToCome, ReadRequest } from '../../night/request.js';
import type { LineLane, ScoredRow, ScoreHandler, ScoringModel, Timing } from '../../score/scorer.js';
import { answerBody, type Asked } from '../answerBody.js';
import type { ExchangeRecord } from '../exchangeRecord.js';
import type { Door } from '../door.js';
import { ListAnswers } from './listAnswers.js';
import type { ListAnswer } from '../reply.js';
import type { CountedLines } from './listCount.js';
import { readingTokens } from '../prices.js';

/**
 * A list, from its admission to its last line:
 *
 *   bytes ─► a line at a time, as there is room ─► lane ─► answers, in the order of the lines ─► pieces, as they are read
 */
export class List implements ListTask {
  /** Its last line is answered, or its caller gone. */
  isGone = false;
  private readonly lines: readonly Line[];
  private readonly courses: readonly Course[];
  /** The line that the head counts for: the first that can be scored, else the first. */
  private readonly firstCounted: number;
  private readonly answers: ListAnswers;
  private isRead = false;
  private scoredCount = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly host: ListHost,
    private readonly list: AdmittedList,
  ) {
    const { lines, plain, explained, answer, admittedMs, expiresMs } = list;
    this.lines = lines.found.lines;
    this.answers = new ListAnswers(answer, {
      lines: this.lines.length,
      budget: host.door.options.budget,
      holder: this.holder,
      onWritten: (first, statuses) => this.noteWritten(first, statuses),
      onAll: () => this.endAnswered(),
      onRoom: () => host.wake(),
    });
    const indexes = [...this.lines.keys()];
    this.firstCounted = indexes.find((index) => !lines.unscorable.has(index)) ?? 0;
    const isExplained = (index: number): boolean =>
      explained !== undefined && lines.wantsExplanation[index] === true;
    this.courses = [
      { lane: plain, lines: indexes.filter((index) => !isExplained(index)), at: 0 },
      ...(explained ? [{ lane: explained, lines: indexes.filter(isExplained), at: 0 }] : []),
    ];
    this.timer = setTimeout(() => this.expire(), Math.max(0, expiresMs - admittedMs));
  }

  private get door(): Door {
    return this.host.door;
  }

  get holder(): number {
    return this.list.first.key.keyIndex;
  }

  get expiresMs(): number {
    return this.list.expiresMs;
  }

  /** Reads one more line, if there is room for it. */
  step(): 'more' | 'waits' | 'done' {
    if (this.isGone || this.isRead) return 'done';
    if (this.door.isHung || this.door.options.clock.monotonicMs() >= this.list.expiresMs) {
      this.expire();
      return 'done';
    }
    if (!this.answers.takeRoom()) return 'waits';
    const course = this.courses.find(({ lane, lines, at }) => at < lines.length && lane.hasLineRoom);
    if (course === undefined) return 'waits';
    this.read(course);
    this.endReading();
    return this.isRead ? 'done' : 'more';
  }

  scored(index: number, timing: Timing, body: string): void {
    const { door, list } = this;
    door.served();
    this.scoredCount++;
    door.options.observer.lineScored(list.record, timing);
    this.answers.settle(index, 200, body);
  }

  failed(index: number, cause: 'expired' | 'fault'): void {
    if (cause === 'fault') this.refuse(index, 'internal');
    else this.refuse(index, this.door.isHung ? 'hung' : 'deadline');
  }

  /** The caller hung up. */
  abort(): void {
    if (this.isGone) return;
    this.dropUnread();
    this.refund([...this.lines.keys()].slice(this.answers.written));
    this.door.options.observer.listHungUp(this.list.record, this.lines.length);
    this.end();
  }

  private read(course: Course): void {
    const { door, list } = this;
    const { readRequest, metrics, onFault } = door.options;
    const index = course.lines[course.at++] ?? 0;
    let isAdmitted = false;
    try {
      const line = this.lines[index];
      if (line === undefined) throw new RangeError('no such line');
      const bytes = list.lines.found.bytesOf(line);
      const request = readRequest(bytes, list.model.measured);
      const tokens = readingTokens(request, bytes.length);
      if (tokens > 0) door.spend(list.first, tokens);
      if (isBodyProblem(request)) this.refuseBody(index, request);
      else if (request.explain && course.lane === list.plain) this.refuseBody(index, NO_EXPLANATIONS);
      else {
        metrics.understood(request);
        course.lane.admitLine(request, new ListLine(this, index, request), list.admittedMs);
        isAdmitted = true;
      }
    } catch (error) {
      // A line that can't be read must not affect the others.
      onFault(error, list.record.requestId);
      this.refuse(index, 'internal');
    }
    if (!isAdmitted) course.lane.release(1, this.holder);
  }

  /** The bytes are not needed any more once all lines are read. */
  private endReading(): void {
    if (this.isRead || this.courses.some(({ lines, at }) => at < lines.length)) return;
    this.isRead = true;
    this.list.giveBack();
  }

  /** Lines that no caller waits for any more are not read. */
  private expire(): void {
    if (this.isGone) return;
    const cause = this.door.isHung ? 'hung' : 'deadline';
    for (const { lines, at } of this.courses) for (const index of lines.slice(at)) this.refuse(index, cause);
    this.dropUnread();
  }

  private dropUnread(): void {
    for (const course of this.courses) {
      const unread = course.lines.length - course.at;
      if (unread > 0) course.lane.release(unread, this.holder);
      course.at = course.lines.length;
    }
    this.endReading();
  }

  private refuse(index: number, cause: 'internal' | 'hung' | 'deadline'): void {
    this.settleRefused(index, cause, problemAnswer(cause === 'internal' ? 'internal' : 'overloaded'));
  }

  private refuseBody(index: number, problem: BodyProblem): void {
    if (problem.kind === 'unprocessable') this.door.options.metrics.found(problem.findings);
    this.settleRefused(index, problem.kind, bodyRefusal(problem));
  }

  private settleRefused(index: number, cause: RefusalCause, { status, body }: Refused): void {
    this.door.options.observer.lineRefused(cause);
    this.answers.settle(index, status, lineBody(status, body));
  }

  /** The lines from `first` on were written. Refused ones are given back to the day's quota. */
  private noteWritten(first: number, statuses: Uint16Array): void {
    this.door.options.observer.linesWritten(this.list.record, statuses);
    const refused = [...statuses.keys()].filter((at) => statuses[at] !== 200);
    this.refund(refused.map((at) => first + at));
  }

  /** Gives those of the lines back that were counted for the day. */
  private refund(lines: readonly number[]): void {
    const { list, firstCounted } = this;
    const { rateLimiter } = this.door.options;
    const { unscorable } = list.lines;
    const ofFirst = lines.includes(firstCounted) ? 1 : 0;
    const ofOthers = lines.filter((index) => index !== firstCounted && !unscorable.has(index)).length;
    if (ofFirst > 0) rateLimiter.refund(list.first);
    if (ofOthers > 0) rateLimiter.refund(list.others, ofOthers);
  }

  private endAnswered(): void {
    const sizes = { lines: this.lines.length, scored: this.scoredCount };
    this.door.options.observer.listEnded(this.list.record, sizes);
    this.end();
  }

  private end(): void {
    this.isGone = true;
    clearTimeout(this.timer);
    this.answers.end();
    this.host.forget(this);
  }
}

/** The model in force has no table to explain scores by. */
export const NO_EXPLANATIONS: BodyProblem = {
  kind: 'unprocessable',
  findings: [
    {
      loc: ['body', 'explain'],
      msg: `The model in force has no table to explain its scores by: ${EXPLAIN_COMMAND} makes it`,
      type: 'value_error',
    },
  ],
};

/** Work on a list, done in small steps. */
export interface ListTask {
  /** Does one step. `waits`: nothing to do until the lists are woken. */
  step(): 'more' | 'waits' | 'done';
}

/** The lists of an event loop, as one of them sees them. */
export interface ListHost {
  readonly door: Door;
  /** It may have work. */
  wake(): void;
  /** It has ended. */
  forget(list: List): void;
}

/** A list that was admitted: all its lines have their places. */
export interface AdmittedList {
  readonly record: ExchangeRecord;
  readonly answer: ListAnswer;
  readonly lines: CountedLines;
  readonly model: ScoringModel;
  readonly plain: LineLane;
  /** Undefined if no line is to be explained. */
  readonly explained: LineLane | undefined;
  /** The admissions that the first line which counts for the day, and all others of them, count for. */
  readonly first: Admission;
  readonly others: Admission;
  readonly admittedMs: number;
  /** When its caller, or the service, stops waiting. */
  readonly expiresMs: number;
  /** Gives back the memory of its bytes. */
  readonly giveBack: () => void;
}

/** Lines that go to the same workers, in order. */
interface Course {
  readonly lane: LineLane;
  readonly lines: readonly number[];
  at: number;
}

/** A line that waits for its scores. */
class ListLine implements Asked, ScoreHandler {
  readonly quality: Quality | undefined;
  readonly history: HistoryToCome | undefined;

  constructor(
    private readonly list: List,
    private readonly index: number,
    request: ReadRequest,
  ) {
    this.history = request.history;
    this.quality = request.explain ? qualityOf(request) : undefined;
  }

  get isGone(): boolean {
    return this.list.isGone;
  }

  get expiresMs(): number {
    return this.list.expiresMs;
  }

  get holder(): number {
    return this.list.holder;
  }

  scored(row: ScoredRow, timing: Timing): void {
    this.list.scored(this.index, timing, answerBody(row, timing.inferMs, this));
  }

  failed(cause: 'expired' | 'fault'): void {
    this.list.failed(this.index, cause);
  }
}
