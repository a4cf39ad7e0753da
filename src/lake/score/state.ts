import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { OperatorError } from '../../base/errors.js';
import { parsedJson } from '../../base/json.js';
import { acquireFileLock } from '../../base/files/fileLock.js';
import { removeDeadPartials, replaceByOwn } from '../../base/files/atomicFile.js';
import { prepareFolder } from '../places.js';
import type { Histories } from './histories.js';
import { splitLines, type Line } from '../input/lineSplitter.js';

/** The file of `--state`. */

const KIND = 'acuity histories';
const FORMAT = 4;
/** In format 3 an input has a mark of its content in the place of its record's digest. */
const FORMATS_READ: readonly unknown[] = [3, FORMAT];
const CHUNK_CHARS = 1 << 20;

type Head = Readonly<Record<string, unknown>>;

/**
 * Each person's history in a file, so that another run can continue. Its first line lists the inputs it covers, then
 * comes a line for each person, and the last one has a checksum of everything before it. It is health data, readable
 * by its owner only.
 */
export class StateFile {
  /** The inputs whose sessions it covers, by name, with the digests of their records. */
  readonly inputs: Map<string, string> = new Map();
  readonly path: string;
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
   * @throws FileLockError, OperatorError
   */
  async open(): Promise<void> {
    const folder = dirname(this.path);
    prepareFolder(folder, '--state names a file in another one'); // may be the output folder, made with the first output
    this.release = await acquireFileLock(`${this.path}.lock`, 0);
    removeDeadPartials(folder);
    await this.load();
  }

  async close(): Promise<void> {
    const { release } = this;
    this.release = undefined;
    await release?.();
  }

  /** Reads what another run left; nothing if there is no file yet. @throws OperatorError */
  async load(): Promise<void> {
    if (!existsSync(this.path)) return;
    if (!statSync(this.path).isFile()) throw this.other();
    let checksum = 0;
    /** Whether the last line was the checksum. */
    let isEnded: boolean | undefined;
    const take = ({ number, bytes = new Uint8Array() }: Line): void => {
      const line = (parsedJson(Buffer.from(bytes).toString()) ?? undefined) as Head | undefined;
      const isPerson = Array.isArray(line);
      const isGood =
        isEnded === undefined
          ? line !== undefined && this.loadHead(line)
          : !isEnded && (isPerson ? this.loadPerson(line) : line?.['checksum'] === checksum);
      if (!isGood) throw this.damaged(`is damaged in line ${number}`);
      isEnded = isEnded !== undefined && !isPerson;
      checksum = crc32('\n', crc32(bytes, checksum));
    };
    for await (const lines of splitLines(createReadStream(this.path), Infinity)) lines.forEach(take);
    if (isEnded === undefined) throw this.damaged('is empty');
    if (!isEnded) throw this.damaged('is cut short');
  }

  /** Replaces the whole file: a crash leaves the old or the new one. */
  save(): void {
    replaceByOwn(this.path, this.texts());
  }

  /** All lines, some together. */
  private *texts(): Generator<string> {
    let text = `${JSON.stringify({ kind: KIND, format: FORMAT, inputs: [...this.inputs] })}\n`;
    let checksum = 0;
    for (const entry of this.histories.entries()) {
      text += `${JSON.stringify(entry)}\n`;
      if (text.length < CHUNK_CHARS) continue;
      checksum = crc32(text, checksum);
      yield text;
      text = '';
    }
    yield `${text}${JSON.stringify({ checksum: crc32(text, checksum) })}\n`;
  }

  private loadHead({ kind, format, inputs }: Head): boolean {
    if (kind !== KIND) throw this.other();
    if (!FORMATS_READ.includes(format)) {
      throw new OperatorError(
        `${this.path} was written by another version: go on with that one, or remove the state and its scores to begin again`,
      );
    }
    if (!Array.isArray(inputs)) return false;
    for (const [name, mark] of inputs as [unknown, unknown][]) this.inputs.set(String(name), String(mark));
    return true;
  }

  private loadPerson([person, history, ...more]: readonly unknown[]): boolean {
    if (typeof person !== 'string' || typeof history !== 'string' || more.length > 0) return false;
    return this.histories.load([person, history]);
  }

  private other(): OperatorError {
    return new OperatorError(`${this.path} is no state file: name another one`);
  }

  private damaged(what: string): OperatorError {
    return new OperatorError(
      `${this.path} ${what}, and no state that can be gone on with: bring back a copy of it, or remove it and its scores to begin again`,
    );
  }
}
