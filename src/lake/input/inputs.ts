import { OperatorError } from '../../base/errors.js';
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { NamesError } from '../errors.js';
import { FORMATS, type Format, type ScoreOptions } from '../options.js';
import type { Engine } from './engine.js';
import { textOf } from './sql.js';

/**
 * The files that names mean, and where each one's results go.
 *
 *   a file ──────────────────────────────────┐
 *   a folder, a pattern ─► walked, not links ┼─► without own outputs ─► by path, or the partition of --order ─► Input:
 *   a store ─► the engine's glob ────────────┘                          OUT/FOLDERS BELOW THE NAME/STEM.scores.FORMAT
 */

const ENDINGS: Readonly<Record<Format, readonly string[]>> = {
  ndjson: ['ndjson', 'jsonl', 'json'],
  csv: ['csv'],
  arrow: ['arrow', 'arrows', 'feather', 'ipc'],
  parquet: ['parquet'],
};

/** A file's name without its format suffixes, its format if that is known, and its compression if it has one. */
export function formatOf(name: string) {
  const [, inner = name, packed] = /^(.*)\.(gz|zst|zstd)$/is.exec(name) ?? [];
  const [, stem = inner, ending = ''] = /^(.*)\.([^.]+)$/s.exec(inner) ?? [];
  const format = FORMATS.find((one) => ENDINGS[one].includes(ending.toLowerCase()));
  const compression = packed === undefined ? undefined : packed.toLowerCase() === 'gz' ? 'gzip' : 'zstd';
  return { stem: format === undefined ? inner : stem, format, compression } as const;
}

/** Whether a name is an address of a store, not a path. */
export function isRemote(name: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(name);
}

export function isPipe({ path }: Input): boolean {
  return !isRemote(path) && !statSync(path).isFile();
}

/** A column whose value is in a folder's name, as Hive, Spark and others write it: `night=2026-01-01`. */
export interface Partition {
  readonly name: string;
  readonly value: string | null;
}

/** A file to read, and where its scores go. */
export interface Input {
  readonly path: string;
  /** For messages: its path relative to the named folder. */
  readonly name: string;
  readonly format: Format;
  /** Columns from its path. */
  readonly partitions: readonly Partition[];
  readonly outputFormat: Format;
  readonly output: string;
  /** The file for bad rows; its name begins with _ among partitions, where Spark and pyarrow read every other file. */
  readonly bad: string;
  /** The record of its result: see `results.ts`. */
  readonly record: string;
  /** Set if it is no single file: a SELECT, or files that are sorted together. */
  readonly query?: InputQuery | undefined;
}

export interface InputQuery {
  readonly sql?: string | undefined;
  readonly files?: readonly Input[] | undefined;
  readonly isSorted: boolean;
}

export interface FindOptions extends Pick<
  ScoreOptions,
  'files' | 'sql' | 'format' | 'to' | 'outDir' | 'state' | 'history' | 'sort' | 'into'
> {
  /** Called with what a folder leaves out. */
  readonly say: (line: string) => void;
  /** Starts the engine, which finds what is in a store. */
  readonly engine: () => Promise<Engine>;
}

/** A file found by a name; the output folders repeat the folders below `base`. */
interface Found {
  readonly path: string;
  readonly base: string;
  /** Whether it was found in a folder, and is a link there. */
  readonly isLink: boolean;
  readonly isNamed: boolean;
}

/**
 * The inputs of a run, none for standard input: a SELECT, all files sorted together, or each of them.
 * @throws OperatorError, NamesError if they can't be scored so
 */
export async function findInputs(options: FindOptions): Promise<readonly Input[]> {
  const { files, sql, sort, history, state, into } = options;
  const isSorted = sort === true;
  if (sql !== undefined) return [queryInput({ sql, isSorted }, options)];
  const inputs = files.length === 0 ? [] : await namedInputs(options);
  const lines = isSorted ? inputs.find((one) => one.format === 'ndjson' || isPipe(one)) : undefined;
  if (lines !== undefined)
    throw new NamesError(`${lines.name}: files of Parquet and CSV can be sorted: make one of it first`);
  const byPaths = inputs.toSorted((a, b) => byPath(a.path, b.path));
  if (isSorted) return [queryInput({ files: byPaths, isSorted }, options)];
  if (inputs.length > 1 && history !== undefined && state === undefined && into === undefined)
    throw new NamesError(
      `these are ${inputs.length} files: --person needs --state there, which keeps the past of the finished ones, or --sort`,
    );
  return inputs;
}

/**
 * The named files, in order; those of a folder or a pattern by their paths, numbers by their value. If --order is a
 * partition of all of them, they come in its order. Tells what is left out: this command's own outputs, so that a folder
 * or a pattern can be used again, what can't be scored, and what is read by another name.
 * @throws OperatorError if a file is missing, its format is unknown, or two have the same output
 */
async function namedInputs(options: FindOptions): Promise<Input[]> {
  /** The path by which a file is read, by the file that it leads to. */
  const paths = new Map<string, string>();
  const left = new Map<string, Set<string>>();
  const leave = (why: string, path: string): unknown =>
    left.set(why, (left.get(why) ?? new Set<string>()).add(path));
  const told = (): string[] =>
    left.size === 0 ? [] : [`not read: ${[...left].map(([why, all]) => counted(why, [...all])).join('; ')}`];
  const refuse = (what: string): never => {
    throw new OperatorError([what, ...told()].join('; '));
  };
  const inputs: Input[] = [];
  for (const name of options.files) {
    const found = await filesOf(name, options);
    const fit = found.filter((file) => {
      const why = whyNot(file, options);
      if (why !== undefined) leave(why, file.path);
      return why === undefined;
    });
    if (fit.length === 0 && found[0]?.isNamed !== true) refuse(`${name}: no file can be scored`);
    // Links last, and each file once.
    const files = fit
      .toSorted((a, b) => Number(a.isLink) - Number(b.isLink) || byPath(a.path, b.path))
      .filter(({ path }) => {
        const real = realOf(path);
        const before = paths.get(real);
        if (before === undefined) paths.set(real, path);
        else if (before !== path) leave('read by another name', path);
        return before === undefined;
      });
    inputs.push(...files.toSorted((a, b) => byPath(a.path, b.path)).map((file) => inputOf(file, options)));
  }
  if (inputs.length === 0) refuse('no file can be scored');
  for (const line of told()) options.say(line);
  if (!areOnlyRead(options)) refuseSharedOutputs(inputs);
  const valueOf = ({ partitions }: Input): string | null | undefined =>
    partitions.find(({ name }) => name === options.history?.order)?.value;
  if (!inputs.every((input) => valueOf(input) !== undefined)) return inputs;
  return inputs.toSorted((a, b) => byNumbers(valueOf(a) ?? '', valueOf(b) ?? ''));
}

/** Where a path leads to, if it leads anywhere. */
export function realOf(path: string): string {
  return !isRemote(path) && existsSync(path) ? realpathSync(path) : path;
}

/** The one input of a SELECT, or of files that are sorted together. */
function queryInput(query: InputQuery, { to, outDir = '.' }: FindOptions): Input {
  const [first, ...more] = query.files ?? [];
  if (first !== undefined && more.length === 0) return { ...first, query };
  const outputFormat = to ?? 'parquet';
  const stem = query.sql === undefined ? 'sorted' : 'query';
  return {
    path: first?.path ?? '',
    name: query.sql === undefined ? 'the sorted table' : 'the query',
    format: first?.format ?? 'parquet',
    query,
    ...resultOf(outDir, stem, { outputFormat, partitions: [] }),
  };
}

function inputOf(file: Found, options: FindOptions): Input {
  const { path } = file;
  const { outDir, to } = options;
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
  if (outDir === undefined && isRemote(path) && !areOnlyRead(options))
    throw new OperatorError(`${path}: name a folder for its scores, --out-dir`);
  const inner = mirrored(file);
  const name = join(inner, basename(path));
  const folder = outDir === undefined ? dirname(path) : below(outDir, inner);
  const partitions = partitionsOf(dirname(path));
  return { path, name, format, ...resultOf(folder, stem, { outputFormat: to ?? format, partitions }) };
}

/** Spark, Hive and pyarrow pass over names that begin with _. */
function resultOf(folder: string, stem: string, like: Pick<Input, 'outputFormat' | 'partitions'>) {
  return {
    ...like,
    output: below(folder, `${stem}.scores.${like.outputFormat}`),
    bad: below(folder, `${like.partitions.length > 0 ? '_' : ''}${stem}.bad.ndjson`),
    record: below(folder, `_${stem}.acuity`),
  };
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

/** Decodes percent signs; a text that is not UTF-8 stays as it is: letters that are lost would make two people one. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The folder above all partition folders of a path. */
function aboveOf(folder: string): string {
  return PARTITION.test(basename(folder)) ? aboveOf(dirname(folder)) : folder;
}

function below(folder: string, name: string): string {
  return isRemote(folder) ? `${folder.replace(/\/$/, '')}/${name}` : resolve(folder, name);
}

/** Whether no file has a result of its own. */
function areOnlyRead({ into, sort }: FindOptions): boolean {
  return into !== undefined || sort === true;
}

/** The folders between the named folder and the file, with all partitions; never `..`. */
function mirrored({ path, base }: Found): string {
  const folder = dirname(path);
  const above = aboveOf(folder);
  return relative(isWithin(folder, base) && base.length < above.length ? base : above, folder);
}

function isWithin(path: string, folder: string): boolean {
  return `${path}${sep}`.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
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
async function filesOf(name: string, options: FindOptions): Promise<Found[]> {
  const isFar = isRemote(name);
  if (/^https?:/i.test(name) && (/[?*[@]/.test(name) || formatOf(name).format === undefined))
    throw new OperatorError(
      `${name.replace(/(?<=\/\/)[^/]*@|\?.*/gs, '…')}: an address of https:// is one file's, without ?, pattern or password: copy the file, or pipe it`,
    );
  const isPattern = PATTERN.test(name) && (isFar || !existsSync(name));
  const path = isFar ? name.replace(/\/$/, '') : resolve(name);
  const base = isPattern ? dirname(`${path.slice(0, path.search(PATTERN))}_`) : path;
  if (!isFar && !existsSync(base)) throw new OperatorError(`${name}: there is no such file`);
  const isFile = isFar ? formatOf(name).format !== undefined : !statSync(base).isDirectory();
  const isOne = isFile && !isPattern;
  const one: Found = { path, base: dirname(path), isLink: false, isNamed: true };
  const all = isOne ? [one] : isFar ? await listedInStore(base, options) : [...listedBelow(base, base)];
  const found = isPattern ? all.filter(meaningOf(path)) : all;
  const seen = new Set<string>();
  const above = isFar ? [] : found.flatMap((file) => [...marksAbove(dirname(realOf(file.path)), seen)]);
  refuseVersions([...above, ...all.map((file) => file.path)], found);
  if (isPattern && found.length === 0) throw new OperatorError(`${name}: no file matches`);
  return found;
}

const PATTERN = /[*?[]/;

/** Whether a pattern means what was found, or a link to a folder that it leads through. */
function meaningOf(pattern: string): (found: Found) => boolean {
  const whole = regExpOf(pattern);
  const upTo = (path: string): string => pattern.split('/', path.split('/').length).join('/');
  return ({ path, isLink }) =>
    whole.test(path) || (isLink && existsSync(`${path}/`) && regExpOf(upTo(path)).test(path));
}

/** The paths that a pattern means, and those below a folder that it means. */
function regExpOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*\/?|\[[^\]]+\]|[\\^$.*+?()[{|]/g, (part) => {
    if (part.startsWith('**')) return part.endsWith('/') ? '(.*/)?' : '.*';
    if (part === '*' || part === '?') return part === '*' ? '[^/]*' : '[^/]';
    return part.length > 1 ? part.replace(/^\[!/, '[^').replaceAll('\\', '\\\\') : `\\${part}`;
  });
  return new RegExp(`^${source}(/|$)`, 's');
}

async function listedInStore(base: string, { engine }: FindOptions): Promise<Found[]> {
  const sql = `SELECT file FROM glob(${textOf(`${base}/**`)})`;
  const rows = await (await engine()).texts(sql, base);
  return rows.map(([file]) => ({ path: file ?? '', base, isLink: false, isNamed: false }));
}

/** Not Node's recursive reading: since Node 24 it follows links to folders, without end where two lead upwards. */
function* listedBelow(folder: string, base: string): Generator<Found> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listedBelow(path, base);
    else yield { path, base, isLink: entry.isSymbolicLink(), isNamed: false };
  }
}

/** Files by which the folder above is known as a table that also holds deleted or replaced rows. */
const VERSIONED: readonly (readonly [folder: string, file: RegExp, table: string])[] = [
  ['_delta_log', /^/, 'a Delta'],
  ['.hoodie', /^/, 'a Hudi'],
  ['metadata', /^[^/]+\.metadata\.json$/, 'an Iceberg'],
];

/** Files that may be such ones in the folders from `folder` upwards, but for those `seen`. */
function* marksAbove(folder: string, seen: Set<string>): Generator<string> {
  if (seen.has(folder)) return;
  seen.add(folder);
  for (const [name] of VERSIONED)
    try {
      for (const mark of readdirSync(join(folder, name))) yield join(folder, name, mark);
    } catch {
      // Not there, or another user's, whose tables are none of these files'.
    }
  yield* marksAbove(dirname(folder), seen);
}

/** @throws OperatorError if a file that was found is one of such a table */
function refuseVersions(paths: readonly string[], found: readonly Found[]): void {
  for (const [name, file, table] of VERSIONED) {
    const folders = paths.flatMap((path) => {
      const at = path.lastIndexOf(`/${name}/`);
      return at >= 0 && file.test(path.slice(at + name.length + 2)) ? [path.slice(0, at)] : [];
    });
    const folder = [...new Set(folders)].find((one) =>
      found.some(({ path }) => isWithin(path, one) || isWithin(realOf(path), one)),
    );
    if (folder !== undefined)
      throw new OperatorError(
        `${folder} is ${table} table, whose files hold deleted rows too: read it with --sql (--extension delta, iceberg), or pipe Arrow to standard input`,
      );
  }
}

/** Most names listed for each kind of skipped file. */
const NAMES_TOLD = 3;

/** How many files are of a kind, with the first names. */
function counted(kind: string, paths: readonly string[]): string {
  const first = paths.toSorted(byPath).slice(0, NAMES_TOLD).join(', ');
  return `${paths.length} ${kind} (${first}${paths.length > NAMES_TOLD ? ', …' : ''})`;
}

/** The names of this command's outputs, and of the lock of one being made. */
export const OUTPUT = /\.(scores\.[a-z]+|bad\.ndjson|acuity|acuity\.lock)$/;

/** Why a file is not read; undefined if it is. */
function whyNot({ path, base, isLink, isNamed }: Found, options: FindOptions): string | undefined {
  const { format, state } = options;
  if (OUTPUT.test(path) || (state !== undefined && path === resolve(state)))
    return 'named as scores, bad rows, their records or the state';
  if (isNamed) return undefined;
  if (isLink && !existsSync(path)) return 'a link to nothing';
  if (!isRemote(path) && !statSync(path).isFile())
    return isLink ? 'a link to no file: name what it leads to' : 'no regular file';
  // The rule of Spark and Hive: a column's name may begin so.
  const isHidden = (part: string): boolean =>
    part.startsWith('.') || (part.startsWith('_') && !part.includes('='));
  if (path.slice(base.length).split('/').some(isHidden)) return 'hidden or begun with _';
  const last = basename(path);
  const isKnown = formatOf(last).format !== undefined || (format !== undefined && !last.includes('.'));
  return isKnown ? undefined : 'without a known ending';
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
