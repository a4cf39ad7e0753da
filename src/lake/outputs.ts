import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { NEW_FILE, OWNER_ONLY, partialName } from '../files/partialFile.js';
import { textOf, upload, type Engine } from './engine.js';
import { isRemote, type Input } from './inputs.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
import type { PageSink } from './scorePages.js';

const ASIDE = '.partial';

/** Complete files on the disk, under temporary names. */
export interface ScoredFiles {
  readonly scores: string;
  /** The rows without scores, if any. */
  readonly bad: string | undefined;
}

/** The files of an input being scored; the one for bad rows is there once there is one. */
export class OutputFiles {
  readonly scores: PartialOutput;
  private readonly bad: PartialOutput;

  /** `folder` is for what is uploaded when complete. */
  constructor(
    private readonly input: Input,
    folder: string | undefined,
  ) {
    if (folder === undefined) mkdirSync(dirname(input.output), { recursive: true });
    this.scores = new PartialOutput(input.output, folder);
    this.bad = new PartialOutput(input.bad, folder);
  }

  /** A sink that also writes bad rows. */
  withBad(sink: PageSink, lines: LineOptions): PageSink {
    const writer = new LineWriter(lines);
    const write = async (job: Job): Promise<void> => {
      await sink.write(job);
      if (job.problems.size > 0) await this.bad.write(writer.bad(job, this.input.name));
    };
    return { write };
  }

  async finish(): Promise<ScoredFiles> {
    await this.scores.write(''); // creates the file even without rows
    await this.scores.finish();
    await this.bad.finish();
    return { scores: this.scores.path, bad: this.bad.isThere ? this.bad.path : undefined };
  }

  async remove(): Promise<void> {
    await this.scores.remove();
    await this.bad.remove();
  }
}

/** Renames the results to names under which another run finds them if it has only the state. */
export function setAside({ output, bad }: Input, made: ScoredFiles): ScoredFiles {
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
  { output, bad }: Input,
  made: ScoredFiles,
  engine: () => Promise<Engine>,
): Promise<void> {
  if (isRemote(output)) {
    if (made.bad !== undefined) await upload(await engine(), made.bad, bad);
    await upload(await engine(), made.scores, output);
    return;
  }
  replace(bad, made.bad);
  replace(output, made.scores);
}

/** As `finish`, for an input that another run has set aside. @returns whether there is one */
export function finishAside({ output, bad }: Input): boolean {
  const [scores, itsBad] = [`${output}${ASIDE}`, `${bad}${ASIDE}`];
  if (isRemote(output) || !existsSync(scores)) return false;
  replace(bad, existsSync(itsBad) ? itsBad : undefined);
  replace(output, scores);
  return true;
}

/**
 * Whether its scores are there: 'outdated' if a file was written after them. The tables of a SELECT are not known, so its
 * scores always are.
 */
export async function stateOf(
  input: Input,
  engine: () => Promise<Engine>,
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

function filesOf({ path, query }: Input): string[] {
  if (query?.sql !== undefined) return [];
  return (query?.files ?? [{ path }]).map((file) => file.path).filter((file) => !isRemote(file));
}

/** A file that was moved here keeps its time of writing, but not that of its entry. */
function writtenMs(path: string): number {
  const { mtimeMs, ctimeMs } = statSync(path);
  return Math.max(mtimeMs, ctimeMs);
}

const TAIL_BYTES = 1 << 16;

/** Tells an input from another one under its name: sizes, and hashes of the ends, where Parquet has its footer. */
export async function markOf(input: Input): Promise<string> {
  const hash = createHash('sha256').update(input.query?.sql ?? '');
  for (const path of filesOf(input)) {
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

function replace(path: string, by: string | undefined): void {
  if (by === undefined) rmSync(path, { force: true });
  else renameSync(by, path);
}

/** A file being written under a temporary name; it exists from the first bytes on. */
class PartialOutput {
  readonly path: string;
  private file: FileHandle | undefined;

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
