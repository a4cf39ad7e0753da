import { LABEL_FIELDS } from '#rules/fields.js';
import { LAYOUT } from '../records/layout.js';
import type { PredictionRequest } from '../records/request.js';
import { HistoryForm } from './form.js';
import { History } from './history.js';
import { NextHistory } from './nextHistory.js';
import { makePlace, type Place } from './place.js';
import { bytesOf } from './text.js';

const { RECORD_LENGTH, TARGET_LENGTH, SEX, AGE } = LAYOUT;
const LABELS = LABEL_FIELDS.length;
const YEARS_APART_MAX = 2;

/** A session that has its place: its past, and the history that comes of it. */
export interface TakenSession {
  readonly pastCount: number;
  readonly next: NextHistory;
  /** The usual day before it, as requests have it: holds until the next session; a night that is not kept has none. */
  readonly usual: Float64Array | undefined;
}

/** Takes up sessions with their histories, one after the other: for one thread. */
export class HistoryDesk {
  /** What was read last. */
  readonly history: History = new History();
  private readonly form = new HistoryForm();

  /** Reads the history `text`; false where it is none. */
  read(text: string): boolean {
    const length = bytesOf(text, this.form.bytes);
    return length > 0 && this.form.decode(this.history, length);
  }

  /** Reads a history's bytes, without their checksum; false where they are none. */
  load(bytes: Uint8Array): boolean {
    this.form.bytes.set(bytes);
    return this.form.decode(this.history, bytes.length);
  }

  /** The bytes of what was read or begun, without their checksum; they hold until the next history. */
  encoded(): Uint8Array {
    return this.form.bytes.subarray(0, this.form.encode(this.history));
  }

  /** Begins a history without any past. */
  clear(): void {
    this.history.clear();
  }

  /** Takes over the history that the parser has read to `bytes`. */
  adopt(bytes: Uint8Array): void {
    this.history.adopt(bytes);
  }

  /** Begins a history with the past of `request`, whose sessions have no dates. */
  begin({ records, targets, pastCount }: PredictionRequest): void {
    const { history } = this;
    history.clear();
    history.days.fill(NaN);
    history.chances.fill(NaN);
    history.records.set(records.subarray(RECORD_LENGTH));
    history.targets.set(targets);
    history.count = pastCount;
  }

  /**
   * Gives the first session of `records` its place in what was read or begun, as that of `night` (days since 1970; NaN:
   * undated), and writes its past after it and to `targets`, as of a request. There is room for the longest past.
   */
  take(records: Float64Array, targets: Float64Array, night: number): TakenSession {
    const { history } = this;
    const place = makePlace(history, night);
    const { first, index } = place;
    const pastCount = index - first;
    if (pastCount > 0) {
      records.set(history.records.subarray(first * RECORD_LENGTH, index * RECORD_LENGTH), RECORD_LENGTH);
      targets.set(history.targets.subarray(first * TARGET_LENGTH, index * TARGET_LENGTH));
    }
    if (place.isKept) this.keep(records, index, night);
    const usual = place.isKept ? history.longRun.usual() : undefined;
    return { pastCount, next: this.next(records, place), usual };
  }

  private keep(records: Float64Array, index: number, night: number): void {
    const { history } = this;
    history.days[index] = night;
    for (let at = 0; at < RECORD_LENGTH; at++) history.records[index * RECORD_LENGTH + at] = records[at]!; // the first
    // Told when the session is scored.
    history.targets.fill(0, index * TARGET_LENGTH, (index + 1) * TARGET_LENGTH);
    history.chances.fill(0, index * LABELS, (index + 1) * LABELS);
  }

  private next(records: Float64Array, { index, isKept }: Place): NextHistory {
    const { form, history } = this;
    const length = form.encode(history);
    const session = isKept ? form.sessionAt(index) : undefined;
    return new NextHistory(form.bytes.subarray(0, length), session, this.isOthers(records, index, isKept));
  }

  /** Whether the newest of the other sessions seems to be another person's. */
  private isOthers(records: Float64Array, index: number, isKept: boolean): boolean {
    const { history } = this;
    const newest = history.count - 1;
    const other = (isKept && newest === index ? newest - 1 : newest) * RECORD_LENGTH;
    if (other < 0) return false;
    const sexes = records[SEX]! * history.records[other + SEX]!; // within a record, as below
    const yearsApart = Math.abs(records[AGE]! - history.records[other + AGE]!);
    return sexes < 0 || yearsApart > YEARS_APART_MAX; // neither, where one is not known
  }
}
