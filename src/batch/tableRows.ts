import { Table, tableFromIPC, tableToIPC, type RecordBatch } from 'apache-arrow';
import type { SeriesLimits } from '#rules/fields.js';
import { ColumnReader } from '../reading/columns.js';
import { rowProblem, type RowProblem } from './page.js';
import { decodeColumns } from './decodeColumns.js';
import { namesBeside, type RowColumns } from './rowColumns.js';
import { sessionColumns } from './tableColumns.js';
import { withPartitions } from './tablePartitions.js';

export interface TableOptions extends RowColumns {
  readonly limits: SeriesLimits;
}

/** A piece of a file: rows of one schema. Its memory may be reused once the next one is requested. */
export interface TablePiece {
  readonly batch: RecordBatch;
  /** How many bytes of the file it covers. */
  readonly bytesRead: number;
}

/** Rows read from a table: everything needed of them, in a form that crosses threads. */
export interface TableRows {
  readonly rows: number;
  /** As in `ReadRows` of reading/columns. */
  readonly records: Float64Array;
  readonly lengths: Uint32Array;
  readonly problems: ReadonlyMap<number, RowProblem>;
  /** The columns beside the session as an Arrow stream; undefined if there are none. */
  readonly columns: Uint8Array | undefined;
  readonly bytesRead: number;
}

/** Most rows read together: their samples fit the caches. */
const ROWS_MAX = 1024;

/** Reads the rows of one table, piece by piece. */
export class TableRowReader {
  private readonly reader: ColumnReader;

  constructor(private readonly options: TableOptions) {
    this.reader = new ColumnReader(options.limits);
  }

  *read({ batch: own, bytesRead }: TablePiece): Generator<TableRows, void, undefined> {
    const batch = withPartitions(own, this.options);
    const columns = sessionColumns(batch, this.options.names);
    const others = columnsBeside(batch, this.options);
    for (let first = 0; first < batch.numRows; first += ROWS_MAX) {
      const last = Math.min(first + ROWS_MAX, batch.numRows);
      const { records, lengths, problems } = this.reader.read(columns, first, last);
      yield {
        rows: last - first,
        records,
        lengths,
        problems: new Map([...problems].map(([row, problem]) => [row, rowProblem(problem)])),
        columns:
          others === undefined ? undefined : tableToIPC(new Table([others.slice(first, last)]), 'stream'),
        bytesRead: (bytesRead * (last - first)) / batch.numRows,
      };
    }
  }
}

/** The columns of `batch` that are `namesBeside`, in order; undefined without any. */
function columnsBeside(batch: RecordBatch, columns: RowColumns): RecordBatch | undefined {
  // Select by index: the library's selection by name loses columns other than the first ones.
  const places = namesBeside(columns)
    .map((name) => batch.schema.fields.findIndex((field) => field.name === name))
    .filter((place) => place >= 0);
  return places.length === 0 ? undefined : decodeColumns(batch.selectAt(places));
}

/** Decodes `TableRows.columns`. */
export function columnsOf(bytes: Uint8Array | undefined): RecordBatch | undefined {
  return bytes === undefined ? undefined : tableFromIPC(bytes).batches[0];
}
