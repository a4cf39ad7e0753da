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

/** A piece of a file: rows of one schema. What it lies in may be used again once the next one is asked for. */
export interface TablePiece {
  readonly batch: RecordBatch;
  /** Bytes of the file that it stands for. */
  readonly bytesRead: number;
}

/** Rows of a table that were read: all that is needed of them, in a form that goes from thread to thread. */
export interface TableRows {
  readonly rows: number;
  /** As `ReadRows` of reading/columns has them. */
  readonly records: Float64Array;
  readonly lengths: Uint32Array;
  readonly problems: ReadonlyMap<number, RowProblem>;
  /** The columns beside the session as an Arrow stream; undefined where there are none. */
  readonly columns: Uint8Array | undefined;
  readonly bytesRead: number;
}

/** Most rows that are read together: their samples fit the caches. */
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

/** The columns of `batch` that are `namesBeside`, in their order; undefined without any. */
function columnsBeside(batch: RecordBatch, columns: RowColumns): RecordBatch | undefined {
  // By place: chosen by name, columns that are not the first ones are lost on the way.
  const places = namesBeside(columns)
    .map((name) => batch.schema.fields.findIndex((field) => field.name === name))
    .filter((place) => place >= 0);
  return places.length === 0 ? undefined : decodeColumns(batch.selectAt(places));
}

/** What `TableRows.columns` holds. */
export function columnsOf(bytes: Uint8Array | undefined): RecordBatch | undefined {
  return bytes === undefined ? undefined : tableFromIPC(bytes).batches[0];
}
