import { measuredFields, respond, withFields } from '../../night/respond.js';
import { OUTPUT_COLUMNS } from '../../model/tensors.js';
import type { Job } from '../score/job.js';
import { besideScores, errorOf, writtenRows, type SinkOptions } from './scoreColumns.js';

/** The lines of a page as NDJSON, each with its line feed. */
export class LineWriter {
  private readonly model: string;
  private readonly beside: ReturnType<typeof besideScores>;

  constructor(private readonly options: SinkOptions) {
    this.beside = besideScores(options);
    const [name = '', version = ''] = options.model.version.split('/');
    this.model = `"model":${JSON.stringify(name)},"model_version":${JSON.stringify(version)}}\n`;
  }

  text(job: Job): string {
    let text = '';
    for (const row of writtenRows(job, this.options))
      text += job.problems.has(row) ? this.refused(job, row) : this.scored(job, row);
    return text;
  }

  /** Lines for the file of bad rows: which row of which file each was, and its problem. */
  bad(job: Job, file: string): string {
    return job.badRows
      .map(([row, { status, detail }]) => {
        const place = { file, row: job.page.numberOf(row), status, detail };
        return `{${keptMembers(this.options.keep, job, row)}${JSON.stringify(place).slice(1)}\n`;
      })
      .join('');
  }

  private scored(job: Job, row: number): string {
    const { model, isStream, keep } = this.options;
    const { thresholds } = model;
    const plain = respond(
      job.scores,
      row * OUTPUT_COLUMNS,
      isStream ? job.inferMs[row] : undefined,
      thresholds,
    );
    const unmeasured = job.unmeasured.get(row);
    const history = job.measured.get(row);
    const more = (unmeasured ?? history) && {
      unmeasured: unmeasured && respond(unmeasured, 0, undefined, thresholds),
      ...(history && measuredFields(history)),
    };
    const body = more === undefined ? plain : withFields(plain, more);
    const beside = this.beside.map(({ name, at }) => `"${name}":${at(job, row) ?? 'null'},`).join('');
    return `{${keptMembers(keep, job, row)}"row":${job.page.numberOf(row)},${body.slice(1, -1)},${beside}${this.model}`;
  }

  private refused(job: Job, row: number): string {
    const kept = keptMembers(this.options.keep, job, row);
    return `{${kept}"row":${job.page.numberOf(row)},"error":${errorOf(job, row, 'ndjson')}}\n`;
  }
}

function keptMembers(keep: readonly string[], { page }: Job, row: number): string {
  let text = '';
  for (const name of keep) {
    const value = page.kept(name, row);
    if (value !== undefined) text += `${JSON.stringify(name)}:${value},`;
  }
  return text;
}
