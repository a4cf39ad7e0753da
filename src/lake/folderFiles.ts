import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { errorCode } from '../files/fileError.js';
import { FormatError } from './errors.js';
import { pathOrder } from './naturalOrder.js';

/** The files found in a folder. */
export interface FolderFiles {
  /** The files to score, in their natural order. */
  readonly paths: readonly string[];
  /** What is not read, in one line for people; undefined if everything is read. */
  readonly left: string | undefined;
}

export interface FolderOptions {
  /** Whether a file with this name is to be scored. */
  readonly accepts: (name: string) => boolean;
  /** Not searched: the output folder. */
  readonly outDir: string | undefined;
}

const HIDDEN = 'hidden or begun with _';
const UNKNOWN = 'without a known ending';
const WRITTEN = 'scores or bad rows';
const ODD = 'no regular file';
const LOST = 'a link to nothing';
const AGAIN = 'a link to what is read anyway, or to a folder around it';

/** The names of this command's outputs. */
export const OUTPUT = /\.(scores\.[a-z]+|bad\.ndjson)$/;
/** Most names listed for each kind of skipped file. */
const NAMES_TOLD = 3;

/** Table formats whose folders also hold deleted or replaced rows, with the marks that identify them. */
const VERSIONED: readonly (readonly [isMark: (name: string) => boolean, table: string])[] = [
  [(name) => name === '_delta_log', 'a Delta'],
  [(name) => name === '.hoodie', 'a Hudi'],
  [(name) => name.endsWith('.metadata.json'), 'an Iceberg'],
];

/** All files below `folder` that can be scored, each once. @throws FormatError */
export function folderFiles(folder: string, options: FolderOptions): FolderFiles {
  const walk = new Walk(folder, options);
  walk.all();
  const { paths } = walk;
  if (paths.length === 0)
    throw new FormatError([`${folder}: no file in it can be scored`, walk.left].filter(Boolean).join('; '));
  const left = walk.left === undefined ? undefined : `${folder}: ${walk.left}`;
  return { paths: paths.toSorted(pathOrder), left };
}

class Walk {
  readonly paths: string[] = [];
  private readonly leftOut = new Map<string, string[]>();
  /** Real paths of folders and files. */
  private readonly seen = new Set<string>();
  /** Followed last, because their targets may be in the folder too. */
  private links: string[] = [];
  private readonly root: string;
  private readonly outDir: string | undefined;

  constructor(
    private readonly folder: string,
    private readonly options: FolderOptions,
  ) {
    this.root = realpathSync(folder);
    this.outDir = options.outDir === undefined ? undefined : realPath(options.outDir);
  }

  get left(): string | undefined {
    const kinds = [...this.leftOut].map(([kind, paths]) => {
      const names = paths
        .toSorted(pathOrder)
        .map((path) => path.slice(this.folder.length).replace(/^\//, ''));
      const rest = names.length > NAMES_TOLD ? ', …' : '';
      return `${paths.length} ${kind} (${names.slice(0, NAMES_TOLD).join(', ')}${rest})`;
    });
    return kinds.length === 0 ? undefined : `not read: ${kinds.join('; ')}`;
  }

  all(): void {
    this.enter(this.folder, this.root);
    while (this.links.length > 0) {
      const links = this.links.toSorted(pathOrder);
      this.links = [];
      for (const link of links) this.follow(link);
    }
  }

  private enter(folder: string, real: string): void {
    if (this.seen.has(real) || (real === this.outDir && real !== this.root)) return;
    this.seen.add(real);
    const names = readdirSync(folder);
    for (const [isMark, table] of VERSIONED) {
      if (!names.some(isMark)) continue;
      throw new FormatError(
        `${folder} is ${table} table, whose files hold deleted rows too: read it with --sql (--extension delta, iceberg), or pipe Arrow to standard input`,
      );
    }
    for (const name of names) {
      const path = join(folder, name);
      const stats = lstatSync(path);
      // The rule of Spark and Hive: a column's name may begin so.
      if (name.startsWith('.') || (name.startsWith('_') && !name.includes('='))) this.leave(HIDDEN, path);
      else if (stats.isSymbolicLink()) this.links.push(path);
      else this.take(path, join(real, name), stats);
    }
  }

  private take(path: string, real: string, stats: Stats): void {
    if (stats.isDirectory()) this.enter(path, real);
    else if (!stats.isFile()) this.leave(ODD, path);
    else if (OUTPUT.test(path)) this.leave(WRITTEN, path);
    else if (!this.options.accepts(basename(path))) this.leave(UNKNOWN, path);
    else {
      this.seen.add(real);
      this.paths.push(path);
    }
  }

  private follow(link: string): void {
    const real = realPath(link);
    if (real === undefined) return this.leave(LOST, link);
    if (this.seen.has(real) || isWithin(this.root, real)) return this.leave(AGAIN, link);
    this.take(link, real, statSync(real));
  }

  private leave(kind: string, path: string): void {
    const paths = this.leftOut.get(kind) ?? [];
    this.leftOut.set(kind, paths);
    paths.push(path);
  }
}

/** Undefined if nothing is there, or links form a cycle. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (['ENOENT', 'ELOOP'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

function isWithin(path: string, folder: string): boolean {
  return `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
