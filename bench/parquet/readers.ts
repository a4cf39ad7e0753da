import { statSync, readdirSync } from 'node:fs';
import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.js';

/** The columns to read: two series of a million nights are the hard part. */
export const COLUMNS = ['HR_day_1h', 'HR_night'] as const;

/** Reads the columns of a file. @returns how many rows it has */
export type Read = (path: string) => Promise<number>;

export interface Reader {
  /** Packages of the registry that it is made of. */
  readonly packages: readonly string[];
  readonly read: Read;
}

export const READERS: Readonly<Record<string, Reader>> = {
  acuity: {
    packages: ['hyparquet', 'hyparquet-compressors', 'hysnappy', 'zstddec'],
    read: async (path) => {
      const { openParquet } = await import('#acuity/batch/parquetFile.js');
      const { TableRowReader } = await import('#acuity/batch/tableRows.js');
      const { DEFAULT_SERIES_LIMITS } = await import('#rules/fields.js');
      const columns = { keep: [], names: 'exact' } as const;
      const reader = new TableRowReader({ limits: DEFAULT_SERIES_LIMITS, ...columns });
      let rows = 0;
      const table = await openParquet(path, columns, reader);
      for await (const piece of table.rows) rows += piece.rows;
      return rows;
    },
  },
  'parquet-wasm': {
    packages: ['parquet-wasm'],
    read: async (path) => {
      const { ParquetFile } = await import('parquet-wasm');
      const file = await ParquetFile.fromFile(await openAsBlob(path));
      const stream = await file.stream({ batchSize: 1024, columns: [...COLUMNS] });
      let rows = 0;
      for await (const batch of stream as unknown as AsyncIterable<{ numRows: number; free(): void }>) {
        rows += batch.numRows;
        batch.free();
      }
      return rows;
    },
  },
  hyparquet: {
    packages: ['hyparquet', 'hyparquet-compressors', 'hysnappy'],
    read: async (path) => {
      const { asyncBufferFromFile, parquetRead } = await import('hyparquet');
      const { compressors } = await import('hyparquet-compressors');
      const [last] = COLUMNS.slice(-1);
      let rows = 0;
      await parquetRead({
        file: await asyncBufferFromFile(path),
        compressors,
        columns: [...COLUMNS],
        onChunk: ({ columnName, columnData }) => {
          if (columnName === last) rows += columnData.length;
        },
      });
      return rows;
    },
  },
  duckdb: { packages: ['@duckdb/node-api', '@duckdb/node-bindings'], read: readWithDuckdb },
};

/** The part of DuckDB in use; it is installed only for this bench. */
interface Duckdb {
  readonly DuckDBInstance: {
    create(
      path: string,
      options: Readonly<Record<string, string>>,
    ): Promise<{
      connect(): Promise<{ stream(sql: string): Promise<DuckdbResult> }>;
    }>;
  };
}
interface DuckdbResult {
  fetchChunk(): Promise<{ readonly rowCount: number; getColumnVector(index: number): unknown } | null>;
}

async function readWithDuckdb(path: string): Promise<number> {
  const name = '@duckdb/node-api';
  const { DuckDBInstance } = (await import(name)) as Duckdb;
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '512MB' });
  const connection = await instance.connect();
  const columns = COLUMNS.map((column) => `"${column}"`).join(', ');
  const result = await connection.stream(
    `select ${columns} from read_parquet('${path.replaceAll("'", "''")}')`,
  );
  let rows = 0;
  for (
    let chunk = await result.fetchChunk();
    chunk !== null && chunk.rowCount > 0;
    chunk = await result.fetchChunk()
  ) {
    for (const index of COLUMNS.keys()) chunk.getColumnVector(index);
    rows += chunk.rowCount;
  }
  return rows;
}

/** Bytes on disk of a reader's packages, including a package's bindings for this machine. */
export function installedBytes({ packages }: Reader): number {
  const modules = join(ROOT, 'node_modules');
  return packages
    .flatMap((name) => [name, `${name}-${process.platform}-${process.arch}`])
    .reduce((sum, name) => sum + bytesBelow(join(modules, name)), 0);
}

function bytesBelow(folder: string): number {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return 0;
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
