import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Config } from '../config/options.js';
import { OperatorError } from '../base/operatorError.js';
import { removeDeadPartials } from '../files/partialFile.js';
import type { Norms } from '../norms/norm.js';
import { readNorms } from '../norms/norms.js';
import type { MeasuringConstants } from '../pipeline/measuredRow.js';
import type { Scorer, ScoringModel } from '../scoring/scorer.js';
import { FirstBadRows } from './badRows.js';
import type { Engine } from './engine.js';
import { rowScorer } from './rowScorer.js';
import { FormatError } from './errors.js';
import { openFile, openStream, type InputOptions } from './formats.js';
import { isRemote, type Format } from './formatNames.js';
import { Histories } from './histories.js';
import { readNames, type NamesReport } from './inputNames.js';
import { inputFiles, queryInput, type InputFile } from './inputs.js';
import type { OpenInput } from './page.js';
import {
  finish,
  finishAside,
  isAside,
  markOf,
  namesOfFile,
  reportOf,
  scoreFile,
  setAside,
  stateOf,
  type ScoredFiles,
} from './scoreFile.js';
import { scorePages, type PageSink, type RowTally, type ScorePagesOptions } from './scorePages.js';
import { flushed, openSink, toStream, type WriteBytes } from './sinks.js';
import { fileOfStdin } from './standardInput.js';
import { StateError, StateFile } from './state.js';
import { PersonOrder, type Late } from './personOrder.js';
import type { HistoryColumns, WantedColumns } from './rowColumns.js';

export interface ScoreOptions {
  /** Files, folders, patterns and addresses; empty for standard input, or with `sql`. */
  readonly files: readonly string[];
  /** A SELECT that makes the rows. */
  readonly sql?: string | undefined;
  /** The rows of all inputs come by person and time. */
  readonly sort?: boolean | undefined;
  /** Most memory for the engine, in bytes. */
  readonly memory?: number | undefined;
  readonly extension?: readonly string[] | undefined;
  /** The encoding of CSV. */
  readonly encoding?: string | undefined;
  /** Fields or columns copied to the output; undefined for the usual ones that are present. */
  readonly keep?: readonly string[] | undefined;
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

/** Most rows read and not yet written. */
const ROWS_MAX = 4_096;
/** More with history: if the nights of a person are adjacent, many people must be in progress at once. */
const HISTORY_ROWS_MAX = 32_768;

/** One run over standard input or files, with its state. */
export class Run {
  inputs: readonly InputFile[] = [];
  /** The input being scored, for messages. */
  current: string | undefined;
  private readonly histories: Histories | undefined;
  /** Whether the output has columns of scores without measurements, by the names in all inputs. */
  private isMeasured = false;
  private constants: MeasuringConstants | undefined;
  private readonly state: StateFile | undefined;
  private readonly norms: Norms;
  private starting: Promise<Engine> | undefined;
  private readonly badRows: FirstBadRows;
  /** The last message about a file's fields, and which file it was. */
  private told: { readonly name: string; readonly found: string } | undefined;

  constructor(
    private readonly config: Config,
    private readonly options: ScoreOptions,
    private readonly tally: RowTally,
    private readonly say: (line: string) => void,
  ) {
    this.badRows = new FirstBadRows(say);
    this.norms = readNorms(config.norms);
    const { history, peopleMax, state, tables } = options;
    this.histories = history === undefined || tables === true ? undefined : new Histories(peopleMax);
    if (this.histories !== undefined && state !== undefined)
      this.state = new StateFile(state, this.histories);
  }

  /** Whether rows come from standard input, and go to standard output. */
  get isStream(): boolean {
    return this.options.files.length === 0 && this.options.sql === undefined;
  }

  /** People with histories in memory. */
  get people(): number | undefined {
    return this.histories?.size;
  }

  /** Releases the state for other runs, and ends the engine. */
  async close(): Promise<void> {
    await this.state?.close();
    const engine = await this.starting?.catch(() => undefined);
    engine?.close();
  }

  private readonly engine = (): Promise<Engine> => {
    const { memory, extension } = this.options;
    this.starting ??= import('./engine.js').then(({ Engine }) =>
      Engine.open({ memory, extensions: extension }),
    );
    return this.starting;
  };

  /** @throws FormatError */
  private async findInputs(): Promise<readonly InputFile[]> {
    const { files, history, into, sort, sql, state } = this.options;
    const isRead = into !== undefined;
    const isSorted = sort === true;
    const finding = {
      ...this.options,
      order: history?.order,
      tell: this.say,
      isRead: isRead || isSorted,
      engine: this.engine,
    };
    if (sql !== undefined) return [queryInput({ sql, isSorted }, finding)];
    const inputs = files.length === 0 ? [] : await inputFiles(files, finding);
    if (isSorted) return [queryInput({ files: inputs, isSorted }, finding)];
    if (inputs.length > 1 && history !== undefined && state === undefined && !isRead) {
      throw new FormatError(
        `these are ${inputs.length} files: --person needs --state there, which keeps the past of the finished ones, or --sort`,
      );
    }
    return inputs;
  }

  /**
   * Locks and reads the state, finds the inputs still to be scored, and checks the names in all of them.
   * @throws StateError, FileLockError, NamesError, FormatError
   */
  async open(): Promise<InputFile[]> {
    await this.state?.open();
    this.inputs = await this.findInputs();
    if (this.options.into === undefined)
      for (const folder of new Set(this.inputs.map(({ output }) => dirname(output))))
        if (!isRemote(folder)) removeDeadPartials(folder);
    const todo: InputFile[] = [];
    for (const input of this.inputs) {
      this.current = input.name;
      if (!(await this.isDone(input))) todo.push(input);
    }
    for (const input of todo)
      for (const part of input.query?.files ?? [input]) {
        this.current = part.name;
        const report = await namesOfFile(part, { reading: this.reading, wanted: this.wanted });
        if (report !== undefined && mayBeMeasured(report)) this.isMeasured = true;
      }
    this.current = undefined;
    return todo;
  }

  /** Scores `todo` one by one, or standard input if no files were named. */
  async score(todo: readonly InputFile[], scorer: Scorer): Promise<void> {
    this.constants = scorer.model.measured;
    this.checkMeasured(scorer.model);
    if (this.options.tables === true) await this.scoreTables(scorer);
    else if (this.isStream) await this.scoreStream(scorer);
    else await this.scoreFiles(todo, scorer);
  }

  private async scoreFiles(todo: readonly InputFile[], scorer: Scorer): Promise<void> {
    const { into } = this.options;
    for (const input of todo) {
      this.current = input.name;
      if (into !== undefined) {
        const opened = await openFile(input, this.tally, this.reading);
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
      const kept = this.state === undefined ? made : await this.keep(this.state, input, made);
      await finish(input, kept, this.engine);
    }
  }

  /** Writes the state before the scores get their names: see `isDone`. */
  private async keep(state: StateFile, input: InputFile, made: ScoredFiles): Promise<ScoredFiles> {
    const aside = isRemote(input.output) ? made : setAside(input, made);
    state.inputs.set(this.nameInState(input), await markOf(input));
    state.save();
    return aside;
  }

  private async scoreStream(scorer: Scorer): Promise<void> {
    const { format = 'ndjson' } = this.options;
    const { stdin, stdout } = process;
    let opened: OpenInput;
    const path = await fileOfStdin(format, this.engine);
    if (path !== undefined) {
      const input = { path, name: STREAM, format, partitions: [] };
      opened = await openFile(input, this.tally, this.reading);
    } else opened = await openStream(stdin, format === 'arrow' ? format : 'ndjson', this.tally, this.reading);
    await this.answer(opened, toStream(stdout), scorer, this.histories);
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
    const sink = await openSink(write, { ...lines, format: to, isStream: true, engine: this.engine });
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
  private async isDone(input: InputFile): Promise<boolean> {
    if (this.options.into !== undefined) return false;
    const own = await stateOf(input, this.engine);
    const mark = this.state?.inputs.get(this.nameInState(input));
    if (mark !== undefined && mark !== (await markOf(input))) {
      throw new StateError(
        `${input.path} was written again, and the state has its former sessions: remove the state and all scores to begin again`,
      );
    }
    if (this.state === undefined) {
      if (own === 'outdated' && input.query?.sql === undefined)
        this.say(`${input.name}: written after its scores, and scored again`);
      return own === 'finished';
    }
    if ((mark === undefined) === (own === 'open')) return mark !== undefined;
    if (mark === undefined) {
      throw new StateError(
        `${input.output} is there, but its sessions are not in the state: give the state of that run, or remove the scores`,
      );
    }
    // The state is written first: the scores that it lists are complete.
    if (isRemote(input.output) || !isAside(input)) {
      throw new StateError(
        `the sessions of ${input.path} are in the state, but ${input.output} is gone: remove the state and all scores to begin again`,
      );
    }
    finishAside(input);
    return true;
  }

  private nameInState({ path, query, output }: InputFile): string {
    if (query !== undefined) return `${query.sql === undefined ? 'sorted' : 'query'} to ${output}`;
    if (isRemote(path)) return path;
    return relative(dirname(resolve(this.options.state ?? '')), path);
  }

  private get reading(): InputOptions {
    const { daySamplesMax, nightSamplesMax, bodyMaxBytes } = this.config;
    const { engine, constants, norms } = this;
    const { encoding } = this.options;
    return { limits: { daySamplesMax, nightSamplesMax }, bodyMaxBytes, engine, encoding, constants, norms };
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
    const { keep, history, into } = this.options;
    return { keep, history, isRead: into !== undefined };
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
    const onBad: ScorePagesOptions['onBad'] = (row, problem, header) =>
      badRows.tell({ input: name, row, header }, problem, others);
    return { scorer: rows, rowsMax, tally, personOrder, onBad };
  }
}

/** Whether rows of an input may have measurements, by its names; each row of NDJSON has its own names. */
function mayBeMeasured({ columns, hasMeasurements }: NamesReport): boolean {
  return hasMeasurements || (columns.measured?.length ?? 0) > 0;
}
