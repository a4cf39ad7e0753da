import { OperatorError } from '../base/errors.js';
import { existsSync, readdirSync, realpathSync, statSync, type Dirent } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Engine } from './engine.js';
import { textOf } from './sql.js';

/*
 * The files that names mean, and where each one's results go.
 *
 *   a file ──────────────────────────────────┐
 *   a folder ─► walked; links not followed ──┼─► without own outputs ─► by path, or the partition of --order ─► Input:
 *   a pattern, a store ─► the engine's glob ─┘                          OUT/FOLDERS BELOW THE NAME/STEM.scores.FORMAT
 */

export const FORMATS = ['ndjson', 'csv', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

const ENDINGS: Readonly<Record<string, Format>> = {
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  json: 'ndjson',
  csv: 'csv',
  arrow: 'arrow',
  arrows: 'arrow',
  feather: 'arrow',
  ipc: 'arrow',
  parquet: 'parquet',
};

/** A file's name without its format suffixes, and the format. */
export interface NamedFormat {
  readonly stem: string;
  readonly format: Format | undefined;
  readonly compression: 'gzip' | 'zstd' | undefined;
}

export function formatOf(name: string): NamedFormat {
  const [, inner = name, packed] = /^(.*)\.(gz|zst|zstd)$/i.exec(name) ?? [];
  const [, stem = inner, ending = ''] = /^(.*)\.([^.]+)$/.exec(inner) ?? [];
  const format = ENDINGS[ending.toLowerCase()];
  const compression = packed === undefined ? undefined : packed.toLowerCase() === 'gz' ? 'gzip' : 'zstd';
  return { stem: format === undefined ? inner : stem, format, compression };
}

/** Whether a name is an address of a store, not a path. */
export function isRemote(name: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
}

/** A column whose value is in a folder's name, as Hive, Spark and others write it: `night=2026-01-01`. */
export interface Partition {
  readonly name: string;
  readonly value: string | null;
}

/** What is read, and where its scores go. */
export interface Input {
  readonly path: string;
  /** For messages: its path relative to the named folder. */
  readonly name: string;
  readonly format: Format;
  /** Columns from its path. */
  readonly partitions: readonly Partition[];
  readonly outputFormat: Format;
  readonly output: string;
  /**
   * The file for bad rows. Its name begins with _ among partitions, where Spark and pyarrow read every other file.
   */
  readonly bad: string;
  /** The record of its result: see `records.ts`. */
  readonly record: string;
  /** Set if it is no single file: a SELECT, or files that are sorted together. */
  readonly query?: InputQuery | undefined;
}

export interface InputQuery {
  readonly sql?: string | undefined;
  readonly files?: readonly Input[] | undefined;
  readonly isSorted: boolean;
}

export interface FindOptions {
  /** For files whose name does not say it. */
  readonly format?: Format | undefined;
  readonly to?: Format | undefined;
  readonly outDir?: string | undefined;
  readonly state?: string | undefined;
  /** The column with the time of a row. */
  readonly order?: string | undefined;
  /** The files are only read, so no outputs can collide. */
  readonly isRead?: boolean;
  /** Called with what a folder leaves out. */
  readonly tell?: ((line: string) => void) | undefined;
  /** Starts the engine, which finds what patterns mean. */
  readonly engine: () => Promise<Engine>;
}

/** A file found by a name; the output folders repeat the folders below `base`. */
interface NamedFile {
  readonly path: string;
  readonly base: string;
}

/**
 * The files that `names` refer to, in order; those of a folder or a pattern by their paths, numbers by their value. If
 * --order is a partition of all of them, they come in its order. This command's own outputs are left out, so a folder
 * or a pattern can be used again.
 * @throws OperatorError if a file is missing, its format is unknown, or two have the same output
 */
export async function findInputs(names: readonly string[], options: FindOptions): Promise<Input[]> {
  const named = new Map<string, NamedFile>();
  for (const name of names)
    for (const file of await filesOf(name, options)) if (!named.has(file.path)) named.set(file.path, file);
  const own = new Set([...named.values()].flatMap((file) => ownFiles(file, options)));
  const inputs = [...named.values()].flatMap((file) => (own.has(file.path) ? [] : [inputOf(file, options)]));
  if (options.isRead !== true) refuseSharedOutputs(inputs);
  const { order } = options;
  const valueOf = ({ partitions }: Input): string | null | undefined =>
    partitions.find(({ name }) => name === order)?.value;
  if (!inputs.every((input) => valueOf(input) !== undefined)) return inputs;
  return inputs.toSorted((a, b) => byNumbers(valueOf(a) ?? '', valueOf(b) ?? ''));
}

/** The one input of a SELECT, or of files that are sorted together. */
export function queryInput(
  query: InputQuery,
  { to, outDir = '.' }: Pick<FindOptions, 'to' | 'outDir'>,
): Input {
  const [first, ...more] = query.files ?? [];
  if (first !== undefined && more.length === 0) return { ...first, partitions: [], query };
  const outputFormat = to ?? 'parquet';
  const stem = query.sql === undefined ? 'sorted' : 'query';
  return {
    path: first?.path ?? '',
    name: query.sql === undefined ? `${more.length + 1} files` : 'the query',
    format: first?.format ?? 'parquet',
    partitions: [],
    output: below(outDir, `${stem}.scores.${outputFormat}`),
    bad: below(outDir, `${stem}.bad.ndjson`),
    record: below(outDir, recordName(stem)),
    outputFormat,
    query,
  };
}

function inputOf(file: NamedFile, options: FindOptions): Input {
  const { path } = file;
  const { stem, format: named } = formatOf(basename(path));
  if (isRemote(path) && path.includes('?'))
    throw new OperatorError(`${path}: the engine reads what follows ? as settings: rename the key`);
  const format = options.format ?? named;
  if (format === undefined)
    throw new OperatorError(`${path}: the name does not say the format; --format does`);
  if (format === 'arrow')
    throw new OperatorError(
      `${path}: Arrow comes by standard input, as a stream (acuity score --format arrow < nights.arrows). Make Parquet of a file: python3 -c 'import sys, pyarrow.feather as f, pyarrow.parquet as p; p.write_table(f.read_table(sys.argv[1]), sys.argv[2])' nights.arrow nights.parquet`,
    );
  const outputFormat = options.to ?? format;
  const partitions = partitionsOf(dirname(path));
  const bad = `${stem}.bad.ndjson`;
  const folder = outputFolder(file, options);
  return {
    path,
    name: join(mirrored(file), basename(path)),
    format,
    partitions,
    outputFormat,
    output: below(folder, `${stem}.scores.${outputFormat}`),
    bad: below(folder, partitions.length > 0 ? `_${bad}` : bad),
    record: below(folder, recordName(stem)),
  };
}

/** Spark, Hive and pyarrow pass over names that begin so. */
function recordName(stem: string): string {
  return `_${stem}.acuity`;
}

const PARTITION = /^([^=]+)=(.*)$/s;
/** Hive's folder name for rows without a value. */
const NULL_FOLDER = '__HIVE_DEFAULT_PARTITION__';

/** The partition folders directly above a file. @throws OperatorError if two of them have the same column */
function partitionsOf(folder: string): Partition[] {
  const own = relative(aboveOf(folder), folder).split(sep);
  const found = own.flatMap((part): Partition[] => {
    const [, name, value = ''] = PARTITION.exec(part) ?? [];
    if (name === undefined) return [];
    return [{ name: decoded(name), value: value === NULL_FOLDER ? null : decoded(value) }];
  });
  if (new Set(found.map(({ name }) => name)).size < found.length)
    throw new OperatorError(`${folder}: two of its folders are partitions by one column`);
  return found;
}

/** The folder above all partition folders of a path. */
function aboveOf(folder: string): string {
  return PARTITION.test(basename(folder)) ? aboveOf(dirname(folder)) : folder;
}

/** Decodes percent signs; returns the text unchanged if they are invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function below(folder: string, name: string): string {
  return isRemote(folder) ? `${folder.replace(/\/$/, '')}/${name}` : join(folder, name);
}

function outputFolder(file: NamedFile, { outDir, isRead }: FindOptions): string {
  if (outDir === undefined) {
    if (isRemote(file.path) && isRead !== true)
      throw new OperatorError(`${file.path}: name a folder for its scores, --out-dir`);
    return dirname(file.path);
  }
  const inner = mirrored(file);
  if (!isRemote(outDir)) return join(resolve(outDir), inner);
  return inner === '' ? outDir : below(outDir, inner);
}

/** The folders between the named folder and the file, with all partitions; never `..`. */
function mirrored({ path, base }: NamedFile): string {
  const folder = dirname(path);
  const above = aboveOf(folder);
  return relative(isWithin(folder, base) && base.length < above.length ? base : above, folder);
}

function isWithin(path: string, folder: string): boolean {
  return `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** The outputs and state files that runs of this command write for a file, in any format. */
function ownFiles(file: NamedFile, options: FindOptions): string[] {
  const { stem } = formatOf(basename(file.path));
  const scores = FORMATS.map((format) => `${stem}.scores.${format}`);
  const names = [...scores, `${stem}.bad.ndjson`, `_${stem}.bad.ndjson`];
  const written = [dirname(file.path), outputFolder(file, options)].flatMap((folder) =>
    names.map((name) => below(folder, name)),
  );
  return options.state === undefined ? written : [...written, resolve(options.state)];
}

function refuseSharedOutputs(inputs: readonly Input[]): void {
  const outputs = new Map<string, string>();
  for (const { path, output, bad } of inputs) {
    for (const written of [output, bad]) {
      const other = outputs.get(written);
      const remedy = dirname(other ?? '') === dirname(path) ? 'rename one' : 'name the folder above them';
      if (other !== undefined)
        throw new OperatorError(
          `${other} and ${path} would both be scored to ${written}: ${remedy}, or give each run its own --out-dir`,
        );
      outputs.set(written, path);
    }
  }
}

/** The files of a name: a file, all below a folder, or what a pattern means. */
async function filesOf(name: string, options: FindOptions): Promise<NamedFile[]> {
  const isPattern = /[*?[]/.test(name);
  if (!isRemote(name) && existsSync(name)) {
    const path = resolve(name);
    if (!statSync(path).isDirectory()) return [{ path, base: dirname(path) }];
    return readable(filesBelow(path, options), path, options);
  }
  if (!isRemote(name) && !isPattern) throw new OperatorError(`${name}: there is no such file`);
  if (!isPattern && formatOf(name).format !== undefined) return [{ path: name, base: dirname(name) }];
  const whole = isRemote(name) ? name.replace(/\/$/, '') : resolve(name);
  const base = isPattern ? dirname(`${whole.slice(0, whole.search(/[*?[]/))}_`) : whole;
  // A pattern may mean folders too.
  const patterns = [...(isPattern ? [whole] : []), `${whole}/**`].map(textOf);
  const found = await (
    await options.engine()
  ).texts(patterns.map((pattern) => `SELECT file FROM glob(${pattern})`).join(' UNION '), name);
  const paths = found.map(([path]) => path ?? '');
  if (paths.length === 0) throw new OperatorError(`${name}: no file matches`);
  return readable({ paths, left: new Map() }, base, options);
}

interface Found {
  readonly paths: readonly string[];
  /** What is not read, by its kind. */
  readonly left: Map<string, string[]>;
}

/** The names of this command's outputs, and of the lock of one being made. */
const OUTPUT = /\.(scores\.[a-z]+|bad\.ndjson|acuity|acuity\.lock)$/;
/** Most names listed for each kind of skipped file. */
const NAMES_TOLD = 3;

/** Of the files found, those that can be scored, by path; tells of the others. @throws OperatorError if there is none */
function readable({ paths, left }: Found, base: string, options: FindOptions): NamedFile[] {
  const own = (path: string): string => path.slice(base.length).replace(/^\//, '');
  const files = paths.filter((path) => {
    const why = whyNot(own(path), options);
    if (why !== undefined) leave(left, why, path);
    return why === undefined;
  });
  const kinds = [...left].map(([kind, all]) => {
    const names = all.map(own).toSorted(byPath);
    return `${all.length} ${kind} (${names.slice(0, NAMES_TOLD).join(', ')}${names.length > NAMES_TOLD ? ', …' : ''})`;
  });
  const told = kinds.length === 0 ? [] : [`not read: ${kinds.join('; ')}`];
  if (files.length === 0)
    throw new OperatorError(`${base}: ${['no file in it can be scored', ...told].join('; ')}`);
  for (const line of told) options.tell?.(`${base}: ${line}`);
  return files.toSorted(byPath).map((path) => ({ path, base }));
}

function whyNot(path: string, { format }: FindOptions): string | undefined {
  // The rule of Spark and Hive: a column's name may begin so.
  const isHidden = (part: string): boolean =>
    part.startsWith('.') || (part.startsWith('_') && !part.includes('='));
  if (OUTPUT.test(path)) return 'scores, bad rows or their records';
  if (path.split('/').some(isHidden)) return 'hidden or begun with _';
  const name = basename(path);
  const isKnown = formatOf(name).format !== undefined || (format !== undefined && !name.includes('.'));
  return isKnown ? undefined : 'without a known ending';
}

function leave(left: Found['left'], kind: string, path: string): void {
  left.set(kind, [...(left.get(kind) ?? []), path]);
}

/** Table formats whose folders also hold deleted or replaced rows. */
const VERSIONED: readonly (readonly [mark: RegExp, table: string])[] = [
  [/^_delta_log$/, 'a Delta'],
  [/^\.hoodie$/, 'a Hudi'],
  [/\.metadata\.json$/, 'an Iceberg'],
];

/** All files below a folder, each once; links to folders are not followed. @throws OperatorError */
function filesBelow(folder: string, { outDir }: FindOptions): Found {
  const left: Found['left'] = new Map();
  const root = realpathSync(folder);
  const paths = new Map<string, string>();
  const links: string[] = [];
  for (const entry of entriesBelow(folder)) {
    const path = join(entry.parentPath, entry.name);
    const versioned = VERSIONED.find(([mark]) => mark.test(entry.name));
    if (versioned !== undefined)
      throw new OperatorError(
        `${entry.parentPath} is ${versioned[1]} table, whose files hold deleted rows too: read it with --sql (--extension delta, iceberg), or pipe Arrow to standard input`,
      );
    if (outDir !== undefined && resolve(outDir) !== folder && isWithin(path, resolve(outDir))) continue;
    if (entry.isSymbolicLink() && !OUTPUT.test(path)) links.push(path);
    else if (entry.isFile()) paths.set(join(root, relative(folder, path)), path);
    else if (!entry.isDirectory()) leave(left, 'no regular file', path);
  }
  for (const link of links.toSorted(byPath)) {
    if (!existsSync(link)) leave(left, 'a link to nothing', link);
    else if (!statSync(link).isFile()) leave(left, 'a link to no file: name what it leads to', link);
    else if (paths.has(realpathSync(link))) leave(left, 'a link to what is read anyway', link);
    else paths.set(realpathSync(link), link);
  }
  return { paths: [...paths.values()], left };
}

/** Not Node's recursive reading: since Node 24 it follows links to folders, without end where two lead upwards. */
function* entriesBelow(folder: string): Generator<Dirent> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    yield entry;
    if (entry.isDirectory()) yield* entriesBelow(join(folder, entry.name));
  }
}

const collator = new Intl.Collator('en', { numeric: true });

/** By character, but numbers by their value: `part-2` before `part-10`. */
function byNumbers(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** The same, folder by folder. */
function byPath(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (const [index, part] of left.entries()) {
    const order = byNumbers(part, right[index] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}
