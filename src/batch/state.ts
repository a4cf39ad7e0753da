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
import { createInterface } from 'node:readline';
import { OperatorError } from '../base/operatorError.js';
import { acquireFileLock } from '../files/fileLock.js';
import { NEW_FILE, OWNER_ONLY, partialName, removeDeadPartials } from '../files/partialFile.js';
import { PAST_MAX } from '#rules/fields.js';
import { ENTRY_LENGTH, type Histories } from './histories.js';
import { LAYOUT } from '../records/layout.js';

const { RECORD_LENGTH } = LAYOUT;
const KIND = 'acuity histories';
const FORMAT = 1;
const CHUNK_CHARS = 1 << 20;

/** A state that can't be used. */
export class StateError extends OperatorError {
  override readonly name = 'StateError';
}

/**
 * The latest sessions of each person in a file, so that another run goes on. Its first line says which inputs are in
 * it, then each person has a line: moment, record and scores of each session. It is health data, readable by its owner
 * only.
 */
export class StateFile {
  /** The inputs whose sessions are in it. */
  readonly inputs: Set<string> = new Set();
  private readonly path: string;
  private release: (() => Promise<void>) | undefined;

  constructor(
    path: string,
    private readonly histories: Histories,
  ) {
    // A link is the file that it leads to: two names of one state have one lock.
    this.path = existsSync(path) ? realpathSync(path) : path;
  }

  /**
   * Takes the state for this run until `close`, and reads it: of two runs at once the later one would write over
   * what the other has learned.
   * @throws FileLockError, StateError
   */
  async open(): Promise<void> {
    const folder = dirname(this.path);
    mkdirSync(folder, { recursive: true }); // it may be that of the outputs, which is made with the first of them
    this.release = await acquireFileLock(`${this.path}.lock`, 0);
    removeDeadPartials(folder);
    await this.load();
  }

  async close(): Promise<void> {
    const { release } = this;
    this.release = undefined;
    await release?.();
  }

  /** Reads what another run left; nothing where there is no file yet. @throws StateError */
  async load(): Promise<void> {
    if (!existsSync(this.path)) return;
    const lines = createInterface({ input: createReadStream(this.path), crlfDelay: Infinity });
    let number = 0;
    for await (const line of lines) {
      number++;
      try {
        if (number === 1) this.loadHead(JSON.parse(line));
        else this.loadPerson(JSON.parse(line));
      } catch (error) {
        if (error instanceof OperatorError) throw error;
        throw new StateError(`${this.path}: line ${number} is not what a state file holds`);
      }
    }
    if (number === 0) throw new StateError(`${this.path} is empty: no state file`);
  }

  /** Replaces the file as a whole: a crash leaves the old one or the new one. */
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
      const head = { kind: KIND, format: FORMAT, record: RECORD_LENGTH, inputs: [...this.inputs] };
      let text = `${JSON.stringify(head)}\n`;
      for (const [person, numbers] of this.histories.entries()) {
        text += `${JSON.stringify([person, ...numbers])}\n`; // what is missing is null
        if (text.length < CHUNK_CHARS) continue;
        writeAll(file, text);
        text = '';
      }
      writeAll(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  private loadHead(head: unknown): void {
    const { kind, format, record, inputs } = head as Record<string, unknown>;
    if (kind !== KIND) throw new StateError(`${this.path} is no state file`);
    if (format !== FORMAT || record !== RECORD_LENGTH) {
      throw new StateError(
        `${this.path} was written by another version: score from the beginning, without it`,
      );
    }
    for (const input of inputs as unknown[]) this.inputs.add(String(input));
  }

  private loadPerson(line: unknown): void {
    const [person, ...numbers] = line as [string, ...(number | null)[]];
    const sessions = numbers.length / ENTRY_LENGTH;
    if (typeof person !== 'string' || !Number.isInteger(sessions) || sessions > PAST_MAX) {
      throw new RangeError('not a person');
    }
    const values = Float64Array.from(numbers, (value) => value ?? NaN);
    const index = this.histories.indexOf(person);
    for (let at = 0; at < values.length; at += ENTRY_LENGTH) {
      const entry = values.subarray(at, at + ENTRY_LENGTH);
      const [moment = NaN] = entry;
      if (!(moment > this.histories.latest(index))) throw new RangeError('not in order');
      this.histories.add(
        index,
        moment,
        entry.subarray(1, 1 + RECORD_LENGTH),
        entry.subarray(1 + RECORD_LENGTH),
      );
    }
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
