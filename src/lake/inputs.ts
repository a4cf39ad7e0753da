import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { OUTPUT, folderFiles } from './folderFiles.js';
import { textOf, type Engine } from './engine.js';
import { FormatError } from './errors.js';
import { FORMATS, formatOf, isRemote, type Format } from './formatNames.js';
import { naturalOrder, pathOrder } from './naturalOrder.js';
import { partitionColumns, partitionedFolder, type Partition } from './partitions.js';

/** A file to score, and where its scores go. */
export interface InputFile {
  readonly path: string;
  /** For messages: its path relative to the named folder. */
  readonly name: string;
  readonly format: Format;
  readonly bytes: number;
  /** Columns from its path. */
  readonly partitions: readonly Partition[];
  readonly outputFormat: Format;
  readonly output: string;
  /**
   * The file for bad rows. Its name begins with _ among partitions, where Spark and pyarrow read every other file.
   */
  readonly bad: string;
  /** Set if it is no single file: a SELECT, or files that are sorted together. */
  readonly query?: InputQuery | undefined;
}

export interface InputQuery {
  readonly sql?: string | undefined;
  readonly files?: readonly InputFile[] | undefined;
  readonly isSorted: boolean;
}

export interface InputOptions {
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
  /** Starts the engine, which lists stores. */
  readonly engine: () => Promise<Engine>;
}

/** A file found by a name; the output folders repeat the folders below `base`. */
interface NamedFile {
  readonly path: string;
  readonly base: string;
}

/**
 * The files that `names` refer to, in order; those of a folder or a pattern in natural order. If --order is a
 * partition of all of them, they come in its order. This command's own outputs are left out, so a folder or a pattern
 * can be used again.
 * @throws FormatError if a file is missing, its format is unknown, or two have the same output
 */
export async function inputFiles(names: readonly string[], options: InputOptions): Promise<InputFile[]> {
  const named = new Map<string, NamedFile>();
  for (const file of await allFiles(names, options)) {
    if (!named.has(file.path)) named.set(file.path, file);
  }
  const own = new Set([...named.values()].flatMap((file) => ownFiles(file, options)));
  const files = [...named.values()].filter(({ path }) => !own.has(path));
  const values = files.map(({ path }) => partitionedFolder(dirname(path)).values);
  const columns = partitionColumns(values, options.order);
  const inputs = files.map((file, index) => inputFile(file, columns[index] ?? [], options));
  if (options.isRead !== true) refuseSharedOutputs(inputs);
  return inPartitionOrder(inputs, options.order);
}

function inputFile(file: NamedFile, partitions: readonly Partition[], options: InputOptions): InputFile {
  const { format, to } = options;
  const { path } = file;
  const named = formatOf(basename(path));
  const input = format ?? named.format;
  if (input === undefined) throw new FormatError(`${path}: the name does not say the format; --format does`);
  const outputFormat = to ?? input;
  const bad = `${named.stem}.bad.ndjson`;
  const folder = outputFolder(file, options);
  return {
    path,
    name: join(mirrored(file), basename(path)),
    format: input,
    bytes: isRemote(path) ? 0 : statSync(path).size,
    partitions,
    outputFormat,
    output: below(folder, `${named.stem}.scores.${outputFormat}`),
    bad: below(folder, partitions.length > 0 ? `_${bad}` : bad),
  };
}

/** The one input of a SELECT, or of files that are sorted together. */
export function queryInput(query: InputQuery, { to, outDir = '.' }: InputOptions): InputFile {
  const [first, ...more] = query.files ?? [];
  const isOne = first !== undefined && more.length === 0;
  const outputFormat = to ?? 'parquet';
  const stem = query.sql === undefined ? 'sorted' : 'query';
  const outputs = isOne
    ? { output: first.output, bad: first.bad, outputFormat: first.outputFormat }
    : {
        output: below(outDir, `${stem}.scores.${outputFormat}`),
        bad: below(outDir, `${stem}.bad.ndjson`),
        outputFormat,
      };
  const name = query.sql !== undefined ? 'the query' : isOne ? first.name : `${more.length + 1} files`;
  return {
    path: first?.path ?? '',
    name,
    format: first?.format ?? 'parquet',
    bytes: 0,
    partitions: [],
    ...outputs,
    query,
  };
}

function below(folder: string, name: string): string {
  return isRemote(folder) ? `${folder.replace(/\/$/, '')}/${name}` : join(folder, name);
}

function outputFolder(file: NamedFile, { outDir, isRead }: InputOptions): string {
  if (outDir === undefined) {
    if (isRemote(file.path) && isRead !== true)
      throw new FormatError(`${file.path}: name a folder for its scores, --out-dir`);
    return dirname(file.path);
  }
  const inner = mirrored(file);
  if (!isRemote(outDir)) return join(resolve(outDir), inner);
  return inner === '' ? outDir : below(outDir, inner);
}

/** The folders between the named folder and the file, with all partitions; never `..`. */
function mirrored({ path, base }: NamedFile): string {
  const folder = dirname(path);
  const { above } = partitionedFolder(folder);
  const isBelow = `${folder}${sep}`.startsWith(base.endsWith(sep) ? base : `${base}${sep}`);
  return relative(isBelow && base.length < above.length ? base : above, folder);
}

/** The outputs and state files that runs of this command write for a file, in any format. */
function ownFiles(file: NamedFile, options: InputOptions): string[] {
  const { state } = options;
  const { stem } = formatOf(basename(file.path));
  const scores = FORMATS.map((format) => `${stem}.scores.${format}`);
  const names = [...scores, `${stem}.bad.ndjson`, `_${stem}.bad.ndjson`];
  const written = [dirname(file.path), outputFolder(file, options)].flatMap((folder) =>
    names.map((name) => below(folder, name)),
  );
  return state === undefined ? written : [...written, resolve(state)];
}

function refuseSharedOutputs(inputs: readonly InputFile[]): void {
  const outputs = new Map<string, string>();
  for (const { path, output, bad } of inputs) {
    for (const written of [output, bad]) {
      const other = outputs.get(written);
      if (other !== undefined)
        throw new FormatError(
          `${other} and ${path} would both be scored to ${written}: name the folder above them, or give each run its own --out-dir`,
        );
      outputs.set(written, path);
    }
  }
}

function inPartitionOrder(inputs: InputFile[], order: string | undefined): InputFile[] {
  const valueOf = ({ partitions }: InputFile): string | null | undefined =>
    partitions.find(({ name }) => name === order)?.value;
  if (!inputs.every((input) => valueOf(input) !== undefined)) return inputs;
  return inputs.toSorted((a, b) => naturalOrder(valueOf(a) ?? '', valueOf(b) ?? ''));
}

async function allFiles(names: readonly string[], options: InputOptions): Promise<NamedFile[]> {
  const files: NamedFile[] = [];
  for (const name of names)
    files.push(...(isRemote(name) ? await remoteFiles(name, options) : filesOf(name, options)));
  return files;
}

/** The files of an address: one file, or all of a pattern or of what lies below it. */
async function remoteFiles(name: string, { engine, format, tell }: InputOptions): Promise<NamedFile[]> {
  const isPattern = /[*?[]/.test(name);
  if (!isPattern && formatOf(name).format !== undefined) return [{ path: name, base: dirname(name) }];
  const folder = name.replace(/\/$/, '');
  const pattern = isPattern ? name : `${folder}/**`;
  const rows = await (await engine()).texts(`SELECT file FROM glob(${textOf(pattern)})`, name);
  const base = isPattern ? dirname(name.slice(0, name.search(/[*?[]/)) + '_') : folder;
  const paths = rows.map(([path]) => path ?? '').toSorted(pathOrder);
  const isRead = (path: string): boolean => {
    const parts = path.slice(base.length + 1).split('/');
    const isHidden = parts.some(
      (part) => part.startsWith('.') || (part.startsWith('_') && !part.includes('=')),
    );
    return !isHidden && !OUTPUT.test(path) && (formatOf(path).format !== undefined || format !== undefined);
  };
  const files = paths.filter(isRead);
  if (files.length < paths.length)
    tell?.(`${name}: not read: ${paths.length - files.length} hidden, outputs, or without a known ending`);
  if (files.length === 0) throw new FormatError(`${name}: no file matches`);
  return files.map((path) => ({ path, base }));
}

/** The files of a name: a file, a folder, or a pattern with * and ? anywhere in the path. */
function filesOf(name: string, options: InputOptions): NamedFile[] {
  if (existsSync(name)) {
    const path = resolve(name);
    return statSync(path).isDirectory() ? filesIn(path, path, options) : [{ path, base: dirname(path) }];
  }
  if (!/[*?]/.test(name)) throw new FormatError(`${name}: there is no such file`);
  const parts = name.split('/');
  const start = name.startsWith('/') ? '/' : '.';
  let found = [start];
  for (const part of parts) if (part !== '') found = found.flatMap((folder) => within(folder, part));
  const fixed = parts.slice(
    0,
    parts.findIndex((part) => /[*?]/.test(part)),
  );
  const base = resolve(start, ...fixed.filter((part) => part !== ''));
  const files = found.flatMap((path) => {
    const stats = statSync(path);
    if (stats.isDirectory()) return filesIn(resolve(path), base, options);
    return stats.isFile() ? [{ path: resolve(path), base }] : [];
  });
  if (files.length === 0) throw new FormatError(`${name}: no file matches`);
  return files;
}

function filesIn(folder: string, base: string, { format, outDir, tell }: InputOptions): NamedFile[] {
  const accepts = (name: string): boolean =>
    formatOf(name).format !== undefined || (format !== undefined && !name.includes('.'));
  const { paths, left } = folderFiles(folder, { accepts, outDir });
  if (left !== undefined) tell?.(left);
  return paths.map((path) => ({ path, base }));
}

function within(folder: string, part: string): string[] {
  if (!/[*?]/.test(part)) return existsSync(join(folder, part)) ? [join(folder, part)] : [];
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  const pattern = part
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const isMatch = new RegExp(`^${pattern}$`);
  return readdirSync(folder)
    .filter((entry) => isMatch.test(entry) && (!entry.startsWith('.') || part.startsWith('.')))
    .toSorted(naturalOrder)
    .map((entry) => join(folder, entry));
}
