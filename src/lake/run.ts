import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../config/options.js';
import { EXPLAIN_COMMAND } from '../contract/explanation.js';
import { OperatorError } from '../base/errors.js';
import { removeDeadPartials } from '../base/files/atomicFile.js';
import { print } from '../base/process/print.js';
import { readNorms } from '../contract/norms.js';
import type { Scorer } from '../score/scorer.js';
import type { Engine } from './input/engine.js';
import { TOLD_MAX, sentenceOf } from './errors.js';
import { Histories } from './score/histories.js';
import { findInputs, isPipe, isRemote, type Input } from './input/inputs.js';
import { readNames, type NamesReport } from './input/names.js';
import { STDIN, inputsIn, openInput, type ReadOptions, type ReadableInput } from './input/openInput.js';
import { badLines } from './output/jsonLines.js';
import { Places, prepareFolder } from './places.js';
import type { ScoreOptions } from './options.js';
import type { Job, RowScorer } from './score/job.js';
import type { OpenInput } from './input/page.js';
import { PersonOrder } from './score/personOrder.js';
import { Results, digestOf, digestOfFile, type Shape } from './output/results.js';
import { OWN_NAMES, type SinkOptions, type WriteBytes } from './output/scoreColumns.js';
import { scorePages, type RowTally } from './score/scorePages.js';
import { openSink } from './output/sinks.js';
import { StateFile } from './score/state.js';

/**
 * One run of `acuity score`; the order of its writes, and what the next run does after each, is drawn in `results.ts`.
 *
 *   open    state locked and read ─► inputs found ─► those that are finished, by their records, left out
 *           ─► names of the others checked ─► folders of their results made
 *   score   for each: its lock ─► as it is now ─► rows ─► has it changed? ─► scores, bad rows, record, state, names
 *   close   state released, engine ended
 */

/** An input, or standard input, and where its scores go. */
interface Target extends ReadableInput, Pick<Input, 'outputFormat'>, Partial<Pick<Input, 'bad'>> {
  readonly write: WriteBytes;
  /** Takes the lines of bad rows; in a stream they stay in their places. */
  readonly writeBad?: WriteBytes | undefined;
  /** Those of the run if absent. */
  readonly histories?: Histories | undefined;
}

/** The configuration of a run. */
export type RunConfig = Pick<
  Config,
  'model' | 'norms' | 'daySamplesMax' | 'nightSamplesMax' | 'bodyMaxBytes'
>;
/** The scorer of a run. */
export type RunScorer = Pick<Scorer, 'model' | 'admit' | 'admitExplained'>;

/** Bytes of a file; undefined of a SELECT and of what lies in a store. */
export function sizeOf({ path, query }: Input): number | undefined {
  return query === undefined && !isRemote(path) ? statSync(path, { throwIfNoEntry: false })?.size : undefined;
}

/** One run over standard input or files, with its state. */
export class Run {
  inputs: readonly Input[] = [];
  /** The input being scored, for messages. */
  current: string | undefined;
  private readonly histories: Histories | undefined;
  /** Whether tables have columns of scores without measurements: by the names in all inputs, and the finished ones. */
  private isMeasured = false;
  private readonly state: StateFile | undefined;
  private readonly reading: ReadOptions;
  /** Undefined if no file is written. */
  private readonly results: Results | undefined;
  private starting: Promise<Engine> | undefined;
  private readonly places = new Places(() => this.engine());
  /** The fields and remarks reported so far, with a file that has them. */
  private readonly told = new Map<string, string>();

  constructor(
    config: RunConfig,
    private readonly options: ScoreOptions,
    readonly tally: RowTally,
    private readonly say: (line: string) => void,
  ) {
    const { history, peopleMax, state, tables } = options;
    this.reading = {
      ...options,
      ...config,
      limits: config,
      engine: this.engine,
      norms: readNorms(config.norms),
      onBytes: (count) => (tally.bytes += count),
      onRemark: (remark) => say(`${this.current ?? STDIN.name}: ${remark}`),
    };
    this.histories = history === undefined || tables === true ? undefined : new Histories(peopleMax);
    if (this.histories !== undefined && state !== undefined)
      this.state = new StateFile(state, this.histories);
    if (options.into !== undefined || this.isStream) return;
    const [shape, { places, state: file }] = [shapeOf(options, config), this];
    this.results = new Results({ ...options, state: file, shape, tally, say, places });
  }

  /** Whether rows come from standard input, and go to standard output. */
  get isStream(): boolean {
    return this.options.files.length === 0 && this.options.sql === undefined;
  }

  /** Whether an input has bad rows that were not accepted. */
  get hasBad(): boolean {
    return this.results?.hasBad ?? this.tally.badLines > 0;
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
    this.starting ??= import('./input/engine.js').then(({ Engine }) => Engine.open(this.options));
    return this.starting;
  };

  /**
   * Locks and reads the state, finds the inputs still to be scored, and checks the names in all of them.
   * @throws OperatorError, NamesError
   */
  async open(): Promise<Input[]> {
    removeDeadPartials(tmpdir());
    await this.state?.open();
    this.inputs = await findInputs({ ...this.options, say: this.say, engine: this.engine });
    for (const folder of this.foldersOf(this.inputs)) removeDeadPartials(folder);
    const todo: Input[] = [];
    for (const input of this.inputs) {
      this.current = input.name;
      if ((await this.results?.isDone(input)) !== true) todo.push(input);
    }
    this.isMeasured = this.results?.areMeasured === true;
    for (const input of todo)
      for (const part of [...(input.query?.files ?? []), input]) {
        this.current = part.name;
        // A pipe can't be read twice.
        if (part.query === undefined && isPipe(part)) continue;
        const opened = await openInput(part, this.reading);
        await opened.close();
        const { hasMeasurements, warnings } = this.namesOf(opened, input);
        this.isMeasured ||= hasMeasurements;
        // Sorted together they have no folders.
        if (part.name !== input.name) for (const warning of warnings) this.tellOnce(part.name, warning);
      }
    this.current = undefined;
    for (const folder of this.foldersOf(todo)) prepareFolder(folder, '--out-dir names another folder');
    return todo;
  }

  /** The folders of results on this machine. */
  private foldersOf(inputs: readonly Input[]): Set<string> {
    const local = inputs.filter(({ output }) => this.results !== undefined && !isRemote(output));
    return new Set(local.map(({ output }) => dirname(output)));
  }

  /** Scores `todo` one by one, or `stdin` to `write` if no files were named. */
  async score(
    todo: readonly Input[],
    scorer: RunScorer,
    stdin: Readable = process.stdin,
    write: WriteBytes = print,
  ): Promise<void> {
    const rows = this.rowScorer(scorer);
    const { history, peopleMax, tables = false, format = 'ndjson', to = format } = this.options;
    for (const input of todo) {
      this.current = input.name;
      const bytesBefore = this.tally.bytes;
      if (this.results === undefined)
        await this.places.steadily(input, () => this.scoreRows({ ...input, write }, rows));
      else
        await this.results.make(input, (scores, writeBad) =>
          this.scoreRows({ ...input, write: scores, writeBad }, rows),
        );
      // The engine does not tell how far it is within a file.
      this.tally.bytes = bytesBefore + (sizeOf(input) ?? NaN);
    }
    if (!this.isStream) return;
    // Answers each table before reading the next: an engine's process keeps this one for all of its tables.
    for await (const bytes of inputsIn(stdin, { format, tables })) {
      const histories = tables && history !== undefined ? new Histories(peopleMax) : this.histories;
      const stream = { ...STDIN, stdin: bytes, format, outputFormat: to };
      await this.scoreRows({ ...stream, write, histories }, rows);
    }
    this.state?.save();
  }

  /** Scores the rows of an input. @returns whether a table has columns of scores without measurements @throws NamesError */
  private async scoreRows(target: Target, scorer: RowScorer): Promise<boolean> {
    const { name, outputFormat: format, write, writeBad, bad, histories = this.histories } = target;
    const { into, late, history, zone } = this.options;
    const opened = await openInput(target, { ...this.reading, constants: scorer.model.measured });
    const report = this.namesOf(opened, target);
    this.tellNames(name, report);
    if (opened.names === undefined) this.say(`${name}: no row says which fields it has`);
    else if (zone !== undefined && history !== undefined && opened.names.hasZone?.(history.order) !== true)
      this.tellOnce(
        name,
        `--zone is for times with a zone, and ${history.order} has none: its dates count as they are, those of milliseconds in UTC`,
      );
    const personOrder = histories && new PersonOrder(histories, scorer, late);
    const options: SinkOptions = {
      keep: report.columns.keep,
      keptTypes: opened.keptTypes?.(report.columns),
      measured: this.isMeasured || report.hasMeasurements || histories?.areMeasured === true,
      explain: scorer.explainsEach,
      model: scorer.model,
      format,
      isStream: writeBad === undefined,
      engine: this.engine,
    };
    if (into === undefined && format !== 'arrow') this.tellZoned(name, options);
    const sink = into ?? (await openSink(write, options));
    const others =
      into !== undefined
        ? 'the count of rows without scores'
        : bad === undefined
          ? '"error" in their places'
          : join(dirname(name), basename(bad));
    const header = target.format === 'csv' ? report.header : undefined;
    const form = into !== undefined || format === 'ndjson' ? 'json' : 'text';
    const written = async (job: Job): Promise<void> => {
      await sink.write(job);
      if (job.problems.size > 0) await writeBad?.(badLines(job, options.keep, name));
      const { badRows, page } = job;
      const left = TOLD_MAX - this.tally.badLines;
      for (const [row, { status, detail }] of badRows.slice(0, Math.max(left, 0)))
        this.say(
          `${name}: row ${page.numberOf(row)} has no scores (${status}): ${sentenceOf(detail, header)}`,
        );
      if (left >= 0 && badRows.length > left) this.say(`${name}: more rows have no scores, see ${others}`);
      this.tally.add(job);
    };
    await scorePages(opened.pages(report.columns, form), written, scorer, personOrder);
    await sink.end?.();
    return options.measured === true;
  }

  /** Checks the names of an open input. @throws NamesError */
  private namesOf({ names }: OpenInput, target: Pick<Input, 'format' | 'outputFormat'>): NamesReport {
    const { keep, history, into } = this.options;
    const isRead = into !== undefined;
    const mayVary = !isRead && target.format === 'ndjson' && target.outputFormat === 'ndjson';
    return readNames(names, { keep, history, reserved: isRead ? undefined : OWN_NAMES }, mayVary);
  }

  private tellZoned(name: string, { keep, keptTypes = [] }: SinkOptions): void {
    const zoned = keep
      .filter((_, place) => keptTypes[place]?.endsWith('TIMESTAMP WITH TIME ZONE'))
      .join(', ');
    if (zoned !== '') this.tellOnce(name, `the times of ${zoned} are written in UTC`);
  }

  private tellOnce(name: string, words: string): void {
    if (!this.told.has(words)) this.say(`${name}: ${words}`);
    this.told.set(words, name);
  }

  private tellNames(name: string, { found, warnings }: NamesReport): void {
    const before = this.told.get(found ?? '');
    // Many tables of a stream are alike: only differences are told.
    if (before === name) return;
    if (found !== undefined) this.say(`${name}: ${before === undefined ? found : `fields as in ${before}`}`);
    if (found !== undefined && before === undefined) this.told.set(found, name);
    for (const warning of warnings) this.say(`${name}: ${warning}`);
  }

  /** @throws OperatorError if the model has none of the explanations requested, or can't go on with the state */
  private rowScorer(scorer: RunScorer): RowScorer {
    const { model } = scorer;
    const { measured, explainSettings, version } = model;
    if (measured === undefined && this.histories?.areMeasured === true)
      throw new OperatorError(
        `the state has measurements, and ${version} takes none: score with another model, or forget them (acuity history forget-measurements)`,
      );
    const explainsEach = this.options.explain === true;
    if (explainsEach && explainSettings === undefined)
      throw new OperatorError(
        `${version} has no table to explain its scores by: leave out --explain, or make it by ${EXPLAIN_COMMAND}`,
      );
    const admit: RowScorer['admit'] = (request, place) =>
      explainsEach ? scorer.admitExplained(request, place) : scorer.admit(request, place);
    return { model, explainsEach, admit };
  }
}

/** The options and variables that shape all results; null is none given. */
function shapeOf(options: ScoreOptions, config: RunConfig): Shape {
  const { keep, explain, history, late, sort, state, encoding, zone, sql } = options;
  const { model, norms, daySamplesMax, nightSamplesMax, bodyMaxBytes } = config;
  return {
    '--keep': keep ?? null,
    '--explain': explain === true,
    '--person': history?.person ?? null,
    '--order': history?.order ?? null,
    '--zone': zone ?? null,
    '--late': history === undefined ? null : late,
    '--sort': sort === true,
    '--state': state !== undefined,
    '--encoding': encoding ?? null,
    '--sql': sql === undefined ? null : digestOf(sql),
    'the network (ACUITY_MODEL)': digestOfFile(join(model, 'manifest.json')),
    ACUITY_NORMS: norms === '' ? null : digestOfFile(norms),
    ACUITY_DAY_SAMPLES_MAX: daySamplesMax,
    ACUITY_NIGHT_SAMPLES_MAX: nightSamplesMax,
    ACUITY_BODY_MAX_BYTES: bodyMaxBytes,
  };
}
