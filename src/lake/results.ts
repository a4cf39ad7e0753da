import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { messageOf, OperatorError } from '../base/errors.js';
import { ifPresentSync } from '../files/fileError.js';
import { withFileLock } from '../files/fileLock.js';
import type { Engine } from './engine.js';
import { TryAgainError } from './errors.js';
import { isRemote, type Input } from './inputs.js';
import { OutputFiles, deliver, nameAside, writeRecord } from './outputs.js';
import {
  areAlike,
  areKnown,
  differenceOf,
  digestOf,
  isThere,
  marksOf,
  nameFrom,
  readRecord,
  recordText,
  type ResultRecord,
  type Shape,
} from './records.js';
import type { RowTally } from './scorePages.js';
import type { StateFile } from './state.js';

const BEGIN_AGAIN = 'remove the state and all scores to begin again';

export interface ResultsOptions {
  /** The folder of the network. */
  readonly model: string;
  readonly state: StateFile | undefined;
  readonly again: boolean;
  readonly acceptBad: boolean;
  /** What of the command shapes the result of an input. */
  readonly shapeOf: (input: Input) => Shape;
  readonly tally: Readonly<RowTally>;
  readonly say: (line: string) => void;
  readonly engine: () => Promise<Engine>;
}

/** The results of a run's inputs: which of them are finished, by their records, and how a new one is made. */
export class Results {
  /** Whether finished inputs have bad rows that were not accepted. */
  hasFormerBad = false;
  /** The records that this run found. */
  private readonly former = new Map<string, ResultRecord | undefined>();
  private ofNetwork: string | undefined;

  constructor(private readonly options: ResultsOptions) {}

  /** Whether the input is finished; gives a result its name that a killed run could not. @throws OperatorError */
  async isDone(input: Input): Promise<boolean> {
    const { again, engine, state, shapeOf, say } = this.options;
    const record = await readRecord(input, engine);
    this.former.set(input.record, record);
    if (again) return false;
    const saved = state?.inputs.get(this.nameInState(input));
    if (record === undefined || (state !== undefined && saved === undefined)) {
      if (saved !== undefined)
        throw new OperatorError(`it is in the state, and its scores have no record: ${BEGIN_AGAIN}`);
      if (!(await isThere(input, engine))) return false;
      if (state !== undefined)
        throw new OperatorError(
          `${input.output} is there, but its sessions are not in the state: give the state of that run, or remove the scores`,
        );
      return this.tellAnew(input, 'no record says how its scores were made');
    }
    const { inputs } = record.made;
    const marks = await marksOf(input, engine);
    const isOther = marks.length === 1 && inputs.length === 1 && marks[0]?.name !== inputs[0]?.name;
    const difference = differenceOf(record, this.network(), shapeOf(input)) ?? (isOther && 'the input');
    if (difference !== false)
      throw new OperatorError(
        `${input.output} was made with other ones than this command's: ${difference}. Give another --out-dir, or --again to score it anew`,
      );
    if (saved !== undefined && saved !== digestOf(JSON.stringify(record.made)))
      throw new OperatorError(`${input.output} was made without the state: ${BEGIN_AGAIN}`);
    if (!areAlike(marks, inputs)) {
      if (state === undefined) return this.tellAnew(input, 'it has changed since its scores were made');
      throw new OperatorError(`it was written again, and the state has its former sessions: ${BEGIN_AGAIN}`);
    }
    // A killed run leaves its lock, perhaps beside a result that has its name.
    const nameNow = async (): Promise<boolean> => nameAside(input) || isThere(input, engine);
    const isLeft = ifPresentSync(() => lstatSync(lockOf(input))) !== undefined;
    const isNamed = !isLeft && (await isThere(input, engine));
    if (!isNamed && !(await this.alone(input, nameNow))) {
      if (state === undefined) return false;
      throw new OperatorError(`its sessions are in the state, but ${input.output} is gone: ${BEGIN_AGAIN}`);
    }
    if (!areKnown(marks)) {
      if (state === undefined) return this.tellAnew(input, 'whether its rows have changed is not known');
      say(`${input.name}: finished before; whether its rows have changed since is not known`);
    }
    await this.tellBad(input, record);
    return true;
  }

  /**
   * Makes the result of an input by `score`, which writes its files.
   * @throws TryAgainError if another process makes it, or the input changes meanwhile
   */
  make(input: Input, score: (files: OutputFiles) => Promise<void>): Promise<void> {
    return this.alone(input, async () => {
      const { engine, tally, state, shapeOf } = this.options;
      if (!isDeepStrictEqual(await readRecord(input, engine), this.former.get(input.record)))
        throw new TryAgainError('another run has scored it meanwhile: run the command again');
      const { lines, badLines } = tally;
      const inputs = await marksOf(input, engine);
      const files = new OutputFiles(input, isRemote(input.output) ? (await engine()).folder : undefined);
      try {
        await score(files);
        const complete = await files.finish();
        if (!areAlike(inputs, await marksOf(input, engine)))
          throw new TryAgainError('it changed while it was read, and is not finished: run the command again');
        const counts = { lines: tally.lines - lines, bad: tally.badLines - badLines };
        const [acuity, network, options] = [version(), this.network(), shapeOf(input)];
        const made = { acuity, network, options, inputs, ...counts };
        const save = (): void => {
          state?.inputs.set(this.nameInState(input), digestOf(JSON.stringify(made)));
          state?.save();
        };
        await deliver(input, complete, { record: recordText({ made }), save, engine });
      } catch (error) {
        await files.remove();
        throw error;
      }
    });
  }

  /** `work` while no other process makes this result; in a store none can know. */
  private alone<T>(input: Input, work: () => Promise<T>): Promise<T> {
    return isRemote(input.record) ? work() : withFileLock(lockOf(input), 0, work);
  }

  private tellAnew({ name }: Input, why: string): false {
    this.options.say(`${name}: ${why}, and it is scored again`);
    return false;
  }

  private async tellBad(input: Input, { made, accepted }: ResultRecord): Promise<void> {
    if (made.bad === 0 || accepted === true) return;
    const { acceptBad, say, engine } = this.options;
    if (acceptBad) return writeRecord(input, recordText({ made, accepted: true }), engine);
    this.hasFormerBad = true;
    const rows = made.bad === 1 ? '1 row has' : `${made.bad} rows have`;
    say(`${input.name}: ${rows} no scores, see ${input.bad}; --accept-bad leaves it at that`);
  }

  private nameInState({ path, query, output }: Input): string {
    const folder = dirname(this.options.state?.path ?? '');
    if (query === undefined) return nameFrom(folder, path);
    return `${query.sql === undefined ? 'sorted' : 'query'} to ${nameFrom(folder, output)}`;
  }

  /** @throws OperatorError */
  private network(): string {
    const { model } = this.options;
    try {
      this.ofNetwork ??= digestOf(readFileSync(join(model, 'manifest.json'), 'utf8'));
    } catch (error) {
      throw new OperatorError(`${model}: manifest.json cannot be read: ${messageOf(error)}`);
    }
    return this.ofNetwork;
  }
}

function lockOf({ record }: Input): string {
  return `${record}.lock`;
}

function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
