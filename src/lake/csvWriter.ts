import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import { rounded } from '../pipeline/respond.js';
import type { Job } from './job.js';
import type { LineOptions } from './lineWriter.js';
import { UNMEASURED_NAMES } from './unmeasured.js';

const NEEDS_QUOTES = /[",\r\n]/;

/** Writes the rows of a page as CSV. */
export class CsvWriter {
  private readonly model: string;

  /** `isStream`: bad rows stay in their places, with an error column. */
  constructor(
    private readonly options: LineOptions,
    private readonly isStream: boolean,
  ) {
    this.model = options.model.version.split('/').map(quoted).join(',');
  }

  header(): string {
    const names = [...this.options.keep, 'row', ...SCORE_FIELDS, ...LABEL_FIELDS, 'model', 'model_version'];
    if (this.options.measured === true) names.push(...UNMEASURED_NAMES);
    if (this.options.explain === true) names.push('explanation');
    return `${[...names, ...(this.isStream ? ['error'] : [])].map(quoted).join(',')}\n`;
  }

  text(job: Job): string {
    let text = '';
    for (let row = 0; row < job.page.rows; row++) {
      const problem = job.problems.get(row);
      if (problem !== undefined && !this.isStream) continue;
      const kept = this.options.keep.map((name) => cellOf(job.page.kept(name, row)));
      const rest =
        problem === undefined
          ? [...this.scores(job, row), ...(this.isStream ? [''] : [])]
          : [
              ...Array.from({ length: this.columns }, () => ''),
              quoted(JSON.stringify({ row: job.page.numberOf(row), ...problem })),
            ];
      text += `${[...kept, job.page.numberOf(row), ...rest].join(',')}\n`;
    }
    return text;
  }

  private scores(job: Job, row: number): string[] {
    const unmeasured = job.unmeasured.get(row);
    return [
      ...this.cells(job.scores.subarray(row * OUTPUT_COLUMNS, (row + 1) * OUTPUT_COLUMNS)),
      this.model,
      ...(this.options.measured !== true
        ? []
        : unmeasured === undefined
          ? UNMEASURED_NAMES.map(() => '')
          : this.cells(unmeasured)),
      ...(this.options.explain === true ? [quoted(job.explanations[row] ?? '')] : []),
    ];
  }

  private cells(scores: Float32Array): string[] {
    const { thresholds } = this.options.model;
    return [
      ...Array.from(scores.subarray(0, SCORE_FIELDS.length), rounded),
      ...LABEL_FIELDS.map((label, index) =>
        (scores[SCORE_FIELDS.length + index] ?? 0) >= thresholds[label] ? 'High' : 'Low',
      ),
    ];
  }

  /** Columns between the row's number and the error. */
  private get columns(): number {
    const { explain = false, measured = false } = this.options;
    return OUTPUT_COLUMNS + 2 + (measured ? UNMEASURED_NAMES.length : 0) + (explain ? 1 : 0);
  }
}

/** A kept value, which is JSON, as a cell: text loses its quotes. */
function cellOf(json: string | undefined): string {
  if (json === undefined || json === 'null') return '';
  return quoted(json.startsWith('"') ? (JSON.parse(json) as string) : json);
}

function quoted(text: string): string {
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
