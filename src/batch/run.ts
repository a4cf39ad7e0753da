import { basename, dirname, join, relative, resolve } from 'node:path';
import { usableCores } from '../config/cores.js';
import type { Config } from '../config/options.js';
import { OperatorError } from '../base/operatorError.js';
import { removeDeadPartials } from '../files/partialFile.js';
import type { Norms } from '../norms/norm.js';
import { readNorms } from '../norms/norms.js';
import type { MeasuringConstants } from '../pipeline/measuredRow.js';
import type { Scorer, ScoringModel } from '../scoring/scorer.js';
import { FirstBadRows } from './badRows.js';
import type { NameReading } from './columnNames.js';
import { rowScorer } from './rowScorer.js';
import { FormatError } from './formatError.js';
import { openFile, openStream, type Format, type InputOptions } from './formats.js';
import { Histories } from './histories.js';
import { readNames, type NamesReport } from './inputNames.js';
import { inputFiles, type InputFile } from './inputs.js';
import type { OpenInput } from './page.js';
import {
  finish,
  finishAside,
  isAside,
  isFinished,
  namesOfFile,
  reportOf,
  scoreFile,
  setAside,
  type ScoredFiles,
} from './scoreFile.js';
import { scorePages, type PageSink, type RowTally, type ScorePagesOptions } from './scorePages.js';
import { flushed, openSink, toStream, type WriteBytes } from './sinks.js';
import { standardInput } from './standardInput.js';
import { StateError, StateFile } from './state.js';
import { TableReaders, type TableTask } from './tableReaders.js';
import { PersonOrder, type Late } from './personOrder.js';
import type { HistoryColumns, WantedColumns } from './rowColumns.js';

export interface ScoreOptions {
  /** Files, folders and patterns; empty for standard input. */
  readonly files: readonly string[];
  /** Fields or columns copied to the output; undefined for the usual ones that are present. */
  readonly keep?: readonly string[] | undefined;
  readonly names: NameReading;
  /** Whether each row is explained. */
  readonly explain: boolean;
  /** The columns with a row's person and time, if history is used. */
  readonly history?: HistoryColumns | undefined;
  readonly late: Late;
  readonly state?: string | undefined;
  /** Most people with histories in memory. */
  readonly peopleMax: number;
  readonly format?: Format | undefined;
  readonly to?: Format | undefined;
  readonly outDir?: string | undefined;
  /** Standard input holds many tables, each with only its own past. */
  readonly tables?: boolean;
  /** Receives the scored pages: then no file is written or searched for, and standard output is unused. */
  readonly into?: PageSink;
}

/** The name of standard input in messages. */
const STREAM = 'standard input';

/** Threads that read tables: with more, the one main thread becomes the bottleneck. */
const READERS_MAX = 4;
/**
 * The main thread takes as long for a row as a thread takes to read it from Arrow; decoding Parquet takes three times
 * that.
 */
function readersFor(inputs: readonly InputFile[]): number {
  const cores = usableCores();
  const isParquet = inputs.some(({ format }) => format === 'parquet');
  return Math.min(isParquet ? cores : Math.ceil(cores / 2), READERS_MAX);
}

/** Most rows read and not yet written. */
const ROWS_MAX = 4_096;
/** More with history: if the nights of a person are adjacent, many people must be in progress at once. */
const HISTORY_ROWS_MAX = 32_768;

/** One run over standard input or files, with its state. */
export class Run {
  readonly inputs: readonly InputFile[];
  /** The input being scored, for messages. */
  current: string | undefined;
  private readonly histories: Histories | undefined;
  /** Whether the output has columns of scores without measurements, by the names in all inputs. */
  private isMeasured = false;
  private constants: MeasuringConstants | undefined;
  private readonly state: StateFile | undefined;
  private readonly norms: Norms;
  private readonly tables: TableReaders;
  private readonly badRows: FirstBadRows;
  /** The last message about a file's fields, and which file it was. */
  private told: { readonly name: string; readonly found: string } | undefined;

  /** @throws FormatError */
  constructor(
    private readonly config: Config,
    private readonly options: ScoreOptions,
    private readonly tally: RowTally,
    private readonly say: (line: string) => void,
  ) {
    this.badRows = new FirstBadRows(say);
    this.norms = readNorms(config.norms);
    const { files, history, into, peopleMax, state, tables } = options;
    const order = history?.order;
    const isRead = into !== undefined;
    this.inputs = files.length === 0 ? [] : inputFiles(files, { ...options, order, tell: say, isRead });
    if (this.inputs.length > 1 && history !== undefined && state === undefined && !isRead) {
      throw new FormatError(
        `these are ${this.inputs.length} files: --person needs --state there, which keeps the past of the finished ones`,
      );
    }
    this.tables = new TableReaders(readersFor(this.inputs));
    this.histories = history === undefined || tables === true ? undefined : new Histories(peopleMax);
    if (this.histories !== undefined && state !== undefined)
      this.state = new StateFile(state, this.histories, say);
  }

  /** People with histories in memory. */
  get people(): number | undefined {
    return this.histories?.size;
  }

  /** Releases the state for other runs. */
  async close(): Promise<void> {
    await this.state?.close();
  }

  /**
   * Locks and reads the state, finds the inputs still to be scored, checks the names in all of them, and starts to
   * read their tables.
   * @throws StateError, FileLockError, NamesError
   */
  async open(): Promise<InputFile[]> {
    await this.state?.open();
    if (this.options.into === undefined)
      for (const folder of new Set(this.inputs.map(({ output }) => dirname(output))))
        removeDeadPartials(folder);
    const todo = this.inputs.filter((input) => !this.isDone(input));
    const tasks: TableTask[] = [];
    for (const input of todo) {
      this.current = input.name;
      const report = await namesOfFile(input, { reading: this.reading, wanted: this.wanted });
      if (report !== undefined && mayBeMeasured(report)) this.isMeasured = true;
      const { path, format } = input;
      if (report === undefined || format === 'ndjson' || format === 'csv') continue;
      tasks.push({ path, format, options: { limits: this.reading.limits, ...report.columns } });
    }
    this.current = undefined;
    this.tables.expect(tasks);
    return todo;
  }

  /** Scores `todo` one by one, or standard input if no files were named. */
  async score(todo: readonly InputFile[], scorer: Scorer): Promise<void> {
    this.constants = scorer.model.measured;
    this.checkMeasured(scorer.model);
    try {
      if (this.options.tables === true) await this.scoreTables(scorer);
      else if (this.options.files.length === 0) await this.scoreStream(scorer);
      else await this.scoreFiles(todo, scorer);
    } finally {
      await this.tables.close();
    }
  }

  private async scoreFiles(todo: readonly InputFile[], scorer: Scorer): Promise<void> {
    const { into } = this.options;
    for (const input of todo) {
      this.current = input.name;
      if (into !== undefined) {
        const opened = await openFile(input.path, input.format, this.tally, this.reading);
        await this.take(opened, reportOf(opened, input, this.wanted), scorer, { name: input.name, into });
        continue;
      }
      const made = await scoreFile(input, {
        reading: this.reading,
        wanted: this.wanted,
        scoring: this.scoring(scorer, this.histories, {
          name: input.name,
          others: join(dirname(input.name), basename(input.bad)),
        }),
        lines: { explain: this.options.explain, model: scorer.model },
        isMeasured: (report) => this.hasUnmeasured(report),
        onNames: (report) => this.tellNames(input.name, report),
      });
      finish(input, this.state === undefined ? made : this.keep(this.state, input, made));
    }
  }

  /** Writes the state before the scores get their names: see `isDone`. */
  private keep(state: StateFile, input: InputFile, made: ScoredFiles): ScoredFiles {
    const aside = setAside(input, made);
    state.inputs.add(this.nameInState(input));
    state.save();
    return aside;
  }

  private async scoreStream(scorer: Scorer): Promise<void> {
    const { format = 'ndjson' } = this.options;
    const { stdin, stdout } = process;
    const input = await standardInput(format, () => stdin);
    const opened =
      'path' in input
        ? await openFile(input.path, format, this.tally, this.reading)
        : await openStream(input.bytes, format, this.tally, this.reading);
    await this.answer(opened, toStream(stdout), scorer, this.histories);
    if ('path' in input) input.close();
    await flushed(stdout);
    this.state?.save();
  }

  /** Answers each table before reading the next: an engine's process keeps this one for all of its tables. */
  private async scoreTables(scorer: Scorer): Promise<void> {
    const { history, peopleMax } = this.options;
    const { stdin, stdout } = process;
    const write = toStream(stdout);
    const { arrowStreams } = await import('./arrowStreams.js');
    for await (const table of arrowStreams(stdin)) {
      const opened = await openStream(table, 'arrow', this.tally, this.reading);
      const histories = history === undefined ? undefined : new Histories(peopleMax);
      await this.answer(opened, write, scorer, histories);
    }
    await flushed(stdout);
  }

  /** Scores an input to a stream. @throws NamesError */
  private async answer(
    opened: OpenInput,
    write: WriteBytes,
    scorer: Scorer,
    histories: Histories | undefined,
  ): Promise<void> {
    const { format = 'ndjson', explain, to = format } = this.options;
    const report = readNames(opened.names, this.wanted, format === 'ndjson' && to === 'ndjson');
    const { into } = this.options;
    if (into !== undefined) return this.take(opened, report, scorer, { name: STREAM, into });
    this.tellNames(STREAM, report);
    const { columns } = report;
    const keptColumns = opened.keptColumns?.(columns);
    const measured = this.hasUnmeasured(report) || histories?.areMeasured === true;
    const lines = { keep: columns.keep, explain, model: scorer.model, keptColumns, measured };
    const sink = await openSink(write, { ...lines, format: to, isStream: true });
    const scoring = this.scoring(scorer, histories, { name: STREAM, others: '"error" in their places' });
    await scorePages(opened.pages(columns), sink, scoring);
    await sink.end();
  }

  /** Scores an input for `into`. */
  private async take(
    opened: OpenInput,
    report: NamesReport,
    scorer: Scorer,
    { name, into }: { readonly name: string; readonly into: PageSink },
  ): Promise<void> {
    this.tellNames(name, report);
    const others = 'the count of rows without scores';
    await scorePages(
      opened.pages(report.columns),
      into,
      this.scoring(scorer, this.histories, { name, others }),
    );
  }

  /** Whether the input was finished before; one that only its state knows of is finished here. @throws StateError */
  private isDone(input: InputFile): boolean {
    if (this.options.into !== undefined) return false;
    const isInState = this.state?.inputs.has(this.nameInState(input));
    if (isInState === undefined || isInState === isFinished(input)) return isFinished(input);
    if (!isInState) {
      throw new StateError(
        `${input.output} is there, but its sessions are not in the state: give the state of that run, or remove the scores`,
      );
    }
    // The state is written first: the scores that it lists are complete.
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

  private get reading(): InputOptions {
    const { daySamplesMax, nightSamplesMax, bodyMaxBytes } = this.config;
    const { tables, constants, norms } = this;
    return { limits: { daySamplesMax, nightSamplesMax }, bodyMaxBytes, tables, constants, norms };
  }

  private hasUnmeasured(report: NamesReport): boolean {
    return this.isMeasured || mayBeMeasured(report) || this.histories?.areMeasured === true;
  }

  /** @throws OperatorError if the state has measurements and the model takes none */
  private checkMeasured({ measured, version }: ScoringModel): void {
    if (measured === undefined && this.histories?.areMeasured === true)
      throw new OperatorError(
        `the state has measurements, and ${version} takes none: score with another model, or forget them (acuity history forget-measurements)`,
      );
  }

  private get wanted(): WantedColumns {
    const { keep, history, into, names } = this.options;
    return { keep, history, names, isRead: into !== undefined };
  }

  private tellNames(name: string, { found, warnings }: NamesReport): void {
    // For many tables in a stream, report only differences from the first.
    if (name === this.told?.name && found === this.told.found) return;
    if (found !== undefined) {
      this.say(`${name}: ${found === this.told?.found ? `fields as in ${this.told.name}` : found}`);
      if (found !== this.told?.found) this.told = { name, found };
    }
    for (const warning of warnings) this.say(`${name}: ${warning}`);
  }

  private scoring(
    scorer: Scorer,
    histories: Histories | undefined,
    { name, others }: { readonly name: string; readonly others: string },
  ): ScorePagesOptions {
    const rows = rowScorer(scorer, this.options.explain);
    const { tally, badRows } = this;
    const personOrder =
      histories === undefined ? undefined : new PersonOrder(histories, rows, this.options.late);
    const rowsMax = personOrder === undefined ? ROWS_MAX : HISTORY_ROWS_MAX;
    const onBad: ScorePagesOptions['onBad'] = (row, problem, origin) =>
      badRows.tell({ input: name, row, origin }, problem, others);
    return { scorer: rows, rowsMax, tally, personOrder, onBad };
  }
}

/** Whether rows of an input may have measurements, by its names; each row of NDJSON has its own names. */
function mayBeMeasured({ columns, hasMeasurements }: NamesReport): boolean {
  return hasMeasurements || (columns.measured?.length ?? 0) > 0;
}
