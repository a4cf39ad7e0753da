import { LABEL_FIELDS, PAST_MAX } from '#rules/fields.js';
import { LAYOUT } from '../layout.js';
import { LongRun, type Sessions } from './longRun.js';
import { Measurements } from './measurements.js';

/** The content of a history, in the parser's memory: its functions read and write it there. */
export class History implements Sessions {
  private readonly counts: Uint32Array;
  /** The day of each session, since 1970, on which the person woke; NaN if undated. Sessions come oldest first. */
  readonly days: Float64Array;
  readonly records: Float64Array;
  readonly targets: Float64Array;
  readonly chances: Float64Array;
  readonly longRun: LongRun;
  readonly measurements: Measurements = new Measurements();

  constructor(
    memory: ArrayBuffer,
    private readonly functions: HistoryFunctions,
  ) {
    const doubles = (place: number, length: number): Float64Array =>
      new Float64Array(memory, place, LAYOUT.HISTORY_PLACES * length);
    this.counts = new Uint32Array(memory, LAYOUT.HISTORY, 1);
    this.days = doubles(LAYOUT.HISTORY_DAYS, 1);
    this.records = doubles(LAYOUT.HISTORY_RECORDS, RECORD_LENGTH);
    this.targets = doubles(LAYOUT.HISTORY_TARGETS, TARGET_LENGTH);
    this.chances = doubles(LAYOUT.HISTORY_CHANCES, LABELS);
    this.longRun = new LongRun(memory, LAYOUT.HISTORY);
  }

  /** The number of sessions. */
  get count(): number {
    return this.counts[0]!; // one of them
  }

  set count(count: number) {
    this.counts[0] = count;
  }

  /** Forgets everything but the measurements, which describe the person and last. */
  forgetNights(): void {
    this.count = 0;
    this.longRun.clear();
  }

  /** The latest date of a session; NaN if none is dated. */
  get latestDay(): number {
    let latest = NaN;
    for (let index = 0; index < this.count; index++) {
      const day = this.days[index]!; // index < HISTORY_SESSIONS, as below
      if (!(day <= latest) && !Number.isNaN(day)) latest = day;
    }
    return latest;
  }

  /** Moves session `index` into the long run. */
  retire(index: number): void {
    this.longRun.add(this, index);
    this.move(index + 1, index);
    this.count--;
  }

  /** Opens a place before session `index`, to be written. There must be one left. */
  open(index: number): void {
    this.move(index, index + 1);
    this.count++;
  }

  private move(from: number, to: number): void {
    if (from < this.count) this.functions.moveSessions(from, to);
  }
}

/** The functions of the parser for the history at `HISTORY` in its memory. */
export interface HistoryFunctions {
  /**
   * Writes it to `HISTORY_BYTES`, without measurements; returns where it ends. Notes in `TEXTS` where session `noted`
   * begins.
   */
  writeHistory(noted: number): number;
  /** Moves the sessions from index `from` on to index `to`. */
  moveSessions(from: number, to: number): void;
  /** Makes the sessions from `first` up to `index` the request's past, and its own, unscored, session `index` if kept. */
  placeSession(first: number, index: number, isKept: boolean, day: number): void;
}

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
const LABELS = LABEL_FIELDS.length;

/** One more than a past: if the newest session is scored again, the same ones are still before it. */
export const HISTORY_SESSIONS = PAST_MAX + 1;
