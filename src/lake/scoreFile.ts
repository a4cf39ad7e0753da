import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { NEW_FILE, OWNER_ONLY, partialName } from '../files/partialFile.js';
import { textOf, upload } from './engine.js';
import { openFile, type InputOptions } from './formats.js';
import { isRemote } from './formatNames.js';
import { readNames, type NamesReport } from './inputNames.js';
import type { InputFile } from './inputs.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
import type { OpenInput } from './page.js';
import type { WantedColumns } from './rowColumns.js';
import { openSink } from './sinks.js';
import { scorePages, type ScorePagesOptions } from './scorePages.js';

const ASIDE = '.partial';

export interface ScoreFileOptions {
  readonly reading: InputOptions;
  readonly wanted: WantedColumns;
  readonly scoring: ScorePagesOptions;
  readonly lines: Omit<LineOptions, 'keep' | 'measured'>;
  /** Whether the output has columns of scores without measurements; absent: no. */
  readonly isMeasured?: (report: NamesReport) => boolean;
  /** Called with the names of the file before any row is scored. */
  readonly onNames?: (report: NamesReport) => void;
}

/** Complete files on the disk, under temporary names. */
export interface ScoredFiles {
  readonly scores: string;
  /** The rows without scores, if any. */
  readonly bad: string | undefined;
}

/** Checks the names of a file that can be read twice. @throws NamesError */
export async function namesOfFile(
  input: InputFile,
  { reading, wanted }: Pick<ScoreFileOptions, 'reading' | 'wanted'>,
): Promise<NamesReport | undefined> {
  const isFile = input.query !== undefined || isRemote(input.path) || statSync(input.path).isFile();
  if (!isFile) return undefined;
  const opened = await openFile(input, { bytesRead: 0 }, reading);
  await opened.close();
  return reportOf(opened, input, wanted);
}

/** Checks the names of an open file. @throws NamesError */
export function reportOf(
  { names }: OpenInput,
  { format, outputFormat, partitions }: InputFile,
  wanted: WantedColumns,
): NamesReport {
  return readNames(names, wanted, format === 'ndjson' && outputFormat === 'ndjson', partitions);
}

/** Scores a file; `finish` then renames the results. @throws NamesError */
export async function scoreFile(input: InputFile, options: ScoreFileOptions): Promise<ScoredFiles> {
  const { reading, scoring, wanted, onNames } = options;
  const opened = await openFile(input, scoring.tally, reading);
  const report = reportOf(opened, input, wanted);
  onNames?.(report);
  const { columns } = report;
  const lines = { ...options.lines, keep: columns.keep, measured: options.isMeasured?.(report) === true };
  const keptColumns = opened.keptColumns?.(columns);
  const isAway = isRemote(input.output);
  const folder = isAway ? (await reading.engine()).folder : undefined;
  if (!isAway) mkdirSync(dirname(input.output), { recursive: true });
  const scores = new PartialOutput(input.output, folder);
  const bad = new PartialOutput(input.bad, folder);
  const badRows = new LineWriter(lines, false);
  try {
    await scores.write(''); // creates the file even without rows
    const format = input.outputFormat;
    const sink = await openSink(scores.write, {
      ...lines,
      format,
      isStream: false,
      keptColumns,
      engine: reading.engine,
    });
    const both = {
      async write(job: Job): Promise<void> {
        await sink.write(job);
        if (job.problems.size > 0) await bad.write(badLines(input, badRows, job));
      },
    };
    await scorePages(opened.pages(columns), both, scoring);
    await sink.end();
    await scores.finish();
    await bad.finish();
    return { scores: scores.path, bad: bad.isThere ? bad.path : undefined };
  } catch (error) {
    await scores.remove();
    await bad.remove();
    throw error;
  }
}

/** Renames the results to names under which another run finds them if it has only the state. */
export function setAside({ output, bad }: InputFile, made: ScoredFiles): ScoredFiles {
  const aside = { scores: `${output}${ASIDE}`, bad: made.bad === undefined ? undefined : `${bad}${ASIDE}` };
  replace(`${bad}${ASIDE}`, made.bad);
  replace(aside.scores, made.scores);
  return aside;
}

/**
 * Gives the results of a finished input their names, or puts them into their store; the scores last, since they mark
 * it as finished.
 */
export async function finish(
  { output, bad }: InputFile,
  made: ScoredFiles,
  engine: InputOptions['engine'],
): Promise<void> {
  if (isRemote(output)) {
    if (made.bad !== undefined) await upload(await engine(), made.bad, bad);
    await upload(await engine(), made.scores, output);
    return;
  }
  replace(bad, made.bad);
  replace(output, made.scores);
}

/** As `finish`, for an input that another run has set aside. */
export function finishAside({ output, bad }: InputFile): void {
  const itsBad = `${bad}${ASIDE}`;
  replace(bad, existsSync(itsBad) ? itsBad : undefined);
  replace(output, `${output}${ASIDE}`);
}

/**
 * Whether its scores are there: 'outdated' if a file was written after them. The tables of a SELECT are not known, so its
 * scores always are.
 */
export async function stateOf(
  input: InputFile,
  engine: InputOptions['engine'],
): Promise<'open' | 'finished' | 'outdated'> {
  const { output, query } = input;
  if (isRemote(output)) {
    // Only a pattern is looked for: a plain name is taken to be there.
    const pattern = textOf(`${output.slice(0, -1)}[${output.slice(-1)}]`);
    const found = await (await engine()).texts(`SELECT file FROM glob(${pattern})`, output);
    if (found.length === 0) return 'open';
    return query?.sql === undefined ? 'finished' : 'outdated';
  }
  if (!existsSync(output)) return 'open';
  if (query?.sql !== undefined) return 'outdated';
  const { mtimeMs } = statSync(output);
  return filesOf(input).some((path) => writtenMs(path) > mtimeMs) ? 'outdated' : 'finished';
}

function filesOf({ path, query }: InputFile): string[] {
  return (query?.files ?? [{ path }]).map((file) => file.path).filter((file) => !isRemote(file));
}

/** A file that was moved here keeps its time of writing, but not that of its entry. */
function writtenMs(path: string): number {
  const { mtimeMs, ctimeMs } = statSync(path);
  return Math.max(mtimeMs, ctimeMs);
}

const TAIL_BYTES = 1 << 16;

/** Tells an input from another one under its name: sizes, and hashes of the ends, where Parquet has its footer. */
export async function markOf(input: InputFile): Promise<string> {
  const hash = createHash('sha256').update(input.query?.sql ?? '');
  for (const path of filesOf({ ...input, path: input.query === undefined ? input.path : '' })) {
    if (path === '') continue;
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
      await file.read(bytes, 0, bytes.length, size - bytes.length);
      hash.update(`${size} `).update(bytes);
    } finally {
      await file.close();
    }
  }
  return hash.digest('hex');
}

/** Whether complete scores are set aside. */
export function isAside({ output }: InputFile): boolean {
  return existsSync(`${output}${ASIDE}`);
}

function replace(path: string, by: string | undefined): void {
  if (by === undefined) rmSync(path, { force: true });
  else renameSync(by, path);
}

/** A file being written under a temporary name; it exists from the first bytes on. */
class PartialOutput {
  readonly path: string;
  private file: FileHandle | undefined;

  /** In `folder` if that is given, to be uploaded from there. */
  constructor(path: string, folder: string | undefined) {
    this.path = partialName(folder === undefined ? path : join(folder, basename(path)));
  }

  get isThere(): boolean {
    return this.file !== undefined;
  }

  readonly write = async (bytes: string | Uint8Array): Promise<void> => {
    this.file ??= await open(this.path, NEW_FILE, OWNER_ONLY);
    await this.file.writeFile(bytes);
  };

  /** Flushes it to the disk. */
  async finish(): Promise<void> {
    await this.file?.sync();
    await this.file?.close();
  }

  async remove(): Promise<void> {
    await this.file?.close();
    rmSync(this.path, { force: true });
  }
}

/** One line for each row of a page without scores. */
function badLines(input: InputFile, lines: LineWriter, job: Job): string {
  const rows = [...job.problems].toSorted(([a], [b]) => a - b);
  return rows.map(([row, problem]) => lines.bad(job, row, input.name, problem)).join('');
}
