import { respond, withMeasured, withUnmeasured } from '../pipeline/respond.js';
import type { ScoringModel } from '../scoring/scorer.js';
import { OUTPUT_COLUMNS } from '../model/tensors.js';
import type { Job } from './job.js';
import type { RowProblem } from './rowProblem.js';

export interface LineOptions {
  /** Written before the row's number and the scores. */
  readonly keep: readonly string[];
  readonly model: ScoringModel;
  /** Adds each row's explanation: an object in NDJSON, its JSON as text in a column. */
  readonly explain?: boolean;
  /** Adds the scores without measurements: as columns, or in those NDJSON rows where any counts. */
  readonly measured?: boolean;
}

/** The lines of a page as NDJSON, each with its line feed. */
export class LineWriter {
  private readonly keys: readonly (readonly [name: string, key: string])[];
  private readonly model: string;

  /** `isStream`: errors stay in their places, and each line has the model's time. */
  constructor(
    private readonly options: LineOptions,
    private readonly isStream: boolean,
  ) {
    this.keys = options.keep.map((name) => [name, `${JSON.stringify(name)}:`]);
    const [name = '', version = ''] = options.model.version.split('/');
    this.model = `"model":${JSON.stringify(name)},"model_version":${JSON.stringify(version)}}\n`;
  }

  text(job: Job): string {
    let text = '';
    for (let row = 0; row < job.page.rows; row++) {
      const problem = job.problems.get(row);
      if (problem === undefined) text += this.scored(job, row);
      else if (this.isStream) text += this.refused(job, row, problem);
    }
    return text;
  }

  /** A line for the file of bad rows: which row of which file it was, and its problem. */
  bad(job: Job, row: number, file: string, { status, detail }: RowProblem): string {
    const place = { file, row: job.page.numberOf(row), status, detail };
    return `{${this.kept(job, row)}${JSON.stringify(place).slice(1)}\n`;
  }

  private scored(job: Job, row: number): string {
    const { thresholds } = this.options.model;
    const inferMs = this.isStream ? job.inferMs[row] : undefined;
    const plain = respond(job.scores, row * OUTPUT_COLUMNS, inferMs, thresholds);
    const unmeasured = job.unmeasured.get(row);
    const history = job.measured.get(row);
    const told = unmeasured === undefined ? plain : withUnmeasured(plain, unmeasured, 0, thresholds);
    const body = history === undefined ? told : withMeasured(told, history);
    const explanation =
      this.options.explain === true ? `"explanation":${job.explanations[row] ?? 'null'},` : '';
    return `{${this.kept(job, row)}"row":${job.page.numberOf(row)},${body.slice(1, -1)},${explanation}${this.model}`;
  }

  private refused(job: Job, row: number, { status, detail }: RowProblem): string {
    const line = job.page.numberOf(row);
    return `{${this.kept(job, row)}"row":${line},"error":${JSON.stringify({ line, status, detail })}}\n`;
  }

  private kept(job: Job, row: number): string {
    let text = '';
    for (const [name, key] of this.keys) {
      const value = job.page.kept(name, row);
      if (value !== undefined) text += `${key}${value},`;
    }
    return text;
  }
}
