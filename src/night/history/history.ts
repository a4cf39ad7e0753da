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

  constructor(memory: ArrayBuffer) {
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

  /** Moves the sessions from index `from` on. */
  private move(from: number, to: number): void {
    const { days, records, targets, chances, count } = this;
    if (from === count) return;
    days.copyWithin(to, from, count);
    records.copyWithin(to * RECORD_LENGTH, from * RECORD_LENGTH, count * RECORD_LENGTH);
    targets.copyWithin(to * TARGET_LENGTH, from * TARGET_LENGTH, count * TARGET_LENGTH);
    chances.copyWithin(to * LABELS, from * LABELS, count * LABELS);
  }
}

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
const LABELS = LABEL_FIELDS.length;

/** One more than a past: if the newest session is scored again, the same ones are still before it. */
export const HISTORY_SESSIONS = PAST_MAX + 1;
