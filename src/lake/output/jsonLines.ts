/** Scores, and bad rows, as lines of NDJSON. */
import { measuredFields, respond, withFields } from '../../night/respond.js';
import { OUTPUT_COLUMNS } from '../../model/tensors.js';
import type { Job } from '../score/job.js';
import { besideScores, errorOf, type SinkOptions } from './scoreColumns.js';

export function jsonLines(options: SinkOptions) {
  const { keep, model, isStream } = options;
  const { thresholds } = model;
  const others = besideScores(options);
  const [name = '', version = ''] = model.version.split('/');
  const ofModel = `"model":${JSON.stringify(name)},"model_version":${JSON.stringify(version)}`;
  const scored = (job: Job, row: number): string => {
    const ms = isStream ? job.inferMs[row] : undefined;
    const plain = respond(job.scores, row * OUTPUT_COLUMNS, ms, thresholds);
    const unmeasured = job.unmeasured.get(row);
    const history = job.measured.get(row);
    const more = (unmeasured ?? history) && {
      unmeasured: unmeasured && respond(unmeasured, 0, undefined, thresholds),
      ...(history && measuredFields(history)),
    };
    const body = more === undefined ? plain : withFields(plain, more);
    const beside = others.map(({ name, at }) => `"${name}":${at(job, row) ?? 'null'},`).join('');
    return `${body.slice(1, -1)},${beside}${ofModel}`;
  };
  return {
    head: '',
    lineOf(job: Job, row: number) {
      const error = errorOf(job, row, 'ndjson');
      const members = error === undefined ? scored(job, row) : `"error":${error}`;
      return `{${keptMembers(keep, job, row)}"row":${job.page.numberOf(row)},${members}}\n`;
    },
  };
}

/** Lines for the file of bad rows: which row of which file each was, and its problem. */
export function badLines(job: Job, keep: readonly string[], file: string): string {
  return job.badRows
    .map(([row, { status, detail }]) => {
      const place = { file, row: job.page.numberOf(row), status, detail };
      return `{${keptMembers(keep, job, row)}${JSON.stringify(place).slice(1)}\n`;
    })
    .join('');
}

function keptMembers(keep: readonly string[], { page }: Job, row: number): string {
  let text = '';
  for (const name of keep) {
    const value = page.kept(name, row);
    if (value !== undefined) text += `${JSON.stringify(name)}:${value},`;
  }
  return text;
}
