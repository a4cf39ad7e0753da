/** Values, names and paths in the engine's SQL. */

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
