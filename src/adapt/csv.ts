/** Rows of a CSV as an export writes them, of objects by the names of the header. */
import { AdapterError } from '#adapters/adapterError.js';
import { CsvCells, CsvError } from '../base/csvCells.js';

/** Samsung writes the table's name, and two numbers, in a line of their own before the header. */
const TITLE = /^com\.samsung\.[\w.]+(,[^,\r\n]*){0,2}\r?\n/;

/**
 * Empty cells are left out, and what stands beyond the header. Undefined if the text is no table.
 * @throws AdapterError if the last row is cut: a part of a number would count
 */
export function rowsOfCsv(text: string): Record<string, string>[] | undefined {
  const [header, ...rows] = recordsOf(Buffer.from(text.replace(TITLE, '')));
  if (header === undefined || header.length < 2 || rows.length === 0) return undefined;
  // Spreadsheets leave out empty cells at the end of a row, and end the last one as all others.
  if ((rows.at(-1)?.length ?? 0) < header.length && !/[\r\n]$/.test(text))
    throw new AdapterError(['its last row'], 'fewer cells than the header, and no end: the file is cut');
  const filled = rows.filter((cells) => cells.some((cell) => cell !== ''));
  return filled.map((cells) =>
    Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']).filter(([, cell]) => cell !== '')),
  );
}

/** None if the bytes are no CSV. */
function recordsOf(bytes: Buffer): string[][] {
  const cells = new CsvCells(',');
  const records: string[][] = [];
  cells.open(bytes, true);
  try {
    for (let at = 0; at < bytes.length;) {
      at = cells.next(at);
      records.push(cells.texts());
    }
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
  return records;
}
