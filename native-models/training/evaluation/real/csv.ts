import { existsSync, readFileSync } from 'node:fs';

/** A row by column name; a missing value is the empty string. */
export type Row = ReadonlyMap<string, string>;

/** The rows of a CSV file, or undefined where it is not there. Quoted commas are understood, quoted newlines not. */
export function readCsv(path: string): Row[] | undefined {
  if (!existsSync(path)) return undefined;
  const [head = '', ...lines] = readFileSync(path, 'utf8').split(/\r?\n/).filter(Boolean);
  const names = cells(head);
  return lines.map((line) => new Map(cells(line).map((cell, index) => [names[index] ?? '', cell])));
}

function cells(line: string): string[] {
  return [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)]
    .slice(0, -1)
    .map(([, plain, quoted]) => quoted ?? plain ?? '');
}

/** NaN where missing. */
export function numberOf(row: Row, name: string): number {
  const text = row.get(name) ?? '';
  return text === '' || text === 'NA' ? NaN : Number(text);
}

export function groupRows(rows: readonly Row[], name: string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = row.get(name) ?? '';
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
