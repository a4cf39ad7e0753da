import { readFileSync } from 'node:fs';
import { PAST_MAX, SERIES_FIELDS, type SeriesField, type SeriesLimits } from '../contract/request.js';

/**
 * The WebAssembly parser (`assembly/`): it reads a request of the plain form from its bytes, and summarises
 * series. This file is its only host.
 */

/** The offsets that `assembly/layout.ts` exports: nothing of the layout is written down twice. */
const LAYOUT_NAMES = [
  'SCALARS',
  'RECORD_LENGTH',
  'SUMMARY_LENGTH',
  'TARGET_LENGTH',
  'RECORDS',
  'TARGETS',
  'SAMPLES',
  'INPUT_PADDING',
  'SLEEP_TIME',
  'DEEP',
  'REM',
  'LIGHT',
  'AWAKE',
  'DEEP_SHARE',
  'REM_SHARE',
  'LIGHT_SHARE',
  'AGE',
  'HEIGHT',
  'WEIGHT',
  'SEX',
  'HR_DAY',
  'RR_DAY',
  'HR_NIGHT',
  'RR_NIGHT',
  'COUNT',
  'IMPLAUSIBLE',
  'LEVEL',
] as const;
type Layout = Readonly<Record<(typeof LAYOUT_NAMES)[number], number>>;

interface ParserExports {
  readonly memory: WebAssembly.Memory;
  /** Lays out the memory; returns where a request is to be put. */
  initialise(daySamplesMax: number, nightSamplesMax: number): number;
  /** The number of past sessions, or −1 where the exact path must look. */
  read(input: number, length: number): number;
  /** Summarises the first `length` samples to the summary at byte `summary`. */
  summarise(length: number, isHeart: boolean, summary: number): void;
}

const module = new WebAssembly.Module(readFileSync(new URL('./parser.wasm', import.meta.url)));

function instantiate(): WebAssembly.Exports {
  const abort = (): never => {
    throw new Error('the parser met an impossible state');
  };
  return new WebAssembly.Instance(module, { env: { abort } }).exports;
}

export const LAYOUT: Layout = Object.freeze(readLayout(instantiate()));

function readLayout(exports: WebAssembly.Exports): Layout {
  const entries = LAYOUT_NAMES.map((name) => {
    const global = exports[name];
    if (!(global instanceof WebAssembly.Global)) throw new Error(`the parser exports no ${name}`);
    return [name, Number(global.value)];
  });
  return Object.fromEntries(entries) as Layout;
}

const SERIES_INDEX: Readonly<Record<SeriesField, number>> = {
  HR_day_1h: LAYOUT.HR_DAY,
  RR_day_1h: LAYOUT.RR_DAY,
  HR_night: LAYOUT.HR_NIGHT,
  RR_night: LAYOUT.RR_NIGHT,
};

const PAGE_BYTES = 65_536;
const FLOAT64_BYTES = Float64Array.BYTES_PER_ELEMENT;

/** From this many implausible samples on, more than half of a series is called a unit error. */
const UNIT_ERROR_SAMPLES_MIN = 3;

/**
 * A request that passed every check: a record of numbers for each session, one after the other. The views are
 * the parser's reused memory: they hold until the next request is read.
 */
export interface PredictionRequest {
  /** Record i is `records[i · RECORD_LENGTH …]`: 0 the current session, then the past ones, oldest first. No more. */
  readonly records: Float64Array;
  /** Target i of past session i + 1 is `targets[i · TARGET_LENGTH …]`. */
  readonly targets: Float64Array;
  /** Past sessions, and as many targets. */
  readonly pastCount: number;
}

/** One instance of the parser, for one thread. */
export class WasmParser {
  /** Where `summarise` expects its samples. */
  samples: Float32Array = new Float32Array();
  private readonly exports: ParserExports;
  private readonly samplesMax: number;
  private readonly input: number;
  private bytes: Uint8Array = new Uint8Array();
  /** By the number of past sessions: views of the same memory, each as long as its request. */
  private requests: readonly PredictionRequest[];

  constructor({ daySamplesMax, nightSamplesMax }: SeriesLimits) {
    this.exports = instantiate() as unknown as ParserExports;
    this.samplesMax = Math.max(daySamplesMax, nightSamplesMax);
    this.input = this.exports.initialise(daySamplesMax, nightSamplesMax);
    this.requests = this.makeRoom(PAGE_BYTES);
  }

  /** The request in `bytes`, or undefined where it is not of the plain form. */
  read(bytes: Uint8Array): PredictionRequest | undefined {
    const end = this.input + bytes.length;
    if (end + LAYOUT.INPUT_PADDING > this.bytes.length) this.requests = this.makeRoom(bytes.length);
    this.bytes.set(bytes, this.input);
    const pastCount = this.exports.read(this.input, bytes.length);
    return this.requests[pastCount];
  }

  /** An empty request to be written by hand: every scalar NaN, every series empty. */
  blank(pastCount: number): PredictionRequest {
    const request = this.requests[pastCount];
    if (request === undefined) throw new RangeError(`${pastCount} past sessions`);
    const { records } = request;
    for (let record = 0; record < records.length; record += LAYOUT.RECORD_LENGTH) {
      records.fill(NaN, record, record + LAYOUT.SCALARS);
      records.fill(0, record + LAYOUT.SCALARS, record + LAYOUT.RECORD_LENGTH);
    }
    return request;
  }

  /** Summarises `values` (plain numbers, no longer than the longest series) into record `session`. */
  summarise(values: ArrayLike<number>, field: SeriesField, session: number): void {
    if (values.length > this.samplesMax) throw new RangeError(`a series of ${values.length} samples`);
    this.samples.set(values);
    const isHeart = field === 'HR_day_1h' || field === 'HR_night';
    const summary = LAYOUT.RECORDS + summaryAt(session, field) * FLOAT64_BYTES;
    this.exports.summarise(values.length, isHeart, summary);
  }

  /** Grows the memory for an input of `inputBytes`; views of a memory end when it grows. */
  private makeRoom(inputBytes: number): PredictionRequest[] {
    const { memory } = this.exports;
    const missing = this.input + inputBytes + LAYOUT.INPUT_PADDING - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.bytes = new Uint8Array(memory.buffer);
    this.samples = new Float32Array(memory.buffer, LAYOUT.SAMPLES, this.samplesMax);
    return Array.from({ length: 1 + PAST_MAX }, (_, pastCount) => ({
      records: new Float64Array(memory.buffer, LAYOUT.RECORDS, (1 + pastCount) * LAYOUT.RECORD_LENGTH),
      targets: new Float64Array(memory.buffer, LAYOUT.TARGETS, pastCount * LAYOUT.TARGET_LENGTH),
      pastCount,
    }));
  }
}

/** Where in `records` the summary of a series begins. */
export function summaryAt(session: number, field: SeriesField): number {
  return session * LAYOUT.RECORD_LENGTH + LAYOUT.SCALARS + SERIES_INDEX[field] * LAYOUT.SUMMARY_LENGTH;
}

/** Most samples of the series lie where no such signal can: another unit, most likely. */
export function isUnitError({ records }: PredictionRequest, session: number, field: SeriesField): boolean {
  const summary = summaryAt(session, field);
  const implausible = records[summary + LAYOUT.IMPLAUSIBLE] ?? 0;
  return implausible >= UNIT_ERROR_SAMPLES_MIN && implausible > (records[summary + LAYOUT.COUNT] ?? 0);
}

export function hasUnitError(request: PredictionRequest): boolean {
  for (let session = 0; session <= request.pastCount; session++) {
    for (const field of SERIES_FIELDS) if (isUnitError(request, session, field)) return true;
  }
  return false;
}
