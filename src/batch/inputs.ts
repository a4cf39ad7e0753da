import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { FormatError } from './formatError.js';
import { formatOf, type Format } from './formats.js';

/** A file to score, and where its scores go. */
export interface InputFile {
  readonly path: string;
  readonly format: Format;
  readonly bytes: number;
  readonly outputFormat: Format;
  readonly output: string;
  /** Where rows go that have no scores. */
  readonly bad: string;
}

export interface InputOptions {
  /** For names that don't say it. */
  readonly format?: Format | undefined;
  readonly to?: Format | undefined;
  readonly outDir?: string | undefined;
}

/**
 * The files that `names` mean, in their order; those of a pattern by name. What this command has written itself is
 * left out, so that a pattern may be used again.
 * @throws FormatError where a file is missing, its form is not known, or two would have one output
 */
export function inputFiles(names: readonly string[], options: InputOptions): InputFile[] {
  const paths = [...new Set(names.flatMap((name) => matches(name).map((path) => resolve(path))))];
  const files = paths.map((path) => inputFile(path, options));
  const own = new Set(files.flatMap(({ output, bad }) => [output, bad]));
  const inputs = files.filter(({ path }) => !own.has(path));
  const outputs = new Map<string, string>();
  for (const { path, output } of inputs) {
    const other = outputs.get(output);
    if (other !== undefined) throw new FormatError(`${other} and ${path} would both be scored to ${output}`);
    outputs.set(output, path);
  }
  return inputs;
}

function inputFile(path: string, { format, to, outDir }: InputOptions): InputFile {
  const named = formatOf(basename(path));
  const input = format ?? named.format;
  if (input === undefined) throw new FormatError(`${path}: the name does not say the format; --format does`);
  const folder = outDir === undefined ? dirname(path) : resolve(outDir);
  const outputFormat = to ?? input;
  return {
    path,
    format: input,
    bytes: statSync(path).size,
    outputFormat,
    output: join(folder, `${named.stem}.scores.${outputFormat}`),
    bad: join(folder, `${named.stem}.bad.ndjson`),
  };
}

/** A name, or those that a pattern with * and ? means, in any part of the path. */
function matches(name: string): string[] {
  if (existsSync(name)) return [name];
  if (!/[*?]/.test(name)) throw new FormatError(`${name}: there is no such file`);
  const parts = name.split('/');
  let found = [name.startsWith('/') ? '/' : '.'];
  for (const part of parts) if (part !== '') found = found.flatMap((folder) => within(folder, part));
  const files = found.filter((path) => statSync(path).isFile());
  if (files.length === 0) throw new FormatError(`${name}: no file matches`);
  return files;
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
    .toSorted()
    .map((entry) => join(folder, entry));
}
