import { LABEL_FIELDS, PAST_MAX } from '#rules/fields.js';
import { LAYOUT } from '../layout.js';
import { LongRun, type Sessions } from './longRun.js';
import { Measurements } from './measurements.js';

/** The content of a history, in memory that one thread reuses. */
export class History implements Sessions {
  /** Sessions, oldest first. */
  count = 0;
  /** The day of each session, since 1970, on which the person woke; NaN if undated. */
  readonly days: Float64Array;
  readonly records: Float64Array;
  readonly targets: Float64Array;
  readonly chances: Float64Array;
  readonly longRun: LongRun;
  readonly measurements: Measurements = new Measurements();
  private readonly bytes = new Uint8Array(LAYOUT.HISTORY_LENGTH);
  /** The two counts at the start of a history in the parser's memory. */
  private readonly counts = new Uint32Array(this.bytes.buffer, 0, 2);

  constructor() {
    const { buffer } = this.bytes;
    const doubles = (place: number, length: number): Float64Array =>
      new Float64Array(buffer, place - LAYOUT.HISTORY, LAYOUT.HISTORY_PLACES * length);
    this.days = doubles(LAYOUT.HISTORY_DAYS, 1);
    this.records = doubles(LAYOUT.HISTORY_RECORDS, RECORD_LENGTH);
    this.targets = doubles(LAYOUT.HISTORY_TARGETS, TARGET_LENGTH);
    this.chances = doubles(LAYOUT.HISTORY_CHANCES, LABELS);
    this.longRun = new LongRun(buffer);
  }

  /** Copies what the parser has read, except measurements: its memory has the same layout. */
  adopt(bytes: Uint8Array): void {
    this.bytes.set(bytes);
    this.count = this.counts[0]!; // two of them
    this.longRun.nights = this.counts[1]!;
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
