import { readSync } from 'node:fs';
import { parquetMetadata, parquetSchema, type ColumnMetaData, type FileMetaData } from 'hyparquet';
import { TableError } from './tableError.js';

/** An open file. */
export interface OpenFile {
  readonly fd: number;
  readonly size: number;
}

type SchemaTree = ReturnType<typeof parquetSchema>;

/** The metadata at the end of a Parquet file. */
export interface Footer {
  readonly rows: number;
  /** The columns, in their order. */
  readonly columns: readonly SchemaTree[];
  readonly groups: FileMetaData['row_groups'];
}

const TAIL_BYTES = 8;
/** As objects it takes some ten times as much memory. */
const FOOTER_MAX = 16 << 20;

/** @throws TableError */
export function readFooter(file: OpenFile): Footer {
  if (file.size < TAIL_BYTES + 4) throw new Error('the file is no Parquet: it is too short');
  const tail = bytesAt(file, file.size - TAIL_BYTES, TAIL_BYTES);
  const magic = tail.toString('latin1', 4);
  if (magic === 'PARE') throw new TableError('the footer of the file is encrypted: write it unencrypted');
  if (magic !== 'PAR1') throw new Error('the file does not end as Parquet does: is it whole?');
  const length = tail.readUInt32LE(0) + TAIL_BYTES;
  if (length > file.size) throw new Error('the file ends too early');
  if (length > FOOTER_MAX)
    throw new TableError(
      `the footer of the file has more than ${FOOTER_MAX >> 20} MiB: divide its row groups among files`,
    );
  const metadata = parquetMetadata(bytesAt(file, file.size - length, length), { geoparquet: false });
  return {
    rows: Number(metadata.num_rows),
    columns: parquetSchema(metadata).children,
    groups: metadata.row_groups,
  };
}

/** Where a column's pages are in a row group. */
export interface Chunk {
  readonly codec: ColumnMetaData['codec'];
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  /** Number of values in all rows, nulls included. */
  readonly entries: number;
}

/** The chunks of the columns at or below `path`, by row group. */
export function chunksOf({ groups }: Footer, path: readonly string[], { size }: OpenFile): Chunk[][] {
  return groups.map(({ columns, num_rows }) =>
    columns.flatMap(({ meta_data: chunk, file_path }) => {
      if (chunk === undefined || !path.every((name, at) => chunk.path_in_schema[at] === name)) return [];
      if (file_path) throw new Error('the file keeps columns in other files');
      const offsets = [chunk.data_page_offset, chunk.dictionary_page_offset ?? 0n].map(Number);
      const start = Math.min(...offsets.filter((offset) => offset > 0));
      const end = start + Number(chunk.total_compressed_size);
      if (!(start >= 0 && end >= start && end <= size)) throw new Error('the file ends too early');
      return [{ codec: chunk.codec, start, end, rows: Number(num_rows), entries: Number(chunk.num_values) }];
    }),
  );
}

/** @throws TableError if the file ends before */
export function readInto(file: OpenFile, into: Uint8Array, position: number): void {
  for (let done = 0; done < into.length;) {
    const bytes = readSync(file.fd, into, done, Math.min(into.length - done, 1 << 30), position + done);
    if (bytes === 0) throw new Error('the file ends too early');
    done += bytes;
  }
}

function bytesAt(file: OpenFile, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readInto(file, bytes, position);
  return bytes;
}
