import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { NEW_FILE, OWNER_ONLY, partialName } from '../files/atomicFile.js';
import { textOf, upload, type Engine } from './engine.js';
import { isRemote, type Input } from './inputs.js';
import type { WriteBytes } from './scoreColumns.js';

/** Complete files on the disk, under temporary names. */
export interface ScoredFiles {
  readonly scores: string;
  /** The rows without scores, if any. */
  readonly bad: string | undefined;
}

/** Where complete results wait for their names: another run finds them there by its state. */
function asideOf({ output, bad }: Input): { readonly scores: string; readonly bad: string } {
  return { scores: `${output}.partial`, bad: `${bad}.partial` };
}

/** The files of an input being scored; the one for bad rows is there once there is one. */
export class OutputFiles {
  readonly scores: PartialOutput;
  readonly bad: PartialOutput;

  /** `folder` is for what is uploaded when complete. */
  constructor(
    private readonly input: Input,
    private readonly folder: string | undefined,
  ) {
    const { output, bad } = input;
    if (folder === undefined) mkdirSync(dirname(output), { recursive: true });
    const named = (path: string): string =>
      partialName(folder === undefined ? path : join(folder, basename(path)));
    this.scores = new PartialOutput(named(output));
    this.bad = new PartialOutput(named(bad));
  }

  /** Flushes them to the disk, and removes bad rows and complete results of a former run. */
  async finish(): Promise<ScoredFiles> {
    await this.scores.write(''); // creates the file even without rows
    const made = { scores: (await this.scores.finish()) ?? '', bad: await this.bad.finish() };
    const aside = asideOf(this.input);
    if (this.folder === undefined)
      for (const path of [this.input.bad, aside.bad, aside.scores]) rmSync(path, { force: true });
    return made;
  }

  async remove(): Promise<void> {
    await this.scores.remove();
    await this.bad.remove();
  }
}

/** Sets complete results aside, where another run finds them if it has only the state. */
export function setAside(input: Input, made: ScoredFiles): ScoredFiles {
  const { scores, bad } = asideOf(input);
  if (made.bad !== undefined) renameSync(made.bad, bad);
  renameSync(made.scores, scores);
  return { scores, bad: made.bad && bad };
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
  if (made.bad !== undefined) renameSync(made.bad, bad);
  renameSync(made.scores, output);
}

/** What an earlier run set aside, and had no time to name; its bad rows may have their name already. */
export function madeBefore(input: Input): ScoredFiles | undefined {
  const { scores, bad } = asideOf(input);
  if (isRemote(input.output) || !existsSync(scores)) return undefined;
  return { scores, bad: existsSync(bad) ? bad : undefined };
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

/** A file being written under a temporary name; it exists from the first bytes on. */
class PartialOutput {
  private file: FileHandle | undefined;

  constructor(private readonly path: string) {}

  readonly write: WriteBytes = async (bytes) => {
    this.file ??= await open(this.path, NEW_FILE, OWNER_ONLY);
    await this.file.writeFile(bytes);
  };

  /** @returns its path, if there is one */
  async finish(): Promise<string | undefined> {
    await this.file?.sync();
    await this.file?.close();
    return this.file && this.path;
  }

  async remove(): Promise<void> {
    await this.file?.close();
    rmSync(this.path, { force: true });
  }
}
