/** Rows of a CSV as an export writes them: RFC 4180, of objects by the names of the header. */

const CELL = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/y;
/** Samsung writes the table's name, and two numbers, in a line of their own before the header. */
const TITLE = /^com\.samsung\.[\w.]+(,[^,\r\n]*){0,2}\r?\n/;

/** Empty cells are left out, and what stands beyond the header. Undefined if the text is no table. */
export function rowsOfCsv(text: string): Record<string, string>[] | undefined {
  const table = cellsOf(text.replace(TITLE, ''));
  const [header, ...rows] = table ?? [];
  if (header === undefined || header.length < 2 || rows.length === 0) return undefined;
  const filled = rows.filter((cells) => cells.some((cell) => cell !== ''));
  return filled.map((cells) =>
    Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']).filter(([, cell]) => cell !== '')),
  );
}

function cellsOf(text: string): string[][] | undefined {
  const rows: string[][] = [[]];
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length) {
    const found = CELL.exec(text);
    if (found === null) return undefined;
    const [, cell = '', end] = found;
    rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== ',') rows.push([]);
  }
  return rows.filter((cells) => cells.length > 0);
}
