import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { OperatorError } from '../base/operatorError.js';
import { acquireFileLock } from '../files/fileLock.js';
import { NEW_FILE, OWNER_ONLY, partialName, removeDeadPartials } from '../files/partialFile.js';
import { PAST_MAX } from '#rules/fields.js';
import { LineSplitter } from './lineSplitter.js';
import type { Histories } from './histories.js';
import { LAYOUT } from '../records/layout.js';

const { RECORD_LENGTH, TARGET_LENGTH } = LAYOUT;
const KIND = 'acuity histories';
const FORMAT = 2;
/**
 * The format before histories: each person's line has moment, record and scores of each session, and no line marks
 * the end.
 */
const OLDER_FORMAT = 1;
const OLDER_ENTRY = 1 + RECORD_LENGTH + TARGET_LENGTH;
const CHUNK_CHARS = 1 << 20;

/** A state file that can't be used. */
export class StateError extends OperatorError {
  override readonly name = 'StateError';
}

/**
 * Each person's history in a file, so that another run can continue. Its first line lists the inputs it covers, then
 * comes a line for each person, and the last one has a checksum of everything before it. It is health data, readable
 * by its owner only.
 */
export class StateFile {
  /** The inputs whose sessions it covers. */
  readonly inputs: Set<string> = new Set();
  private readonly path: string;
  private release: (() => Promise<void>) | undefined;
  private isOlder = false;

  constructor(
    path: string,
    private readonly histories: Histories,
    private readonly say: (line: string) => void,
  ) {
    // Resolve a link to its file, so that two names of one state share one lock.
    this.path = existsSync(path) ? realpathSync(path) : path;
  }

  /**
   * Locks the state for this run until `close`, and reads it: of two concurrent runs, the later one would overwrite
   * the other's results.
   * @throws FileLockError, StateError
   */
  async open(): Promise<void> {
    const folder = dirname(this.path);
    mkdirSync(folder, { recursive: true }); // may be the output folder, which is created with the first output
    this.release = await acquireFileLock(`${this.path}.lock`, 0);
    removeDeadPartials(folder);
    await this.load();
  }

  async close(): Promise<void> {
    const { release } = this;
    this.release = undefined;
    await release?.();
  }

  /** Reads what another run left; nothing if there is no file yet. @throws StateError */
  async load(): Promise<void> {
    if (!existsSync(this.path)) return;
    const reading = { number: 0, checksum: 0, isEnded: false };
    const splitter = new LineSplitter(Infinity);
    for await (const chunk of createReadStream(this.path)) {
      for (const { bytes } of splitter.split(chunk as Uint8Array)) this.loadLine(bytes, reading);
    }
    for (const { bytes } of splitter.end()) this.loadLine(bytes, reading);
    if (reading.number === 0) throw this.damaged('is empty');
    if (this.isOlder) {
      this.say(`${this.path}: of an older version; the past of ${this.histories.size} people is moved over`);
    } else if (!reading.isEnded) throw this.damaged('is cut short');
  }

  /** Replaces the whole file: a crash leaves the old or the new one. */
  save(): void {
    const partial = partialName(this.path);
    try {
      this.write(partial);
      renameSync(partial, this.path);
    } catch (error) {
      rmSync(partial, { force: true });
      throw error;
    }
  }

  private write(path: string): void {
    const file = openSync(path, NEW_FILE, OWNER_ONLY);
    try {
      let checksum = 0;
      const write = (text: string): void => {
        const bytes = Buffer.from(text);
        checksum = crc32(bytes, checksum);
        writeAll(file, bytes);
      };
      let text = `${JSON.stringify({ kind: KIND, format: FORMAT, inputs: [...this.inputs] })}\n`;
      for (const { person, history, moments } of this.histories.entries()) {
        text += `${JSON.stringify(moments === undefined ? [person, history] : [person, history, moments])}\n`;
        if (text.length < CHUNK_CHARS) continue;
        write(text);
        text = '';
      }
      write(text);
      writeAll(file, Buffer.from(`${JSON.stringify({ checksum })}\n`));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  private loadLine(bytes: Uint8Array = NOTHING, reading: Reading): void {
    reading.number++;
    const what = `is damaged in line ${reading.number}`;
    let isGood = false;
    try {
      const line: unknown = JSON.parse(Buffer.from(bytes).toString());
      if (reading.number === 1) isGood = this.loadHead(line);
      else if (!reading.isEnded) isGood = Array.isArray(line) ? this.loadPerson(line) : isEnd(line, reading);
    } catch (error) {
      if (error instanceof OperatorError) throw error;
    }
    if (!isGood) throw this.damaged(what);
    reading.checksum = crc32(LINE_FEED, crc32(bytes, reading.checksum));
  }

  private loadHead(head: unknown): boolean {
    const { kind, format, record, inputs } = head as Record<string, unknown>;
    if (kind !== KIND) throw new StateError(`${this.path} is no state file: name another one`);
    this.isOlder = format === OLDER_FORMAT && record === RECORD_LENGTH;
    if (format !== FORMAT && !this.isOlder) {
      throw new StateError(
        `${this.path} was written by another version: go on with that one, or remove the state and its scores to begin again`,
      );
    }
    if (!Array.isArray(inputs)) return false;
    for (const input of inputs) this.inputs.add(String(input));
    return true;
  }

  private loadPerson([person, ...values]: readonly unknown[]): boolean {
    if (typeof person !== 'string') return false;
    if (this.isOlder) return this.loadOlderPerson(person, values as (number | null)[]);
    const [history, moments] = values;
    if (typeof history !== 'string' || values.length > 2) return false;
    return (
      (moments === undefined || isAscending(moments)) && this.histories.load({ person, history, moments })
    );
  }

  private loadOlderPerson(person: string, numbers: readonly (number | null)[]): boolean {
    const pastCount = numbers.length / OLDER_ENTRY;
    if (!Number.isInteger(pastCount) || pastCount > PAST_MAX) return false;
    const values = Float64Array.from(numbers, (value) => value ?? NaN); // null means missing
    const records = new Float64Array((1 + PAST_MAX) * RECORD_LENGTH);
    const targets = new Float64Array(PAST_MAX * TARGET_LENGTH);
    const moments = Array.from({ length: pastCount }, (_, index) => values[index * OLDER_ENTRY] ?? NaN);
    for (let index = 0; index < pastCount; index++) {
      const entry = values.subarray(index * OLDER_ENTRY + 1, (index + 1) * OLDER_ENTRY);
      records.set(entry.subarray(0, RECORD_LENGTH), (1 + index) * RECORD_LENGTH);
      targets.set(entry.subarray(RECORD_LENGTH), index * TARGET_LENGTH);
    }
    return isAscending(moments) && this.histories.loadOlder(person, { records, targets, pastCount }, moments);
  }

  private damaged(what: string): StateError {
    return new StateError(
      `${this.path} ${what}, and no state that can be gone on with: bring back a copy of it, or remove it and its scores to begin again`,
    );
  }
}

/** How far a state was read. */
interface Reading {
  number: number;
  /** CRC-32 of the lines so far. */
  checksum: number;
  isEnded: boolean;
}

const NOTHING = new Uint8Array();
const LINE_FEED = Buffer.from('\n');

function isEnd(line: unknown, reading: Reading): boolean {
  reading.isEnded = true;
  return (line as { readonly checksum?: unknown }).checksum === reading.checksum;
}

function isAscending(moments: unknown): moments is number[] {
  return (
    Array.isArray(moments) &&
    moments.every((moment, index) => Number.isFinite(moment) && (index === 0 || moment > moments[index - 1]))
  );
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
