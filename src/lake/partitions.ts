import { basename, dirname } from 'node:path';
import { FormatError } from './errors.js';

/** A column whose value is in a folder's name, as Hive, Spark and others write it: `night=2026-01-01`. */
export interface Partition {
  readonly name: string;
  readonly value: string | null;
  /** Whether every value of the column is an integer. */
  readonly isNumber: boolean;
}

/** Hive's folder name for rows without a value. */
const NULL_FOLDER = '__HIVE_DEFAULT_PARTITION__';
/** Short enough to be exact as a JavaScript number. */
const WHOLE_NUMBER = /^(0|-?[1-9]\d{0,14})$/;

/** The partition folders directly above a file, and the folder above them. */
export interface PartitionedFolder {
  readonly above: string;
  /** In the order of the path. */
  readonly values: ReadonlyMap<string, string | null>;
}

/** @throws FormatError if two folders of the path have the same partition column */
export function partitionedFolder(folder: string): PartitionedFolder {
  const found: (readonly [name: string, value: string | null])[] = [];
  let above = folder;
  for (let part = partOf(above); part !== undefined; part = partOf(above)) {
    found.unshift(part);
    above = dirname(above);
  }
  const values = new Map(found);
  if (values.size < found.length)
    throw new FormatError(`${folder}: two of its folders are partitions by one column`);
  return { above, values };
}

/** The columns of each file, with one type for all files. The column `text` is never a number. */
export function partitionColumns(
  files: readonly ReadonlyMap<string, string | null>[],
  text: string | undefined,
): Partition[][] {
  const isText = new Set(text === undefined ? [] : [text]);
  for (const values of files) {
    for (const [name, value] of values) if (value !== null && !WHOLE_NUMBER.test(value)) isText.add(name);
  }
  return files.map((values) =>
    [...values].map(([name, value]) => ({ name, value, isNumber: !isText.has(name) })),
  );
}

/** The value as JSON. */
export function partitionJson({ value, isNumber }: Partition): string {
  return isNumber && value !== null ? value : JSON.stringify(value);
}

function partOf(folder: string): readonly [name: string, value: string | null] | undefined {
  const [, name, value = ''] = /^([^=]+)=(.*)$/s.exec(basename(folder)) ?? [];
  if (name === undefined) return undefined;
  return [decoded(name), value === NULL_FOLDER ? null : decoded(value)];
}

/** Decodes percent signs; returns the text unchanged if they are invalid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
