import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { NEW_FILE, OWNER_ONLY, partialName } from '../files/partialFile.js';
import { filePages, type FilePagesOptions } from './formats.js';
import type { InputFile } from './inputs.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
import { openSink } from './sinks.js';
import { scorePages, type ScorePagesOptions } from './scorePages.js';

const ASIDE = '.partial';

export interface ScoreFileOptions {
  readonly pages: FilePagesOptions;
  readonly scoring: ScorePagesOptions;
  readonly lines: LineOptions;
}

/** Files that are whole and on the disk, under names of their own. */
export interface ScoredFiles {
  readonly scores: string;
  /** The rows without scores, where there are any. */
  readonly bad: string | undefined;
}

/** Scores a file; `finish` puts what was made in its place. */
export async function scoreFile(input: InputFile, options: ScoreFileOptions): Promise<ScoredFiles> {
  const { pages, scoring, lines } = options;
  mkdirSync(dirname(input.output), { recursive: true });
  const scores = new PartialOutput(input.output);
  const bad = new PartialOutput(input.bad);
  const badRows = new LineWriter(lines, false);
  try {
    await scores.write(''); // there, without a row too
    const sink = await openSink(scores.write, { ...lines, format: input.outputFormat, isStream: false });
    const both = {
      async write(job: Job): Promise<void> {
        await sink.write(job);
        if (job.problems.size > 0) await bad.write(badLines(input, badRows, job));
      },
    };
    await scorePages(filePages(input.path, input.format, scoring.tally, pages), both, scoring);
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

/** Gives what was made of an input the names under which another run looks for it, where that one only has the state. */
export function setAside({ output, bad }: InputFile, made: ScoredFiles): ScoredFiles {
  const aside = { scores: `${output}${ASIDE}`, bad: made.bad === undefined ? undefined : `${bad}${ASIDE}` };
  replace(`${bad}${ASIDE}`, made.bad);
  replace(aside.scores, made.scores);
  return aside;
}

/** Gives the files of a finished input their names; the scores last, since they say that it is finished. */
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

/** Whether there are whole scores aside. */
export function isAside({ output }: InputFile): boolean {
  return existsSync(`${output}${ASIDE}`);
}

function replace(path: string, by: string | undefined): void {
  if (by === undefined) rmSync(path, { force: true });
  else renameSync(by, path);
}

/** A file that is being written, under a name of its own; there from the first bytes on. */
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

  /** Brings it to the disk. */
  async finish(): Promise<void> {
    await this.file?.sync();
    await this.file?.close();
  }

  async remove(): Promise<void> {
    await this.file?.close();
    rmSync(this.path, { force: true });
  }
}

/** The rows of a page without scores, a line each. */
function badLines(input: InputFile, lines: LineWriter, job: Job): string {
  const name = basename(input.path);
  const rows = [...job.problems].toSorted(([a], [b]) => a - b);
  return rows.map(([row, problem]) => lines.bad(job, row, name, problem)).join('');
}
