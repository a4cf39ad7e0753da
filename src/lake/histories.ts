import { PAST_MAX } from '#rules/fields.js';
import { OperatorError } from '../base/operatorError.js';
import { HISTORY_BYTES_MAX, UNMEASURED_BYTES_MAX, type SessionScores } from '../history/form.js';
import { HistoryDesk, type Measuring } from '../history/historyDesk.js';
import type { NextHistory } from '../history/nextHistory.js';
import { textWithChecksum } from '../history/text.js';
import type { Thresholds } from '../pipeline/respond.js';
import { LAYOUT } from '../records/layout.js';
import type { PredictionRequest } from '../records/request.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };
const PEOPLE_PER_SLAB = 1024;

/** More people than the memory reserved. */
export class TooManyPeopleError extends OperatorError {
  override readonly name = 'TooManyPeopleError';
}

/** A session ready to be scored. */
export interface ReadySession {
  /** Valid until the next one is made ready. */
  readonly request: PredictionRequest;
  readonly next: NextHistory;
}

/** A row to be scored with its person's history. */
export interface RowOfPerson {
  /** Days since 1970. */
  readonly night: number;
  readonly record: Float64Array;
  readonly measuring: Measuring;
}

/** A person's entry in a state file. */
export interface SavedPerson {
  readonly person: string;
  readonly history: string;
}

/** Each person's history, as the bytes that the service returns as text. */
export class Histories {
  private readonly people = new Map<string, number>();
  private readonly slabs: Uint8Array[] = [];
  /** The part of a history that does not fit its slab, as with many measurements; few people have one. */
  private readonly rests = new Map<number, Uint8Array>();
  private readonly whole = new Uint8Array(HISTORY_BYTES_MAX);
  /** Whether any history has measurements. */
  areMeasured = false;
  /** Bytes of each person's history; 0 if there is none. */
  private lengths = new Uint16Array(PEOPLE_PER_SLAB);
  private latestNights = new Float64Array(PEOPLE_PER_SLAB);
  private readonly desk = new HistoryDesk();
  private readonly records = new Float64Array((1 + PAST_MAX) * RECORD_LENGTH);
  private readonly targets = new Float64Array(PAST_MAX * TARGET_LENGTH);
  /** Indexed by number of past sessions. */
  private readonly requests: readonly Mutable<PredictionRequest>[];

  constructor(private readonly peopleMax: number) {
    this.requests = Array.from({ length: 1 + PAST_MAX }, (_, pastCount) => ({
      records: this.records.subarray(0, (1 + pastCount) * RECORD_LENGTH),
      targets: this.targets.subarray(0, pastCount * TARGET_LENGTH),
      pastCount,
    }));
  }

  get size(): number {
    return this.people.size;
  }

  /** The index of a person, new if unknown. @throws TooManyPeopleError */
  indexOf(person: string): number {
    const known = this.people.get(person);
    if (known !== undefined) return known;
    const index = this.people.size;
    if (index === this.peopleMax) {
      throw new TooManyPeopleError(
        `more than ${this.peopleMax} people; the history of each takes ${KILOBYTES_A_PERSON} KB of memory: raise --people-max, or score parts of the people one after the other`,
      );
    }
    if (index % PEOPLE_PER_SLAB === 0) this.addSlab();
    this.people.set(person, index);
    return index;
  }

  /** The latest night of a person, in days since 1970; −Infinity if none is dated. */
  latest(person: number): number {
    const latest = this.latestNights[person];
    return latest === undefined || this.lengths[person] === 0 || Number.isNaN(latest) ? -Infinity : latest;
  }

  /** Places a session of `night` in the person's history, and returns it with its past. */
  ready(person: number, { night, record, measuring }: RowOfPerson): ReadySession {
    const { desk, records, targets } = this;
    const length = this.lengths[person] ?? 0;
    if (length === 0) desk.clear();
    else desk.load(this.bytesOf(person, length));
    records.set(record);
    const { pastCount, next, usual } = desk.take(records, targets, night, measuring);
    const request = this.requests[pastCount]!;
    request.usual = usual;
    request.adjustments = next.adjustments;
    return { request, next };
  }

  /** Stores the history that resulted from a session of `night`, with the network's output for it. */
  add(person: number, night: number, next: NextHistory, row: SessionScores, thresholds: Thresholds): void {
    this.store(person, next.bytes(row, thresholds), Math.max(night, this.latest(person)));
  }

  /** Stores the history of a new person; false if the text is damaged, or the person is known. */
  load({ person, history }: SavedPerson): boolean {
    const { desk } = this;
    if (!desk.read(history) || this.people.has(person)) return false;
    this.store(this.indexOf(person), desk.encoded(), desk.history.latestDay);
    return true;
  }

  /** Every person with stored data. */
  *entries(): Generator<SavedPerson> {
    for (const [person, index] of this.people) {
      const length = this.lengths[index] ?? 0;
      if (length === 0) continue;
      const history = textWithChecksum(this.bytesOf(index, length));
      yield { person, history };
    }
  }

  private store(person: number, bytes: Uint8Array, latestNight: number): void {
    this.slot(person).set(bytes.subarray(0, UNMEASURED_BYTES_MAX));
    if (bytes.length > UNMEASURED_BYTES_MAX) this.rests.set(person, bytes.slice(UNMEASURED_BYTES_MAX));
    else this.rests.delete(person);
    this.areMeasured ||= bytes.at(-1) !== 0; // their mask
    this.lengths[person] = bytes.length;
    this.latestNights[person] = latestNight;
  }

  /** The bytes of a person's history, valid until the next call. */
  private bytesOf(person: number, length: number): Uint8Array {
    const rest = this.rests.get(person);
    if (rest === undefined) return this.slot(person).subarray(0, length);
    this.whole.set(this.slot(person));
    this.whole.set(rest, UNMEASURED_BYTES_MAX);
    return this.whole.subarray(0, length);
  }

  private slot(person: number): Uint8Array {
    const first = (person % PEOPLE_PER_SLAB) * UNMEASURED_BYTES_MAX;
    return this.slabs[Math.floor(person / PEOPLE_PER_SLAB)]!.subarray(first, first + UNMEASURED_BYTES_MAX);
  }

  private addSlab(): void {
    this.slabs.push(new Uint8Array(PEOPLE_PER_SLAB * UNMEASURED_BYTES_MAX));
    if (this.slabs.length * PEOPLE_PER_SLAB <= this.lengths.length) return;
    const { lengths, latestNights } = this;
    this.lengths = new Uint16Array(2 * lengths.length);
    this.lengths.set(lengths);
    this.latestNights = new Float64Array(2 * latestNights.length);
    this.latestNights.set(latestNights);
  }
}

const KILOBYTES_A_PERSON = (UNMEASURED_BYTES_MAX / 1000).toFixed(1);
