/** The histories of all people, in memory. */
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { OperatorError } from '../../base/errors.js';
import { CRC_BYTES, HISTORY_BYTES_MAX, UNMEASURED_BYTES_MAX, sealedText } from '../../night/history/form.js';
import type { MeasuringConstants } from '../../night/measuredRow.js';
import { WasmParser } from '../../read/wasmParser.js';
import { LAYOUT } from '../../night/layout.js';
import type { GivenMeasurement, HistoryToCome, ReadRequest } from '../../night/request.js';
import type { ScoredRow } from '../../score/scorer.js';
import type { Person, PersonRows } from './job.js';

const { RECORD_LENGTH } = LAYOUT;
const NOTHING: readonly GivenMeasurement[] = [];
const PEOPLE_PER_SLAB = 1024;

/** A person's entry in a state file. */
export type SavedPerson = readonly [person: string, history: string];

/** Each person's history. */
export class Histories {
  private readonly people = new Map<string, Person>();
  private slab = Buffer.alloc(0);
  private roomsMade = 0;
  /** Rooms that are free. */
  private readonly rooms: Buffer[] = [];
  /** Whether any history has measurements. */
  areMeasured = false;
  private readonly parser = new WasmParser(DEFAULT_SERIES_LIMITS);

  constructor(private readonly peopleMax: number) {}

  get size(): number {
    return this.people.size;
  }

  /** The person of this name, if there is one. */
  known(name: string): Person | undefined {
    return this.people.get(name);
  }

  /** The person of this name, new if unknown. @throws OperatorError */
  of(name: string): Person {
    const known = this.people.get(name);
    if (known !== undefined) return known;
    const index = this.people.size;
    if (index === this.peopleMax) {
      throw new OperatorError(
        `more than ${this.peopleMax} people; the history of each takes ${KILOBYTES_A_PERSON} KB of memory: raise --people-max, or score parts of the people one after the other`,
      );
    }
    const bytes = this.room();
    const person = { bytes, length: 0, room: undefined, latest: -Infinity, lastJob: undefined, lastRow: 0 };
    this.people.set(name, person);
    return person;
  }

  /** Memory for a history without measurements. */
  private room(): Buffer {
    const free = this.rooms.pop();
    if (free !== undefined) return free;
    const first = (this.roomsMade++ % PEOPLE_PER_SLAB) * UNMEASURED_BYTES_MAX;
    if (first === 0) this.slab = Buffer.alloc(PEOPLE_PER_SLAB * UNMEASURED_BYTES_MAX);
    return this.slab.subarray(first, first + UNMEASURED_BYTES_MAX);
  }

  /**
   * Places the session of row `row` in its person's history, and returns it with its past and the resulting history; the
   * request is valid until the next one is made ready.
   */
  ready(rows: PersonRows, row: number, constants: MeasuringConstants | undefined): ReadRequest {
    const { parser } = this;
    const person = rows.people[row]!; // it was taken
    const given = rows.given.get(row) ?? NOTHING;
    if (person.length === 0) parser.desk.clear();
    else parser.readHistoryBytes(person.bytes, person.length - CRC_BYTES);
    const request = parser.written(0, 0);
    // Creating views for each row would cost more.
    for (let place = 0; place < RECORD_LENGTH; place++)
      request.records[place] = rows.records[row * RECORD_LENGTH + place]!; // a record for each row, as below
    for (let place = 0; place < request.lengths.length; place++)
      request.lengths[place] = rows.lengths[row * request.lengths.length + place]!;
    const isMeasured = given.length > 0 || !parser.desk.history.measurements.isEmpty;
    const room = isMeasured ? undefined : (person.room ??= this.room());
    return parser.placed(request, { day: rows.nights[row]!, given, room }, constants);
  }

  /** Stores the history that resulted from a session, with the network's output for it. */
  add(person: Person, next: HistoryToCome, row: ScoredRow): void {
    const bytes = next.bytes(row, row.model.thresholds);
    if (bytes !== person.room) return this.store(person, bytes);
    // One for the other is faster than a copy.
    this.rooms.push(person.bytes);
    person.room = undefined;
    person.bytes = bytes;
    person.length = next.length;
  }

  /** Stores the history of a new person; false if the text is damaged, or the person is known. */
  load([person, history]: SavedPerson): boolean {
    const { desk } = this.parser;
    if (!this.parser.readHistoryText(history) || this.people.has(person)) return false;
    const { latestDay } = desk.history;
    const known = this.of(person);
    if (!Number.isNaN(latestDay)) known.latest = latestDay;
    this.store(known, desk.encoded());
    return true;
  }

  /** Every person with stored data. */
  *entries(): Generator<SavedPerson> {
    for (const [person, { bytes, length }] of this.people)
      if (length > 0) yield [person, sealedText(bytes.subarray(0, length))];
  }

  private store(person: Person, bytes: Uint8Array): void {
    if (bytes.length > person.bytes.length) person.bytes = Buffer.alloc(HISTORY_BYTES_MAX);
    person.bytes.set(bytes);
    person.length = bytes.length;
    this.areMeasured ||= bytes[bytes.length - CRC_BYTES - 1] !== 0; // their mask
  }
}

const KILOBYTES_A_PERSON = (UNMEASURED_BYTES_MAX / 1000).toFixed(1);
