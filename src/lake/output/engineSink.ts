import { createReadStream, rmSync } from 'node:fs';
import type { PageSink } from '../score/scorePages.js';
import { keptColumn, scoreColumns, writtenRows, type SinkOptions, type WriteBytes } from './scoreColumns.js';
import { quoted, textOf } from '../input/sql.js';

/** Scores as Parquet, by a table of the engine. */

const FILE_CHUNK_BYTES = 1 << 20;
const WHAT = { written: 'the output' };

/** Collects scored rows in a table, column by column, which is written as a file at the end, and that as bytes. */
export async function openEngineSink(write: WriteBytes, options: SinkOptions): Promise<PageSink> {
  const { keep, keptTypes } = options;
  const engine = await options.engine();
  const columns = [...keep.map(keptColumn), ...scoreColumns(options)];
  // The others are the same in all rows, and no columns of the table.
  const varying = columns.filter(({ always }) => always === undefined);
  const types = varying.map(({ type }) => (type === 'BIGINT' ? 'DOUBLE' : type));
  const table = await engine.table(types, WHAT);
  const selected = columns.map((column, place) => {
    const own = place < keep.length ? (keptTypes?.[place] ?? 'VARCHAR') : column.type;
    const type = own.includes('HUGEINT') ? 'VARCHAR' : own; // Parquet has none, and the engine writes a double
    const { always } = column;
    const cell = always === undefined ? `c${varying.indexOf(column)}` : textOf(always);
    return `CAST(${cell} AS ${type}) AS ${quoted(column.name)}`;
  });
  return {
    async write(job) {
      await table.append(writtenRows(job, options), (place, some) => {
        const column = varying[place];
        return some.map((row) => column?.at(job, row));
      });
    },
    async end() {
      await table.close();
      const path = `${engine.folder}/${table.name}.parquet`;
      const select = `SELECT ${selected.join(', ')} FROM ${table.name}`;
      await engine.run(`COPY (${select}) TO ${textOf(path)} (FORMAT parquet, COMPRESSION zstd)`, WHAT);
      await engine.run(`DROP TABLE ${table.name}`, WHAT);
      for await (const bytes of createReadStream(path, { highWaterMark: FILE_CHUNK_BYTES }))
        await write(bytes as Buffer);
      rmSync(path);
    },
  };
}
