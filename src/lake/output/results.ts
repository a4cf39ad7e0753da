/**
 * The results of a run: which are finished, by the record beside each, and how a new one is made.
 *
 * The files of a result, in the order in which they are written, on the disk and in a store, and the next run after a
 * kill there:
 *
 *                                                      killed after it
 *   1  scores, bad rows: temporary names, synced       they are removed, the input is scored
 *   2  scores of a former format go                    the input is scored
 *   3  the record, as one that is begun                the input is scored
 *   4  bad rows, then scores: their names              the input is scored
 *   5  the state, if any                               the record is made again without that mark
 *   6  the record without that mark                    finished
 *
 * In a store each file is whole or not there, and none can be removed: if there are no bad rows, an empty file takes the
 * place of former ones.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { messageOf, OperatorError } from '../../base/errors.js';
import { ifPresentSync } from '../../base/files/fileError.js';
import { withFileLock } from '../../base/files/fileLock.js';
import { parsedJson } from '../../base/json.js';
import { packageVersion } from '../../base/process/packageVersion.js';
import { TryAgainError } from '../errors.js';
import { isRemote, realOf, type Input } from '../input/inputs.js';
import { FORMATS, type ScoreOptions } from '../options.js';
import type { Mark, Places } from '../places.js';
import type { WriteBytes } from './scoreColumns.js';
import type { RowTally } from '../score/scorePages.js';
import type { StateFile } from '../score/state.js';

const KIND = 'acuity result';

/**
 * The record beside a result, `_STEM.acuity`: the command that made it and the inputs as they were when reading began. A
 * later run knows by it alone whether the result is finished. SQL and addresses are in it as digests.
 */
const RECORD = Type.Object({
  kind: Type.Literal(KIND),
  format: Type.Literal(1),
  made: Type.Object({
    /** acuity's version. */
    acuity: Type.String(),
    options: Type.Record(Type.String(), Type.Unknown()),
    /** As `marksOf` tells of each; names are relative to the record. */
    inputs: Type.Array(
      Type.Object({
        name: Type.String(),
        size: Type.Optional(Type.Number()),
        modified: Type.Optional(Type.String()),
      }),
    ),
    lines: Type.Integer(),
    bad: Type.Integer(),
    /** The digest of the bad rows as they are listed. */
    badRows: Type.String(),
    /** Whether a table has columns of scores without measurements: those of one folder are alike. */
    measured: Type.Boolean(),
  }),
  /** Set until its files have their names, and the state its sessions. */
  begun: Type.Boolean(),
  /** Set once --accept-bad took these bad rows as they are. */
  accepted: Type.Boolean(),
});
type ResultRecord = Omit<Static<typeof RECORD>, 'kind' | 'format'>;

/** The options and variables that shape a result, by name; null is none given. */
export type Shape = Readonly<Record<string, unknown>>;

const BEGIN_AGAIN = 'remove the state and all scores to begin again';

export interface ResultsOptions extends Pick<ScoreOptions, 'again' | 'acceptBad'> {
  readonly state: StateFile | undefined;
  /** The part of the command that shapes all results. */
  readonly shape: Shape;
  readonly tally: Readonly<RowTally>;
  readonly say: (line: string) => void;
  readonly places: Places;
}

/** The results of a run's inputs: which of them are finished, by their records, and how a new one is made. */
export class Results {
  /** Whether an input has bad rows that were not accepted. */
  hasBad = false;
  /** Whether finished ones have columns of scores without measurements. */
  areMeasured = false;
  /** The records that this run found. */
  private readonly former = new Map<string, ResultRecord | undefined>();
  private readonly places: Places;

  constructor(private readonly options: ResultsOptions) {
    this.places = options.places;
  }

  /** Whether the input is finished; ends what a killed run left to be done. @throws OperatorError */
  async isDone(input: Input): Promise<boolean> {
    const { again, state, say } = this.options;
    const record = await this.recordOf(input);
    const output = outputIn(record, input);
    this.former.set(input.record, record);
    if (again === true) return false;
    const { names, former } = this.namesInState({ ...input, output });
    const [saved, ...others] = new Set(names.map((name) => state?.inputs.get(name)));
    if (others.length > 0 || state?.inputs.has(former) === true)
      throw new OperatorError(`the state has some of its sessions from another result: ${BEGIN_AGAIN}`);
    if (record?.begun === true && saved === undefined) return false;
    if (record === undefined || (state !== undefined && saved === undefined)) {
      if (saved !== undefined)
        throw new OperatorError(`it is in the state, and its scores have no record: ${BEGIN_AGAIN}`);
      if (!(await this.places.isThere(output))) return false;
      return this.anew(
        input,
        'no record says how its scores were made',
        `${output} is there, but its sessions are not in the state: give the state of that run, or remove the scores`,
      );
    }
    if (!(await this.places.isThere(output))) {
      if (state === undefined) return false;
      throw new OperatorError(`its sessions are in the state, but ${output} is gone: ${BEGIN_AGAIN}`);
    }
    const { inputs } = record.made;
    const marks = this.namedMarks(input, await this.places.marksOf(input));
    const isOther =
      marks.length > 0 &&
      !marks.some((mark) => mark.size === undefined || inputs.some(({ name }) => name === mark.name));
    const difference = differenceOf(record, this.shapeOf(input)) ?? (isOther && 'the input');
    if (difference !== false)
      throw new OperatorError(
        `${output} was made with other ones than this command's: ${difference}; ${state === undefined ? 'give another --out-dir, or --again to score it anew' : BEGIN_AGAIN}`,
      );
    if (saved !== undefined && saved !== digestOf(JSON.stringify(record.made)))
      throw new OperatorError(`${output} was made without the state: ${BEGIN_AGAIN}`);
    if (!isDeepStrictEqual(marks, inputs))
      return this.anew(
        input,
        'it has changed since its scores were made',
        `it was written again, and the state has its former sessions: ${BEGIN_AGAIN}`,
      );
    // A killed run leaves its lock, perhaps beside a result that is finished.
    if (ifPresentSync(() => lstatSync(lockOf(input))) !== undefined) await this.alone(input, async () => {});
    if (record.begun === true) await this.places.write(input.record, recordText({ ...record, begun: false }));
    if (marks.length === 0 || marks.some(({ size }) => size === undefined)) {
      if (state === undefined || marks.length > 0)
        return this.anew(
          input,
          'whether its rows have changed is not known',
          'it is a pipe, and the state has its former sessions: give new ones by standard input, or another name',
        );
      say(`${input.name}: finished before; whether its rows have changed since is not known`);
    }
    this.areMeasured ||= record.made.measured;
    await this.tellBad(input, record);
    return true;
  }

  /**
   * Makes the result of an input by `score`, which writes scores and bad rows, and says whether those have columns
   * without measurements.
   * @throws TryAgainError if another process makes it, or the input changes meanwhile
   */
  make(input: Input, score: (write: WriteBytes, writeBad: WriteBytes) => Promise<boolean>): Promise<void> {
    return this.alone(input, async () => {
      for (const { output } of input.query?.files ?? [])
        if (output !== input.output && !isRemote(output) && (await this.places.isThere(output)))
          this.options.say(`${output} has scores of the same rows: remove it, or give another --out-dir`);
      const { tally, state, acceptBad } = this.options;
      const former = this.former.get(input.record);
      if (!isDeepStrictEqual(await this.recordOf(input), former))
        throw new TryAgainError('another run has scored it meanwhile: run the command again');
      const { lines, badLines } = tally;
      const [scores, bad] = [await this.places.partial(input.output), await this.places.partial(input.bad)];
      const badRows = createHash('sha256');
      try {
        const { measured, inputs } = await this.places.steadily(input, async (marks) => {
          const measured = await score(
            async (bytes) => scores.write(bytes),
            async (bytes) => {
              badRows.update(bytes);
              bad.write(bytes);
            },
          );
          scores.write(''); // creates the file even without rows
          for (const file of [scores, bad]) file.finish();
          return { measured, inputs: this.namedMarks(input, marks) };
        });
        const counts = { lines: tally.lines - lines, bad: tally.badLines - badLines };
        const found = { ...counts, badRows: badRows.digest('hex'), measured };
        const made = { acuity: packageVersion(), options: this.shapeOf(input), inputs, ...found };
        // Bad rows that a former run told may be accepted, and stay so; one that was killed before has told none.
        const areKnown = made.bad > 0 && former?.made.badRows === made.badRows;
        const isTold = acceptBad === true && former?.begun === false;
        const record = { made, begun: false, accepted: areKnown && (former.accepted || isTold) };
        await this.removeFormer(input, former);
        await this.places.write(input.record, recordText({ ...record, begun: true }));
        await this.places.put(bad, input.bad);
        await this.places.put(scores, input.output);
        const digest = digestOf(JSON.stringify(made));
        for (const name of this.namesInState(input).names) state?.inputs.set(name, digest);
        state?.save();
        await this.places.write(input.record, recordText(record));
        this.hasBad ||= made.bad > 0 && !record.accepted;
      } finally {
        for (const file of [scores, bad]) file.remove();
      }
    });
  }

  /** Removes scores of another format. */
  private async removeFormer(input: Input, record: ResultRecord | undefined): Promise<void> {
    const former = outputIn(record, input);
    if (former === input.output || !(await this.places.isThere(former))) return;
    if (!isRemote(former)) await this.places.put(await this.places.partial(former), former);
    else
      this.options.say(
        `${former} has the former scores, which can't be removed from a store here: remove them`,
      );
  }

  private shapeOf({ format, outputFormat }: Input): Shape {
    return { ...this.options.shape, '--format': format, '--to': outputFormat };
  }

  /** `work` while no other process makes this result; in a store none can know. */
  private alone<T>(input: Input, work: () => Promise<T>): Promise<T> {
    return isRemote(input.record) ? work() : withFileLock(lockOf(input), 0, work);
  }

  /** Tells why an input is scored again. @throws OperatorError with a state, which has its sessions: `withState` */
  private anew({ name }: Input, why: string, withState = ''): false {
    if (this.options.state !== undefined) throw new OperatorError(withState);
    this.options.say(`${name}: ${why}, and it is scored again`);
    return false;
  }

  private async tellBad(input: Input, { made, begun, accepted }: ResultRecord): Promise<void> {
    if (made.bad === 0 || accepted) return;
    const { name, bad, record: path } = input;
    const { acceptBad, say } = this.options;
    if (acceptBad === true && !begun)
      return this.places.write(path, recordText({ made, begun: false, accepted: true }));
    this.hasBad = true;
    const rows = made.bad === 1 ? '1 row has' : `${made.bad} rows have`;
    say(`${name}: ${rows} no scores, see ${bad}; --accept-bad leaves it at that`);
  }

  /** The record beside the result of an input; undefined if there is none, or it can't be read. */
  private async recordOf({ record: path }: Input): Promise<ResultRecord | undefined> {
    const record = parsedJson((await this.places.read(path)) ?? '');
    return Value.Check(RECORD, record) ? record : undefined;
  }

  /** The files of an input as a record has them. */
  private namedMarks({ record }: Input, marks: readonly Mark[]): ResultRecord['made']['inputs'] {
    return marks.map(({ path, ...mark }) => ({ name: nameFrom(dirname(record), path), ...mark }));
  }

  /** The names of its files; a SELECT, whose tables are not known, has that of its text. 1.0.0 named both by the output. */
  private namesInState({ path, query, output }: Input) {
    const nameOf = (own: string): string => nameFrom(dirname(this.options.state?.path ?? ''), own);
    const files = query?.files ?? [{ path }];
    const names =
      query?.sql === undefined ? files.map((file) => nameOf(file.path)) : [`query ${digestOf(query.sql)}`];
    return { names, former: `${query?.sql === undefined ? 'sorted' : 'query'} to ${nameOf(output)}` };
  }
}

function lockOf({ record }: Input): string {
  return `${record}.lock`;
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** @throws OperatorError if it can't be read */
export function digestOfFile(path: string): string {
  try {
    return digestOf(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new OperatorError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/** The name of `path` in a file that lies in `folder`: relative, so that both may be moved together. */
function nameFrom(folder: string, path: string): string {
  if (isRemote(path) || isRemote(folder)) return digestOf(path);
  return relative(resolve(realOf(folder)), join(resolve(realOf(dirname(path))), basename(path)));
}

/** The scores that a record is of: perhaps in another format than those of an input now. */
function outputIn(record: ResultRecord | undefined, { output, outputFormat }: Input): string {
  const format = FORMATS.find((one) => one === record?.made.options['--to']) ?? outputFormat;
  return output.replace(/\w+$/, format);
}

function recordText(record: ResultRecord): string {
  return `${JSON.stringify({ kind: KIND, format: 1, ...record }, undefined, 1)}\n`;
}

/** The differences between the command that made a result and this one; undefined if there are none. */
function differenceOf({ made }: ResultRecord, now: Shape): string | undefined {
  const then = made.options;
  const shown = (value: unknown): string =>
    value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  const other = names.flatMap((name) => {
    const [was, is] = [then[name] ?? null, now[name] ?? null];
    if (isDeepStrictEqual(was, is)) return [];
    return [DIGESTS.has(name) ? name : `${name} (${shown(was)} then, ${shown(is)} now)`];
  });
  return other.length === 0 ? undefined : other.join(', ');
}

/** Options that a record has as digests. */
const DIGESTS: ReadonlySet<string> = new Set(['--sql', 'the network (ACUITY_MODEL)', 'ACUITY_NORMS']);
