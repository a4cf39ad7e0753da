import { SERIES_FIELDS } from '#rules/fields.js';
import type { QualifiedRequest } from '../pipeline/quality.js';
import type { ReadRows } from '../reading/columns.js';
import { LAYOUT } from '../records/layout.js';
import { measuredCells, type MeasuredColumn } from './measuredColumns.js';
import type { KeptColumns, Page } from './page.js';
import { rowProblem, type RowProblem } from './rowProblem.js';

/** What stands beside the sessions of a page, in the form that its reader has. */
export interface BesideColumns {
  readonly keptColumns: KeptColumns | undefined;
  kept(name: string, row: number): string | undefined;
  person(row: number): string | null | undefined;
  moment(row: number): string | number | null | undefined;
  /** A measured cell: a number, a text, or nothing. */
  cell(name: string, row: number): unknown;
  numberOf(row: number): number;
}

const { RECORD_LENGTH } = LAYOUT;
const SERIES = SERIES_FIELDS.length;
const NOTHING = new Float64Array(0);

/** Rows of a table: all are read together, column by column. */
export class TablePage implements Page {
  private records: Float64Array;
  private readonly request: QualifiedRequest = {
    records: new Float64Array(RECORD_LENGTH),
    targets: NOTHING,
    lengths: new Uint32Array(SERIES),
    pastCount: 0,
  };

  /** `problems` are those that the table itself has. */
  constructor(
    readonly rows: number,
    private readonly rowsRead: ReadRows,
    private readonly beside: BesideColumns,
    private readonly measurements: readonly MeasuredColumn[] = [],
    private readonly problems: ReadonlyMap<number, RowProblem> = new Map(),
    readonly header: ReadonlyMap<string, string> | undefined = undefined,
  ) {
    this.records = rowsRead.records;
  }

  get keptColumns(): KeptColumns | undefined {
    return this.beside.keptColumns;
  }

  numberOf(row: number): number {
    return this.beside.numberOf(row);
  }

  read(row: number): ReturnType<Page['read']> {
    const own = this.problems.get(row);
    if (own !== undefined) return own;
    const problem = this.rowsRead.problems.get(row);
    if (problem !== undefined) return rowProblem(problem);
    const { records, lengths } = this.request;
    const first = row * RECORD_LENGTH;
    // Creating a view for each row would cost more.
    for (let place = 0; place < RECORD_LENGTH; place++) records[place] = this.records[first + place] ?? NaN;
    for (let place = 0; place < SERIES; place++)
      lengths[place] = this.rowsRead.lengths[row * SERIES + place] ?? 0;
    return this.request;
  }

  kept(name: string, row: number): string | undefined {
    return this.beside.kept(name, row);
  }

  person(row: number): string | null | undefined {
    return this.beside.person(row);
  }

  moment(row: number): string | number | null | undefined {
    return this.beside.moment(row);
  }

  measured(row: number): ReturnType<Page['measured']> {
    return measuredCells(this.measurements, (name) => this.beside.cell(name, row));
  }

  close(): void {
    this.records = NOTHING;
  }
}
