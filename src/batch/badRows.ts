import type { RowProblem } from './page.js';

/** Bad rows that are told of; the others stand in their file alone. */
const TOLD_MAX = 3;

/** Tells of the first bad rows of a run: where each is, and what to do about it. */
export class FirstBadRows {
  private told = 0;

  constructor(private readonly say: (line: string) => void) {}

  /** `others`: where all of them stand. */
  tell(input: string, row: number, { status, detail }: RowProblem, others: string): void {
    if (this.told > TOLD_MAX) return;
    this.told++;
    if (this.told > TOLD_MAX) this.say(`${input}: more rows have no scores, see ${others}`);
    else this.say(`${input}: row ${row} has no scores (${status}): ${sentenceOf(detail)}`);
  }
}

function sentenceOf(detail: RowProblem['detail']): string {
  if (typeof detail === 'string') return detail;
  const [first] = detail;
  if (first === undefined) return 'refused';
  const { loc, msg } = first;
  const more = detail.length === 1 ? '' : `, and ${detail.length - 1} more`;
  return `${loc.slice(1).join('.') || 'the row'}: ${msg}${more}`;
}
