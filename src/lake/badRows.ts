import type { RowProblem } from './errors.js';
import type { Page } from './page.js';

const NUMBER_REMEDY = 'write it with a point, without a unit, or leave the cell empty';

/** Bad rows to report; the others are only in their file. */
const TOLD_MAX = 3;

interface BadRowPlace {
  readonly input: string;
  readonly row: number;
  readonly header: Page['header'];
}

/** Reports the first bad rows of a run: where each is, and what to do about it. */
export class FirstBadRows {
  private told = 0;

  constructor(private readonly say: (line: string) => void) {}

  /** `others`: where all bad rows are listed. */
  tell({ input, row, header }: BadRowPlace, { status, detail }: RowProblem, others: string): void {
    if (this.told > TOLD_MAX) return;
    this.told++;
    if (this.told > TOLD_MAX) this.say(`${input}: more rows have no scores, see ${others}`);
    else this.say(`${input}: row ${row} has no scores (${status}): ${sentenceOf(detail, header)}`);
  }
}

function sentenceOf(detail: RowProblem['detail'], header: Page['header']): string {
  if (typeof detail === 'string') return detail;
  const [first] = detail;
  if (first === undefined) return 'refused';
  const { loc, msg, type } = first;
  const more = detail.length === 1 ? '' : `, and ${detail.length - 1} more`;
  const [, , field, index] = loc;
  const column = typeof field === 'string' ? header?.get(field) : undefined;
  if (column === undefined) return `${loc.slice(1).join('.') || 'the row'}: ${msg}${more}`;
  const number = typeof index === 'number' ? `, number ${index + 1}` : '';
  const remedy = type === 'number_type' ? `; ${NUMBER_REMEDY}` : '';
  return `column ${column}${number}: ${msg}${remedy}${more}`;
}
