import { rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { NEW_FILE, OWNER_ONLY } from '../files/partialFile.js';
import { quoted, textOf, type Engine } from './engine.js';
import type { Job } from './job.js';
import { LineWriter, type LineOptions } from './lineWriter.js';
import { UNMEASURED_PREFIX } from './names.js';

/** Rows in lines; those before them wait as Parquet, which is a tenth as long. */
const PART_ROWS = 4 * 122_880;
const FORMATS = { parquet: 'FORMAT parquet, COMPRESSION zstd', csv: 'FORMAT csv, HEADER' } as const;

export interface TableOptions extends LineOptions {
  readonly format: keyof typeof FORMATS;
  /** The engine's types of the kept columns, in their order; text if absent. */
  readonly keptTypes?: readonly string[] | undefined;
}

/** Collects scored rows as lines in the engine's folder, from which the engine makes one table at the end. */
export class TableSink {
  private static count = 0;
  private readonly name: string;
  private readonly lines: LineWriter;
  private readonly parts: string[] = [];
  private file: FileHandle | undefined;
  private rows = 0;

  constructor(
    private readonly engine: Engine,
    private readonly options: TableOptions,
  ) {
    this.name = join(engine.folder, `scores-${TableSink.count++}`);
    this.lines = new LineWriter(options, keptTexts);
  }

  async write(job: Job): Promise<void> {
    const text = this.lines.text(job);
    if (text === '') return;
    this.file ??= await open(`${this.name}.ndjson`, NEW_FILE, OWNER_ONLY);
    await this.file.writeFile(text);
    this.rows += job.page.rows;
    if (this.rows < PART_ROWS) return;
    const part = `${this.name}-${this.parts.length}.parquet`;
    await this.copy(this.ofLines(), part, 'parquet');
    await this.clear();
    this.parts.push(part);
  }

  /** Writes all rows. @returns the path of the table, below the engine's folder */
  async end(): Promise<string> {
    const { format } = this.options;
    const path = `${this.name}.${format}`;
    this.file ??= await open(`${this.name}.ndjson`, NEW_FILE, OWNER_ONLY);
    const parts = this.parts.map(textOf).join(', ');
    const before = parts === '' ? '' : `SELECT * FROM read_parquet([${parts}]) UNION ALL `;
    await this.copy(before + this.ofLines(), path, format);
    await this.clear();
    for (const part of this.parts) rmSync(part);
    return path;
  }

  private async clear(): Promise<void> {
    await this.file?.close();
    rmSync(`${this.name}.ndjson`);
    this.file = undefined;
    this.rows = 0;
  }

  private copy(select: string, path: string, format: keyof typeof FORMATS): Promise<void> {
    return this.engine.run(`COPY (${select}) TO ${textOf(path)} (${FORMATS[format]})`, 'the output');
  }

  private ofLines(): string {
    const columns = outputColumns(this.options);
    const members = new Map(columns.map(({ member, type }) => [member, type]));
    const types = [...members].map(([member, type]) => `${textOf(member)}: ${textOf(type)}`);
    const selected = columns.map(({ name, sql }) => `${sql} AS ${quoted(name)}`);
    return `SELECT ${selected.join(', ')} FROM read_json(${textOf(`${this.name}.ndjson`)}, format = 'newline_delimited', columns = {${types.join(', ')}})`;
  }
}

/** A column of the output: the member of a line that has it, the type in which it is read, and what is selected. */
interface OutputColumn {
  readonly name: string;
  readonly member: string;
  readonly type: string;
  readonly sql: string;
}

function outputColumns({
  keep,
  keptTypes,
  measured,
  explain,
  isStream,
  format,
}: TableOptions): OutputColumn[] {
  const plain = (name: string, type: string): OutputColumn => ({
    name,
    member: name,
    type,
    sql: quoted(name),
  });
  const json = (name: string): OutputColumn => ({ ...plain(name, 'JSON'), sql: `CAST(${name} AS VARCHAR)` });
  const kept = keep.map((name, place): OutputColumn => {
    const [member, type = 'VARCHAR'] = [`k${place}`, keptTypes?.[place]];
    return { name, member, type: 'VARCHAR', sql: type === 'VARCHAR' ? member : `CAST(${member} AS ${type})` };
  });
  // CSV has the numbers as NDJSON writes them: 78, not 78.0.
  const scores = [...SCORE_FIELDS, ...LABEL_FIELDS].map((name) =>
    plain(name, SCORE_FIELDS.some((score) => score === name) && format === 'parquet' ? 'DOUBLE' : 'VARCHAR'),
  );
  const struct = `STRUCT(${scores.map(({ name, type }) => `${name} ${type}`).join(', ')})`;
  const unmeasured = scores.map(({ name }) => ({
    name: UNMEASURED_PREFIX + name,
    member: 'unmeasured',
    type: struct,
    sql: `unmeasured.${name}`,
  }));
  return [
    ...kept,
    plain('row', 'BIGINT'),
    ...scores,
    ...['model', 'model_version'].map((name) => plain(name, 'VARCHAR')),
    ...(measured === true ? unmeasured : []),
    ...(explain === true ? [json('explanation')] : []),
    ...(isStream ? [json('error')] : []),
  ];
}

/** Half a pair of UTF-16, which the engine's reader refuses. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/** The kept values as text, which the engine casts to their types: numbers keep their digits. */
function keptTexts(keep: readonly string[], { page }: Job, row: number): string {
  let text = '';
  for (const [place, name] of keep.entries()) {
    const value = page.kept(name, row);
    if (value === undefined || value === 'null') continue;
    const own = value.startsWith('"') && !SURROGATE.test(value) ? value : JSON.stringify(plainText(value));
    text += `"k${place}":${own},`;
  }
  return text;
}

/** A value in JSON as text. */
function plainText(json: string): string {
  return json.startsWith('"') ? Buffer.from(JSON.parse(json) as string).toString() : json;
}
