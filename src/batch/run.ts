import { basename, dirname, relative, resolve } from 'node:path';
import { usableCores } from '../config/cores.js';
import type { Config } from '../config/options.js';
import { removeDeadPartials } from '../files/partialFile.js';
import type { Scorer } from '../scoring/scorer.js';
import type { BodyPagesOptions } from './bodyPages.js';
import { rowScorer } from './rowScorer.js';
import { FormatError } from './formatError.js';
import { formatOf, streamPages, type Format } from './formats.js';
import { Histories } from './histories.js';
import { inputFiles, type InputFile } from './inputs.js';
import {
  finish,
  finishAside,
  isAside,
  isFinished,
  scoreFile,
  setAside,
  type ScoredFiles,
} from './scoreFile.js';
import { scorePages, type RowTally } from './scorePages.js';
import { flushed, openSink, toStream } from './sinks.js';
import { StateError, StateFile } from './state.js';
import { TableReaders, type TableTask } from './tableReaders.js';
import { PersonOrder } from './personOrder.js';

export interface ScoreOptions {
  /** Files and patterns; none for standard input. */
  readonly files: readonly string[];
  /** Fields or columns that go through to the output. */
  readonly keep: readonly string[];
  /** Each row is explained. */
  readonly explain: boolean;
  /** The columns that say whose a row is and when it was; where history is asked for. */
  readonly history?: { readonly person: string; readonly order: string } | undefined;
  readonly state?: string | undefined;
  /** Most people whose latest sessions are held. */
  readonly peopleMax: number;
  readonly format?: Format | undefined;
  readonly to?: Format | undefined;
  readonly outDir?: string | undefined;
}

/** Threads that read tables: behind more of them one thread for all else is the limit. */
const READERS_MAX = 4;
/** What this process does with a row of Arrow beside reading it takes as long; decoding Parquet takes three times that. */
function readersFor(inputs: readonly InputFile[]): number {
  const cores = usableCores();
  const isParquet = inputs.some(({ format }) => format === 'parquet');
  return Math.min(isParquet ? cores : Math.ceil(cores / 2), READERS_MAX);
}

/** Most rows read and not yet written. */
const ROWS_MAX = 4_096;
/** With history more of them: where the nights of a person lie together, many people must be under way at once. */
const HISTORY_ROWS_MAX = 32_768;

/** One run over standard input or files, with what it remembers of people. */
export class Run {
  readonly inputs: readonly InputFile[];
  /** What is being scored, for messages. */
  current: string | undefined;
  private readonly histories: Histories | undefined;
  private readonly state: StateFile | undefined;
  private readonly tables: TableReaders;

  /** @throws FormatError */
  constructor(
    private readonly config: Config,
    private readonly options: ScoreOptions,
    private readonly tally: RowTally,
  ) {
    const { files, history, peopleMax, state } = options;
    this.inputs = files.length === 0 ? [] : inputFiles(files, options);
    if (this.inputs.length > 1 && history !== undefined && state === undefined) {
      throw new FormatError(
        `the pattern means ${this.inputs.length} files: --person needs --state there, which keeps the past of the finished ones`,
      );
    }
    this.tables = new TableReaders(readersFor(this.inputs));
    this.histories = history === undefined ? undefined : new Histories(peopleMax);
    if (this.histories !== undefined && state !== undefined)
      this.state = new StateFile(state, this.histories);
  }

  /** People whose latest sessions are held. */
  get people(): number | undefined {
    return this.histories?.size;
  }

  /** Gives the state back to other runs. */
  async close(): Promise<void> {
    await this.state?.close();
  }

  /** Takes and reads the state, finds out which inputs are still to be scored, and begins to read their tables. @throws StateError, FileLockError */
  async open(): Promise<InputFile[]> {
    await this.state?.open();
    for (const folder of new Set(this.inputs.map(({ output }) => dirname(output))))
      removeDeadPartials(folder);
    const todo = this.inputs.filter((input) => !this.isDone(input));
    this.tables.expect(todo.flatMap((input) => this.tableTask(input)));
    return todo;
  }

  private tableTask({ path, format }: InputFile): TableTask[] {
    if (format === 'ndjson' || format === 'csv' || formatOf(path).compression !== undefined) return [];
    const { limits, keep, history } = this.pages;
    return [{ path, format, options: { limits, keep, history } }];
  }

  /** Scores `todo`, one after the other, or standard input where no files were named. */
  async score(todo: readonly InputFile[], scorer: Scorer): Promise<void> {
    if (this.options.files.length === 0) return this.scoreStream(scorer);
    try {
      await this.scoreFiles(todo, scorer);
    } finally {
      await this.tables.close();
    }
  }

  private async scoreFiles(todo: readonly InputFile[], scorer: Scorer): Promise<void> {
    for (const input of todo) {
      this.current = basename(input.path);
      const made = await scoreFile(input, {
        pages: { ...this.pages, tables: this.tables },
        scoring: this.scoring(scorer),
        lines: { keep: this.options.keep, explain: this.options.explain, model: scorer.model },
      });
      finish(input, this.state === undefined ? made : this.keep(this.state, input, made));
    }
  }

  /** The state first, with the scores where they are found by it: see `isDone`. */
  private keep(state: StateFile, input: InputFile, made: ScoredFiles): ScoredFiles {
    const aside = setAside(input, made);
    state.inputs.add(this.nameInState(input));
    state.save();
    return aside;
  }

  private async scoreStream(scorer: Scorer): Promise<void> {
    const { format = 'ndjson', keep, explain, to = format } = this.options;
    const { stdin, stdout } = process;
    const lines = { keep, explain, model: scorer.model };
    const sink = await openSink(toStream(stdout), { ...lines, format: to, isStream: true });
    await scorePages(streamPages(stdin, format, this.tally, this.pages), sink, this.scoring(scorer));
    await sink.end();
    await flushed(stdout);
    this.state?.save();
  }

  /** Finished before; an input that only its state knows of is finished here. @throws StateError */
  private isDone(input: InputFile): boolean {
    const isInState = this.state?.inputs.has(this.nameInState(input));
    if (isInState === undefined || isInState === isFinished(input)) return isFinished(input);
    if (!isInState) {
      throw new StateError(
        `${input.output} is there, but its sessions are not in the state: give the state of that run, or remove the scores`,
      );
    }
    // The state is written first: the scores that it speaks of are whole.
    if (!isAside(input)) {
      throw new StateError(
        `the sessions of ${input.path} are in the state, but ${input.output} is gone: remove the state and all scores to begin again`,
      );
    }
    finishAside(input);
    return true;
  }

  private nameInState({ path }: InputFile): string {
    return relative(dirname(resolve(this.options.state ?? '')), path);
  }

  private get pages(): BodyPagesOptions {
    const { daySamplesMax, nightSamplesMax, bodyMaxBytes } = this.config;
    const { keep, history } = this.options;
    return { limits: { daySamplesMax, nightSamplesMax }, bodyMaxBytes, keep, history };
  }

  private scoring(scorer: Scorer) {
    const rows = rowScorer(scorer, this.options.explain);
    const personOrder = this.histories === undefined ? undefined : new PersonOrder(this.histories, rows);
    const rowsMax = personOrder === undefined ? ROWS_MAX : HISTORY_ROWS_MAX;
    return { scorer: rows, rowsMax, tally: this.tally, personOrder };
  }
}
