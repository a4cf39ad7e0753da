/** The WebAssembly parser (`assembly/`) as it is compiled: its functions, and how one instance is made. */
import { readFileSync } from 'node:fs';
import type { HistoryFunctions } from '../night/history/history.js';

/** The functions of the parser, and its memory. */
export interface ParserExports extends HistoryFunctions {
  readonly memory: WebAssembly.Memory;
  /** Lays out the memory; returns the offset for a request's bytes. */
  initialise(daySamplesMax: number, nightSamplesMax: number): number;
  /** The number of past sessions, or −1 or `DEFERRED_RECORDING` if the exact path must read the body. */
  read(input: number, length: number): number;
  /** Notes, in the next body that is read, the fields that the table names: see `assembly/kept.ts`. */
  keepFields(table: number, count: number): void;
  /**
   * Makes the bytes at `input` the text for all functions below, as `read` does; all positions are byte
   * offsets in the memory.
   */
  openText(input: number, length: number): void;
  isWithinBounds(levelsMax: number, bracketsMax: number, stringsMax: number): number;
  scalarCount(): number;
  /** Where the text stops being JSON, or −1; only for a text within the bounds. */
  firstBadByte(): number;
  /** The functions from here on need valid JSON, and write to `OUTLINE`. */
  outlineBody(): void;
  outlineFields(place: number, kind: number): number;
  outlineElements(place: number, most: number): number;
  numberAt(place: number): number;
  /** Decodes the array at `place` as samples; returns its length, or −1 if it is too long. */
  decodeSeries(place: number, samplesMax: number): number;
  /** Summarises the `length` samples at byte `samples` into the summary at byte `summary`. */
  summarise(samples: number, length: number, isHeart: boolean, summary: number): number;
  /** Reads the text of a history, or its bytes at `HISTORY_BYTES`, to `HISTORY`; 0 if it is not one. */
  readHistory(start: number, end: number): number;
  readHistoryBytes(end: number): number;
  /** Columns of a table, at offsets after the input: see `assembly/lists.ts`. */
  summariseLists(
    rows: number,
    values: number,
    starts: number,
    lengths: number,
    isHeart: boolean,
    records: number,
    summary: number,
    marks: number,
  ): void;
  markDoubtful(rows: number, records: number, marks: number): void;
}

const module = new WebAssembly.Module(readFileSync(new URL('./parser.wasm', import.meta.url)));

/** A new instance. `numberOf`: the value of the number between two offsets, for the few that the parser can't decide. */
export function instantiate(numberOf: (start: number, end: number) => number): ParserExports {
  const abort = (): never => {
    throw new Error('the parser met an impossible state');
  };
  const { exports } = new WebAssembly.Instance(module, { env: { abort, numberOf } });
  return exports as unknown as ParserExports;
}
