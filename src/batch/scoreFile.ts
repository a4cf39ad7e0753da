import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { filePages, type FilePagesOptions } from './formats.js';
import type { InputFile } from './inputs.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
import { openSink, toFile } from './sinks.js';
import { scorePages, type ScorePagesOptions } from './scorePages.js';

const OWNER_ONLY = 0o600;
const ASIDE = '.partial';

export interface ScoreFileOptions {
  readonly pages: FilePagesOptions;
  readonly scoring: ScorePagesOptions;
  readonly lines: LineOptions;
}

/** Scores a file. Its output is whole and on the disk then, but still aside: `finish` puts it in its place. */
export async function scoreFile(input: InputFile, options: ScoreFileOptions): Promise<void> {
  const { pages, scoring, lines } = options;
  mkdirSync(dirname(input.output), { recursive: true });
  const bad = new BadRows(input, new LineWriter(lines, false));
  const file = await open(`${input.output}${ASIDE}`, 'w', OWNER_ONLY);
  try {
    const sink = await openSink(toFile(file), { ...lines, format: input.outputFormat, isStream: false });
    const both = {
      async write(job: Job): Promise<void> {
        await sink.write(job);
        await bad.write(job);
      },
    };
    await scorePages(filePages(input.path, input.format, scoring.tally, pages), both, scoring);
    await sink.end();
    await file.sync();
    await bad.sync();
  } finally {
    await file.close();
    await bad.close();
  }
}

/** Gives the files of a finished input their names; the scores last, since they say that it is finished. */
export function finish({ output, bad }: InputFile): void {
  if (existsSync(`${bad}${ASIDE}`)) renameSync(`${bad}${ASIDE}`, bad);
  renameSync(`${output}${ASIDE}`, output);
}

export function isFinished({ output }: InputFile): boolean {
  return existsSync(output);
}

/** Whether there are scores aside, whole or not. */
export function isAside({ output }: InputFile): boolean {
  return existsSync(`${output}${ASIDE}`);
}

/** The rows without scores, in a file that is there only where there are any. */
class BadRows {
  private file: FileHandle | undefined;
  private readonly path: string;

  constructor(
    private readonly input: InputFile,
    private readonly lines: LineWriter,
  ) {
    this.path = `${input.bad}${ASIDE}`;
    rmSync(this.path, { force: true });
    rmSync(input.bad, { force: true });
  }

  async write(job: Job): Promise<void> {
    if (job.problems.size === 0) return;
    const name = basename(this.input.path);
    const rows = [...job.problems].toSorted(([a], [b]) => a - b);
    const text = rows.map(([row, problem]) => this.lines.bad(job, row, name, problem)).join('');
    this.file ??= await open(this.path, 'w', OWNER_ONLY);
    await this.file.writeFile(text);
  }

  async sync(): Promise<void> {
    await this.file?.sync();
  }

  async close(): Promise<void> {
    await this.file?.close();
  }
}
