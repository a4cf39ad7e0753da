/** Pages of rows from CSV. */
import type { SeriesLimits } from '#rules/fields.js';
import type { ReadRequest } from '../../night/request.js';
import { readersOf } from '../../read/read.js';
import { WasmParser } from '../../read/wasmParser.js';
import { problemOf, textIn, type CsvRows, type CsvTable } from './csvRows.js';
import type { Partition } from './inputs.js';
import { measuredCells, namesBeside, type RowColumns } from './names.js';
import type { OpenInput, Page } from './page.js';
import {
  namesOfColumns,
  problemIn,
  sessionColumns,
  sessionFields,
  textField,
  valueOfCell,
  type TableColumn,
} from './tableColumns.js';

/** A column of the file, or one whose only value is in the path. */
type CellColumn = TableColumn & ({ readonly place: number } | { readonly value: string | undefined });

const CELLS = { kind: 'text', type: 'VARCHAR', isCell: true } as const;

/** Opens a CSV whose header is read. */
export function openCsv(table: CsvTable, limits: SeriesLimits, partitions: readonly Partition[]): OpenInput {
  const { names } = table;
  const ofPath = new Map(partitions.map(({ name }) => [name, names.includes(name)]));
  const columns: CellColumn[] = names.map((name, place) => ({ ...CELLS, name, place }));
  for (const { name, value } of partitions)
    if (ofPath.get(name) !== true) columns.push({ ...CELLS, name, value: value ?? undefined });
  return {
    names: names.length === 0 ? undefined : { ...namesOfColumns(columns), ofPath },
    async *pages(asked) {
      const pageOf = pageReader(columns, asked, limits);
      for await (const rows of table.rows()) yield pageOf(rows);
    },
    close: () => table.close(),
  };
}

/** Reads the rows of a CSV as the bodies that they mean. For one thread. */
function pageReader(
  columns: readonly CellColumn[],
  asked: RowColumns,
  limits: SeriesLimits,
): (rows: CsvRows) => Page {
  const { history, measured = [] } = asked;
  const parser = new WasmParser(limits);
  const { readRequest } = readersOf(parser, limits);
  /** The page being read; no page holds it when all its rows are read. */
  let own: CsvRows;
  const textOf = (column: CellColumn, row: number, letters: 'utf8' | 'latin1' = 'utf8') => {
    if ('place' in column) return textIn(own, row, column.place, letters);
    return column.value && Buffer.from(column.value).toString(letters);
  };
  const fields = sessionFields(columns);
  const session = fields.map((column) => textField(column, 0, (row) => textOf(column, row, 'latin1')));
  const inSession = sessionColumns(session);
  const readPlainly = plainReader(fields, parser);
  /** As text, which decides what is no number or list, and words it. */
  const readByText = (row: number): ReturnType<Page['read']> => {
    const outcome = readRequest(inSession.bodyOf(row));
    return 'kind' in outcome ? problemIn(session, row, outcome) : outcome;
  };
  const named = new Map(columns.map((column) => [column.name, column]));
  const cellIn = (name: string, row: number): string | undefined => {
    const column = named.get(name);
    return (column && textOf(column, row)) || undefined;
  };
  const namesKept = namesBeside({ ...asked, measured: [] });
  let rowsBefore = 0;
  return (page) => {
    own = page;
    const { rows } = page;
    const first = rowsBefore + 1;
    rowsBefore += rows;
    const texts = new Map(namesKept.map((name) => [name, [] as (string | undefined)[]]));
    const textAt = (name: string, row: number): string | undefined => texts.get(name)?.[row];
    return {
      rows,
      numberOf: (row) => first + row,
      read(row) {
        for (const [name, all] of texts) all[row] = cellIn(name, row);
        return problemOf(own.marks[row]) ?? readPlainly(own, row) ?? readByText(row);
      },
      kept(name, row) {
        const text = textAt(name, row);
        const column = named.get(name);
        if (column !== undefined && 'value' in column) return JSON.stringify(column.value ?? null);
        return text === undefined ? undefined : valueOfCell(text);
      },
      person: (row) => history && textAt(history.person, row),
      moment: (row) => history && textAt(history.order, row),
      measured: (row) => measuredCells(measured, (name) => cellIn(name, row)),
      close: () => undefined,
    };
  };
}

const HEAD = Buffer.from('{"current_session":');
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const QUOTE = 0x22;
const MALE = 0x4d;
const FEMALE = 0x46;
/** By byte, 1 for those of numbers. */
const OF_NUMBERS = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number('0123456789.+-eE'.includes(String.fromCharCode(byte))),
);

/**
 * Reads rows whose cells all have the usual form, and go into a body as they are: lists without lists in them, the bytes
 * of numbers, a letter. None of them can end its member and begin another. Undefined for any other row.
 */
function plainReader(
  fields: readonly (CellColumn & { readonly field: string; readonly isSeries: boolean })[],
  parser: WasmParser,
): (rows: CsvRows, row: number) => ReadRequest | undefined {
  // What the path says may have any form.
  if (fields.some((field) => 'value' in field)) return () => undefined;
  const plain = fields.map((column) => {
    const { field, isSeries } = column;
    const place = 'place' in column ? column.place : 0;
    return { place, name: Buffer.from(`,"${field}":`), isSeries, isSex: field === 'sex' };
  });
  const namesBytes = plain.reduce((sum, { name }) => sum + name.length + 2, HEAD.length + 3);
  return ({ bytes, width, starts, ends }, row) => {
    const first = row * width;
    const begin = parser.room(namesBytes + (ends[first + width - 1] ?? 0) - (starts[first] ?? 0));
    const body = parser.bytes;
    let at = begin + HEAD.copy(body, begin);
    const open = at; // in the place of the first comma
    for (const { place, name, isSeries, isSex } of plain) {
      const start = starts[first + place] ?? 0;
      const end = ends[first + place] ?? 0;
      if (start === end) continue;
      at += name.copy(body, at);
      if (isSeries) {
        if (bytes[start] !== OPEN_ARRAY || bytes[end - 1] !== CLOSE_ARRAY) return undefined;
        if (bytes.indexOf(CLOSE_ARRAY, start) !== end - 1) return undefined;
        at += bytes.copy(body, at, start, end);
      } else if (isSex) {
        const letter = bytes[start];
        if (end - start !== 1 || (letter !== MALE && letter !== FEMALE)) return undefined;
        body[at++] = QUOTE;
        body[at++] = letter;
        body[at++] = QUOTE;
      } else
        for (let from = start; from < end; from++) {
          const byte = bytes[from] ?? 0;
          if (OF_NUMBERS[byte] !== 1) return undefined;
          body[at++] = byte;
        }
    }
    body[open] = OPEN_OBJECT;
    at = Math.max(at, open + 1);
    body[at++] = CLOSE_OBJECT;
    body[at++] = CLOSE_OBJECT;
    return parser.readThere(at - begin);
  };
}
