import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NEW_FILE, OWNER_ONLY, partialName } from '../files/partialFile.js';
import { openFile, type InputOptions } from './formats.js';
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
  if (!statSync(input.path).isFile()) return undefined;
  const opened = await openFile(input.path, input.format, { bytesRead: 0 }, reading);
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
  const opened = await openFile(input.path, input.format, scoring.tally, reading);
  const report = reportOf(opened, input, wanted);
  onNames?.(report);
  const { columns } = report;
  const lines = { ...options.lines, keep: columns.keep, measured: options.isMeasured?.(report) === true };
  const keptColumns = opened.keptColumns?.(columns);
  mkdirSync(dirname(input.output), { recursive: true });
  const scores = new PartialOutput(input.output);
  const bad = new PartialOutput(input.bad);
  const badRows = new LineWriter(lines, false);
  try {
    await scores.write(''); // creates the file even without rows
    const format = input.outputFormat;
    const sink = await openSink(scores.write, { ...lines, format, isStream: false, keptColumns });
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

/** Renames the results of a finished input; the scores last, since they mark it as finished. */
export function finish({ output, bad }: InputFile, made: ScoredFiles): void {
  replace(bad, made.bad);
  replace(output, made.scores);
}

/** As `finish`, for an input that another run has set aside. */
export function finishAside(input: InputFile): void {
  const bad = `${input.bad}${ASIDE}`;
  finish(input, { scores: `${input.output}${ASIDE}`, bad: existsSync(bad) ? bad : undefined });
}

export function isFinished({ output }: InputFile): boolean {
  return existsSync(output);
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

  constructor(path: string) {
    this.path = partialName(path);
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
