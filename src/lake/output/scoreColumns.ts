/** The columns of a table of scores, and those that NDJSON has as members. */
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { OUTPUT_COLUMNS } from '../../model/tensors.js';
import { hundredths } from '../../night/respond.js';
import type { ScoringModel } from '../../score/scorer.js';
import type { Engine } from '../input/engine.js';
import type { Format } from '../options.js';
import type { Job } from '../score/job.js';

/** A column that a table of scores has after the kept ones. A text is JSON where NDJSON has the same. */
export interface ScoreColumn {
  readonly name: string;
  readonly type: 'BIGINT' | 'DOUBLE' | 'VARCHAR';
  /** The cell of a row, scores rounded as in NDJSON; undefined for an empty one. */
  at(job: Job, row: number): string | number | undefined;
  /** The text of all rows, if none is without scores. */
  readonly always?: string | undefined;
}

/** Writes bytes; resolves once there is room for more. */
export type WriteBytes = (bytes: string | Uint8Array) => Promise<void>;

export interface SinkOptions {
  readonly format: Format;
  /** Written before the row's number and the scores. */
  readonly keep: readonly string[];
  readonly model: ScoringModel;
  /** Adds each row's explanation: an object in NDJSON, its JSON as text in a column. */
  readonly explain?: boolean;
  /** Adds columns with the scores without measurements; NDJSON has them in those rows where any counts. */
  readonly measured?: boolean;
  /** Bad rows stay in their places, and lines have the model's time. */
  readonly isStream: boolean;
  /** The engine's types of the kept columns, in their order; text if absent. */
  readonly keptTypes?: readonly string[] | undefined;
  readonly engine: () => Promise<Engine>;
}

/** The columns beside the scores, if they are asked for: NDJSON has each as a member. */
const BESIDE: readonly (ScoreColumn & { isAsked(options: SinkOptions): boolean })[] = [
  {
    name: 'explanation',
    type: 'VARCHAR',
    at: ({ explanations }, row) => explanations[row],
    isAsked: ({ explain }) => explain === true,
  },
];

/** A kept value as text; numbers keep their digits. */
export function keptColumn(name: string): ScoreColumn {
  return {
    name,
    type: 'VARCHAR',
    at({ page }, row) {
      const json = page.kept(name, row);
      if (json === undefined || json === 'null') return undefined;
      if (!json.startsWith('"')) return json;
      return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
    },
  };
}

/** The rows of a page that the scores have. */
export function writtenRows({ page, problems }: Job, { isStream }: SinkOptions): number[] {
  const rows: number[] = [];
  for (let row = 0; row < page.rows; row++) if (isStream || !problems.has(row)) rows.push(row);
  return rows;
}

export function besideScores(options: SinkOptions): readonly ScoreColumn[] {
  return BESIDE.filter(({ isAsked }) => isAsked(options));
}

/** Prefix of the seven columns without measurements, if rows may have any. */
const UNMEASURED_PREFIX = 'unmeasured_';

/** Columns that the output adds itself, in any format, or in its bad rows. */
export const OWN_NAMES: ReadonlySet<string> = new Set([
  'row',
  'inference_time_ms',
  'model',
  'model_version',
  'unmeasured',
  'measured',
  'measurements_ignored',
  'error',
  'file',
  'status',
  'detail',
  ...[...SCORE_FIELDS, ...LABEL_FIELDS].flatMap((name) => [name, UNMEASURED_PREFIX + name]),
  ...BESIDE.map(({ name }) => name),
]);

export function scoreColumns(options: SinkOptions): ScoreColumn[] {
  const { model, measured, isStream, format } = options;
  const { thresholds, version } = model;
  const text = (name: string, at: ScoreColumn['at']): ScoreColumn => ({ name, type: 'VARCHAR', at });
  /** Row i's scores are `scoresOf(job, i)[i · stride …]`. */
  const scored = (prefix: string, scoresOf: Scores, stride: number): ScoreColumn[] => {
    const cells =
      (place: number, cellOf: (score: number) => string | number): ScoreColumn['at'] =>
      (job, row) => {
        const score = scoresOf(job, row)?.[row * stride + place];
        return score === undefined ? undefined : cellOf(score);
      };
    const numbers = SCORE_FIELDS.map((name, place): ScoreColumn => {
      return { name: prefix + name, type: 'DOUBLE', at: cells(place, (score) => hundredths(score) / 100) };
    });
    const labels = LABEL_FIELDS.map((name, index) => {
      const at = cells(numbers.length + index, (score) => (score >= thresholds[name] ? 'High' : 'Low'));
      return text(prefix + name, at);
    });
    return [...numbers, ...labels];
  };
  return [
    { name: 'row', type: 'BIGINT', at: ({ page }, row) => page.numberOf(row) },
    ...scored('', scoresIn, OUTPUT_COLUMNS),
    ...['model', 'model_version'].map((name, index) => {
      const own = version.split('/')[index];
      const column = text(name, ({ problems }, row) => (problems.has(row) ? undefined : own));
      return { ...column, always: isStream ? undefined : own };
    }),
    ...(measured === true ? scored(UNMEASURED_PREFIX, ({ unmeasured }, row) => unmeasured.get(row), 0) : []),
    ...besideScores(options),
    ...(isStream ? [text('error', (job, row) => errorOf(job, row, format))] : []),
  ];
}

type Scores = (job: Job, row: number) => Float32Array | undefined;

function scoresIn({ problems, scores }: Job, row: number): Float32Array | undefined {
  return problems.size > 0 && problems.has(row) ? undefined : scores;
}

/** The error of a bad row in its place, as JSON; a record of Arrow has no line. */
export function errorOf({ page, problems }: Job, row: number, format: Format): string | undefined {
  const problem = problems.get(row);
  if (problem === undefined) return undefined;
  return JSON.stringify(format === 'arrow' ? problem : { line: page.numberOf(row), ...problem });
}
