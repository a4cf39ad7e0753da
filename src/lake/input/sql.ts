import { randomUUID } from 'node:crypto';

/** Values, names and paths in the engine's SQL. */

/** Stands for a cell that is not there. No file can know it, so no cell of a file is taken for it. */
export const NO_CELL = randomUUID();

/** Text as a literal. */
export function textOf(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as an identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A path as the engine's pattern for nothing but itself. */
export function patternOf(path: string): string {
  return path.replaceAll(/[[*?]/g, '[$&]');
}
