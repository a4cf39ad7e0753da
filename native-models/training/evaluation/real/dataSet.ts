import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { demand, type Section } from '../section.js';

/** What one set of real data shows. */
export type RealFinding = Required<Pick<Section, 'demands' | 'figures'>>;

/** A row by column name; a missing value is the empty string. */
export type Row = ReadonlyMap<string, string>;

/** What the sets in a folder show, as parts of a section; missing sets are said to be. */
export async function findingsOf(
  folder: string,
  sets: Readonly<Record<string, (folder: string) => Promise<RealFinding | undefined>>>,
): Promise<RealFinding> {
  const found: RealFinding[] = [];
  for (const [name, find] of Object.entries(sets)) {
    const missing =
      folder === '' ? 'skipped: VALIDATION_DATA names no folder' : 'its data are not in the folder';
    const finding = folder === '' ? undefined : await find(folder);
    found.push(finding ?? { demands: [demand(`${name}: compare`, missing, undefined)], figures: [] });
  }
  return {
    demands: found.flatMap(({ demands }) => demands),
    figures: found.flatMap(({ figures }) => figures),
  };
}

/** The rows of a CSV file, or undefined where it is not there. Quoted commas are understood, quoted newlines not. */
export function readCsv(...path: readonly string[]): Row[] | undefined {
  const file = join(...path);
  if (!existsSync(file)) return undefined;
  const [head = '', ...lines] = readFileSync(file, 'utf8').split(/\r?\n/).filter(Boolean);
  const names = cells(head);
  return lines.map((line) => new Map(cells(line).map((cell, index) => [names[index] ?? '', cell])));
}

function cells(line: string): string[] {
  return [...line.matchAll(/("([^"]*)"|[^,]*)(,|$)/g)]
    .slice(0, -1)
    .map(([, plain, quoted]) => quoted ?? plain ?? '');
}

/** NaN where missing, or outside of the bounds. */
export function numberOf(row: Row, name: string, low = -Infinity, high = Infinity): number {
  const text = row.get(name) ?? '';
  const value = text === '' || text === 'NA' ? NaN : Number(text);
  return value >= low && value <= high ? value : NaN;
}

export function orNull(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** A daily value as a series: a row holds levels only. */
export function levelOf(row: Row, name: string, low?: number, high?: number): number[] {
  return [numberOf(row, name, low, high)].filter(Number.isFinite);
}

export function groupRows(rows: readonly Row[], name: string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = row.get(name) ?? '';
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}
