import {
  HISTORY_LENGTH_MAX,
  PAST_MAX,
  REACTIONS,
  SERIES_FIELDS,
  isHeart,
  type SeriesField,
  type SeriesLimits,
} from '#rules/fields.js';
import { STRUCTURE_BOUNDS, type StructureBounds } from '#rules/structure.js';
import { HistoryDesk } from '../night/history/historyDesk.js';
import { dayOf } from '../night/history/night.js';
import type { BodyProblem } from '../contract/problems.js';
import type { MeasuringConstants } from '../night/measuredRow.js';
import { LAYOUT } from '../night/layout.js';
import { SERIES_PLACES, clearRecords, summaryAt } from '../night/places.js';
import type { PredictionRequest, ReadRequest, SessionPlace } from '../night/request.js';
import { instantiate, type ParserExports } from './parserExports.js';

/**
 * One instance of the parser, for one thread, and the only host of its memory. It reads a request of the plain form from
 * its bytes, summarises series, and locates the values of a body for the exact path.
 */
export class WasmParser {
  /** Where `summarise` expects its samples. */
  samples: Float32Array = new Float32Array();
  /** The functions that the exact path calls, see there. */
  readonly exports: ParserExports;
  /** Start and end of each value, in pairs, as noted by the `outline…` functions. */
  outline: Uint32Array = new Uint32Array();
  /** How many elements of the series decoded last can't be samples, and which. */
  misfits: Int32Array = new Int32Array();
  /** The whole memory; bodies lie at its end. */
  bytes: Buffer = Buffer.alloc(0);
  /** For requests with a history; another one once the memory has grown. */
  desk: HistoryDesk;
  /** Start and end of the texts of a history and of its night. */
  private texts: Uint32Array = new Uint32Array();
  private unknown: Int32Array = new Int32Array();
  /** Start and end of each kept field's name and of its value. */
  private keptFields: Uint32Array = new Uint32Array();
  private readonly keptTable: number;
  private summarised: Uint32Array = new Uint32Array();
  private lengths: Uint32Array = new Uint32Array();
  private readonly samplesMax: number;
  /** Length of the body read last. */
  private length = 0;
  /** Bytes of the numbers in it that the host decided. */
  private decided = 0;
  /** Where a body begins in `bytes`. */
  readonly input: number;
  /** Whether `read` deferred the body read last because its current session has a recording. */
  hasRecording = false;
  /** By the number of past sessions: views of the same memory, each as long as its request. */
  private requests: readonly ReusedRequest[];

  /** `keeps`: names of fields of the body itself; `kept` then returns their text. */
  constructor(
    { daySamplesMax, nightSamplesMax }: SeriesLimits,
    private readonly keeps: readonly string[] = [],
  ) {
    this.exports = instantiate((start, end) => {
      this.decided += end - start;
      return Number(this.bytes.toString('latin1', start, end));
    });
    this.desk = this.openDesk();
    this.samplesMax = Math.max(daySamplesMax, nightSamplesMax, REACTIONS.most);
    this.keptTable = this.exports.initialise(daySamplesMax, nightSamplesMax);
    const names = keeps.map((name) => Buffer.from(name));
    this.input = afterNames(this.keptTable, names);
    this.requests = this.makeRoom(PAGE_BYTES);
    this.keepNames(names);
  }

  private keepNames(names: readonly Buffer[]): void {
    let place = this.keptTable + KEPT_ENTRY_BYTES * names.length;
    for (const [index, name] of names.entries()) {
      this.bytes.set(name, place);
      this.keptFields.set([place, place + name.length], KEPT_ENTRY * index);
      place += name.length;
    }
    this.exports.keepFields(this.keptTable, names.length);
  }

  /** The request in `bytes`, or undefined if it is not of the plain form; the bytes are then open. */
  read(bytes: Uint8Array): ReadRequest | undefined {
    this.put(bytes);
    return this.readThere(bytes.length);
  }

  /** The same for the first bytes at `room`, which the caller has written. */
  readThere(length: number): ReadRequest | undefined {
    this.length = length;
    this.decided = 0;
    const outcome = this.exports.read(this.input, length);
    this.hasRecording = outcome === LAYOUT.DEFERRED_RECORDING;
    if (this.requests[outcome] === undefined) return undefined;
    const request = this.written(outcome, this.unknown[0]!, this.unknown[1] === 1); // three cells, as below
    request.isExact = false;
    request.slowNumbers += this.unknown[2]!;
    return this.texts[2 * LAYOUT.HISTORY_TEXT] === 0 ? request : this.readHistory(request);
  }

  private readHistory(request: ReusedRequest): ReadRequest | undefined {
    const [start = 0, end = 0, nightStart = 0, nightEnd = 0] = this.texts;
    const day = nightStart === 0 ? NaN : dayOf(this.bytes.toString('latin1', nightStart, nightEnd));
    if (day === undefined) return undefined;
    if (start === end) this.desk.begin(request);
    else if (request.pastCount > 0 || !this.isAdopted(this.exports.readHistory(start, end))) return undefined;
    request.place = { day, given: NOTHING_MEASURED };
    return request;
  }

  /** Reads a history into the desk; false if the text is none. */
  readHistoryText(text: string): boolean {
    if (text.length > HISTORY_LENGTH_MAX || !HISTORY_LETTERS.test(text)) return false;
    const end = LAYOUT.HISTORY_BYTES + this.bytes.write(text, LAYOUT.HISTORY_BYTES);
    return this.isAdopted(this.exports.readHistory(LAYOUT.HISTORY_BYTES, end));
  }

  /** The same for the first `length` bytes, a history without its checksum. */
  readHistoryBytes(bytes: Uint8Array, length: number): boolean {
    this.bytes.set(bytes, LAYOUT.HISTORY_BYTES);
    return this.isAdopted(this.exports.readHistoryBytes(LAYOUT.HISTORY_BYTES + length));
  }

  private isAdopted(isRead: number): boolean {
    const start = this.texts[2 * LAYOUT.MEASURED_BYTES]!; // of TEXTS_LENGTH, as below
    const end = this.texts[2 * LAYOUT.MEASURED_BYTES + 1]!;
    return isRead !== 0 && this.desk.adopt(start, end);
  }

  /**
   * Adds to `request`, the one read last, the past from the history that the desk has read or begun, and to that what
   * the session brings.
   */
  placed(request: ReadRequest, place: SessionPlace, constants?: MeasuringConstants): ReadRequest {
    const { unknownFields, explain, isExact, slowNumbers } = request; // may be the same object that is written to here
    const { pastCount, next, usual } = this.desk.take(place, constants);
    const taken = this.written(pastCount, unknownFields, explain);
    taken.isExact = isExact;
    taken.slowNumbers = slowNumbers;
    taken.newMeasurements = place.given.length;
    taken.history = next;
    taken.usual = usual;
    taken.adjustments = next.adjustments;
    return taken;
  }

  /**
   * The JSON text of the kept field `name` in the body read last; undefined if it has none. If a name occurs
   * twice, the last one counts.
   */
  kept(name: string): string | undefined {
    const entry = KEPT_ENTRY * this.keeps.indexOf(name);
    const value = this.keptFields[entry + 2] ?? 0;
    return value === 0 ? undefined : this.bytes.toString('utf8', value, this.keptFields[entry + 3]);
  }

  /** A number that the host decides takes as long as a slow one for each two bytes. */
  private get decidedNumbers(): number {
    return Math.ceil(this.decided / 2);
  }

  /** `problem`, with the slow numbers that were read before it was found. */
  priced(problem: BodyProblem): BodyProblem {
    return this.decided === 0 ? problem : { ...problem, slowNumbers: this.decidedNumbers };
  }

  /** Puts `bytes` where the exact path reads them. */
  open(bytes: Uint8Array): void {
    this.put(bytes);
    this.exports.openText(this.input, bytes.length);
  }

  /**
   * Why the open bytes can't be read: 'beyondBounds' if they exceed the bounds of structure, even if they
   * have other faults, or the offset of the first byte that can't continue a JSON text; −1 if they can.
   */
  check(bounds: StructureBounds = STRUCTURE_BOUNDS): number | 'beyondBounds' {
    const { levelsMax, bracketsMax, stringsMax, scalarsMax = Infinity } = bounds;
    const { exports } = this;
    if (exports.isWithinBounds(levelsMax, bracketsMax, stringsMax) === 0) return 'beyondBounds';
    const badByte = exports.firstBadByte();
    const isCounted = badByte < 0 && scalarsMax < Infinity;
    return isCounted && exports.scalarCount() > scalarsMax ? 'beyondBounds' : badByte;
  }

  /** Whether the open bytes contain `text`, anywhere. */
  contains(text: string): boolean {
    return this.bytes.subarray(this.input, this.input + this.length).includes(text);
  }

  /** An empty request to be filled in place: every scalar NaN, every series empty. */
  blank(pastCount: number): PredictionRequest {
    const request = this.written(pastCount, 0);
    this.lengths.fill(0);
    clearRecords(request.records);
    return request;
  }

  /** The request with this many past sessions, as filled since `blank` or by `read`. */
  written(pastCount: number, unknownFields: number, explain = false): ReusedRequest {
    const request = this.requests[pastCount];
    if (request === undefined) throw new RangeError(`${pastCount} past sessions`);
    request.unknownFields = unknownFields;
    request.explain = explain;
    request.isExact = true;
    request.slowNumbers = this.decidedNumbers;
    request.newMeasurements = 0;
    request.place = undefined;
    request.history = undefined;
    request.usual = undefined;
    request.adjustments = undefined;
    return request;
  }

  /** Summarises `values` (plain numbers, no longer than the longest series) into record `session`. */
  summarise(values: ArrayLike<number>, field: SeriesField, session: number): void {
    if (values.length > this.samplesMax) throw new RangeError(`a series of ${values.length} samples`);
    this.samples.set(values);
    this.summariseSamples(values.length, field, session);
  }

  /** Summarises the first `length` of `samples` into record `session`. */
  summariseSamples(length: number, field: SeriesField, session: number): void {
    const summary = LAYOUT.RECORDS + summaryAt(session, field) * FLOAT64_BYTES;
    this.exports.summarise(LAYOUT.SAMPLES, length, isHeart(field), summary);
    this.lengths[session * SERIES_FIELDS.length + SERIES_PLACES[field]] = length;
  }

  /** Whether record `session` already has the summary of the array at `start` of the open bytes. */
  isSummarised(start: number, field: SeriesField, session: number): boolean {
    return this.summarised[session * SERIES_FIELDS.length + SERIES_PLACES[field]] === start;
  }

  /** Writes the summary of a series without samples. */
  clearSummary(field: SeriesField, session: number): void {
    const { records } = this.written(PAST_MAX, 0);
    const summary = summaryAt(session, field);
    records.fill(0, summary, summary + LAYOUT.SUMMARY_LENGTH);
    this.lengths[session * SERIES_FIELDS.length + SERIES_PLACES[field]] = 0;
  }

  /**
   * Reserves this many bytes where otherwise a body lies, and returns their offset. They are valid until the
   * next body is read.
   */
  room(bytes: number): number {
    const end = this.input + bytes;
    if (end + LAYOUT.INPUT_PADDING > this.bytes.length) this.requests = this.makeRoom(bytes);
    return this.input;
  }

  private openDesk(): HistoryDesk {
    return new HistoryDesk(this.exports.memory.buffer, this.exports);
  }

  private put(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.length = bytes.length;
    this.decided = 0;
    this.bytes.set(bytes, this.input);
  }

  /** Grows the memory for an input of `inputBytes`; growing invalidates all views of the memory. */
  private makeRoom(inputBytes: number): ReusedRequest[] {
    const { memory } = this.exports;
    const missing = this.input + inputBytes + LAYOUT.INPUT_PADDING - memory.buffer.byteLength;
    if (missing > 0) {
      memory.grow(Math.ceil(missing / PAGE_BYTES));
      this.desk = this.openDesk();
    }
    this.bytes = Buffer.from(memory.buffer);
    this.samples = new Float32Array(memory.buffer, LAYOUT.SAMPLES, this.samplesMax);
    this.outline = new Uint32Array(memory.buffer, LAYOUT.OUTLINE, 2 * LAYOUT.OUTLINE_LENGTH);
    this.misfits = new Int32Array(memory.buffer, LAYOUT.MISFITS, 1 + LAYOUT.MISFITS_MAX);
    this.keptFields = new Uint32Array(memory.buffer, this.keptTable, KEPT_ENTRY * this.keeps.length);
    this.unknown = new Int32Array(memory.buffer, LAYOUT.UNKNOWN_FIELDS, 3); // EXPLAIN and SLOW_NUMBERS after it
    this.texts = new Uint32Array(memory.buffer, LAYOUT.TEXTS, 2 * LAYOUT.TEXTS_LENGTH);
    const series = (1 + PAST_MAX) * SERIES_FIELDS.length;
    this.summarised = new Uint32Array(memory.buffer, LAYOUT.SUMMARISED, series);
    this.lengths = new Uint32Array(memory.buffer, LAYOUT.LENGTHS, series);
    const lengths = this.lengths.subarray(0, SERIES_FIELDS.length);
    return Array.from({ length: 1 + PAST_MAX }, (_, pastCount) => ({
      records: new Float64Array(memory.buffer, LAYOUT.RECORDS, (1 + pastCount) * LAYOUT.RECORD_LENGTH),
      targets: new Float64Array(memory.buffer, LAYOUT.TARGETS, pastCount * LAYOUT.TARGET_LENGTH),
      pastCount,
      unknownFields: 0,
      explain: false,
      isExact: false,
      slowNumbers: 0,
      newMeasurements: 0,
      place: undefined,
      history: undefined,
      usual: undefined,
      adjustments: undefined,
      lengths,
    }));
  }
}

const PAGE_BYTES = 65_536;
/** Numbers of an entry for a kept field. */
const KEPT_ENTRY = 4;
const KEPT_ENTRY_BYTES = KEPT_ENTRY * Uint32Array.BYTES_PER_ELEMENT;
const FLOAT64_BYTES = Float64Array.BYTES_PER_ELEMENT;

type ReusedRequest = { -readonly [Field in keyof ReadRequest]: ReadRequest[Field] };

/** Others would be cut to a byte, which may be one of these. */
const HISTORY_LETTERS = /^[\w.-]*$/;
const NOTHING_MEASURED: SessionPlace['given'] = [];

/** Where the body may lie: after the table of kept fields and the names. */
function afterNames(table: number, names: readonly Buffer[]): number {
  const bytes = names.reduce((sum, { length }) => sum + length, KEPT_ENTRY_BYTES * names.length);
  return table + Math.ceil(bytes / 16) * 16;
}
