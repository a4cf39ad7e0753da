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
import { LineSplitter } from './lineSplitter.js';
import type { Histories } from './histories.js';

const KIND = 'acuity histories';
const FORMAT = 3;
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
  /** The inputs whose sessions it covers, by name, with the marks of their content. */
  readonly inputs: Map<string, string> = new Map();
  private readonly path: string;
  private release: (() => Promise<void>) | undefined;

  constructor(
    path: string,
    private readonly histories: Histories,
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
    if (!reading.isEnded) throw this.damaged('is cut short');
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
      for (const { person, history } of this.histories.entries()) {
        text += `${JSON.stringify([person, history])}\n`;
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
    const { kind, format, inputs } = head as Record<string, unknown>;
    if (kind !== KIND) throw new StateError(`${this.path} is no state file: name another one`);
    if (format !== FORMAT) {
      throw new StateError(
        `${this.path} was written by another version: go on with that one, or remove the state and its scores to begin again`,
      );
    }
    if (!Array.isArray(inputs)) return false;
    for (const [name, mark] of inputs as [unknown, unknown][]) this.inputs.set(String(name), String(mark));
    return true;
  }

  private loadPerson([person, history, ...more]: readonly unknown[]): boolean {
    if (typeof person !== 'string' || typeof history !== 'string' || more.length > 0) return false;
    return this.histories.load({ person, history });
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

function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
