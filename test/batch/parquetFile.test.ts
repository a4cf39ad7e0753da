import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableToIPC, type Table } from 'apache-arrow';
import { parquetMetadata, type ColumnMetaData } from 'hyparquet';
import {
  Compression,
  Encoding,
  Table as ParquetTable,
  WriterPropertiesBuilder,
  WriterVersion,
  writeParquet,
  type WriterProperties,
} from 'parquet-wasm';
import t from 'tap';
import { TableReaders, type TableTask } from '#acuity/batch/tableReaders.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { tableOf, writeArrow } from '#fixtures/tables.js';

const folder = mkdtempSync(join(tmpdir(), 'acuity-parquet-'));
const readers = new TableReaders(1);
t.teardown(async () => {
  await readers.close();
  rmSync(folder, { recursive: true, force: true });
});

const { RECORD_LENGTH } = LAYOUT;
const ROWS = 1_300;
const KEPT = ['id', 'HR_day_1h'];

/** Nights of every kind: without a series, with an empty one, with a sample that is missing. */
function tableWith(samples: 'float' | 'double' | 'int'): Table {
  const night = (row: number): (number | null)[] =>
    Array.from({ length: row % 90 }, (_, at) =>
      row % 50 === 9 && at === 3 ? null : 50 + ((row * 7 + at) % 60),
    );
  const rows = Array.from({ length: ROWS }, (_, row) => ({
    id: `night ${row}`,
    age: 20 + (row % 60),
    HR_day_1h: [60 + (row % 20), 61],
    HR_night: row % 11 === 5 ? null : night(row),
    RR_night: row % 13 === 7 ? [] : [12, 13 + (row % 3)],
  }));
  return tableOf(rows, samples, ROWS);
}

interface Read {
  /** A digest of all numbers. */
  readonly numbers: string;
  readonly problems: readonly unknown[];
}

async function read(name: string, format: TableTask['format'], keep: readonly string[]): Promise<Read> {
  const options = { limits: DEFAULT_SERIES_LIMITS, keep, names: 'exact' as const };
  const numbers = createHash('sha256');
  const problems: unknown[] = [];
  let before = 0;
  for await (const piece of readers.rows({ path: join(folder, name), format, options })) {
    for (const row of piece.problems.keys())
      piece.records.fill(0, row * RECORD_LENGTH, (row + 1) * RECORD_LENGTH);
    numbers.update(piece.records);
    problems.push(...[...piece.problems].map(([row, problem]) => [before + row, problem]));
    before += piece.rows;
  }
  return { numbers: numbers.digest('hex'), problems };
}

function write(name: string, table: Table, properties: WriterProperties): void {
  writeFileSync(
    join(folder, name),
    writeParquet(ParquetTable.fromIPCStream(tableToIPC(table, 'stream')), properties),
  );
}

const small = (): WriterPropertiesBuilder =>
  new WriterPropertiesBuilder().setDataPageSizeLimit(2_000).setWriteBatchSize(64).setMaxRowGroupSize(700);

t.test(
  'every compression, form of pages and encoding of lists holds what the Arrow file holds',
  async (t) => {
    const { SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW, UNCOMPRESSED } = Compression;
    for (const [samples, compressions] of [
      ['float', [SNAPPY]],
      ['int', [SNAPPY]],
      ['double', [SNAPPY, GZIP, BROTLI, ZSTD, LZ4_RAW, UNCOMPRESSED]],
    ] as const) {
      const table = tableWith(samples);
      writeArrow(join(folder, 'a.arrow'), table, 'file');
      const expected = await read('a.arrow', 'arrow', []);
      t.ok(expected.problems.length > ROWS / 60, 'nights with a sample that is missing');
      for (const compression of compressions) {
        for (const version of [WriterVersion.V1, WriterVersion.V2]) {
          const properties = small()
            .setCompression(compression)
            .setWriterVersion(version)
            .setDictionaryEnabled(version === WriterVersion.V1);
          write('a.parquet', table, properties.build());
          const name = `${samples}, ${Compression[compression]}, version ${version}`;
          t.strictSame(await read('a.parquet', 'parquet', []), expected, name);
        }
      }
      // A series that is kept goes through the reader of all other columns.
      t.strictSame(await read('a.parquet', 'parquet', KEPT), expected, 'kept');
    }
  },
);

t.test('whole numbers written as differences', async (t) => {
  const table = tableWith('int');
  writeArrow(join(folder, 'b.arrow'), table, 'file');
  const plain = small()
    .setDictionaryEnabled(false)
    .setColumnEncoding('HR_night.list.item', Encoding.DELTA_BINARY_PACKED);
  write('b.parquet', table, plain.build());
  t.strictSame(await read('b.parquet', 'parquet', []), await read('b.arrow', 'arrow', []));
});

/** The file with a page that says that it holds `bytes`, in the place of all pages of a column. */
function withPageOf(path: string, column: string, bytes: number): Buffer {
  const file = readFileSync(path);
  const chunks = parquetMetadata(file).row_groups.flatMap(({ columns }) =>
    columns.map(({ meta_data }) => meta_data),
  );
  const of = chunks.find((chunk): chunk is ColumnMetaData => chunk?.path_in_schema[0] === column);
  const [start, length] = [
    Number(of?.dictionary_page_offset ?? of?.data_page_offset),
    Number(of?.total_compressed_size),
  ];
  const size = (value: number): number[] => {
    const digits = Array.from({ length: 5 }, (_, at) => Math.floor((2 * value) / 128 ** at) % 128);
    return digits.map((digit, at) => (at < 4 ? digit | 0x80 : digit));
  };
  // type, sizes; a structure: one value, PLAIN, levels in the hybrid twice
  const rest = [0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
  const head = 2 + 6 + 6 + rest.length;
  file.set([0x15, 0, 0x15, ...size(bytes), 0x15, ...size(length - head), ...rest], start);
  return file;
}

t.test('a file that takes too much memory is refused before it is read, with what to do', async (t) => {
  const plain = small().setDictionaryEnabled(false).setCompression(Compression.UNCOMPRESSED);
  write('c.parquet', tableWith('float'), plain.build());
  const path = join(folder, 'c.parquet');
  for (const [column, what] of [
    ['HR_night', /pages of the columns HR_day_1h, HR_night, RR_night take 409\d MiB/],
    ['age', /a row group of the columns id, age takes 409\d MiB/],
  ] as const) {
    writeFileSync(join(folder, 'd.parquet'), withPageOf(path, column, 2 ** 31 - 1));
    const reading = read('d.parquet', 'parquet', ['id']);
    await t.rejects(reading, { message: what, name: 'TableError' });
    await t.rejects(read('d.parquet', 'parquet', ['id']), { message: /write the file anew with python3 -c/ });
  }
  // Other sizes fit, are read, and found to be damaged.
  writeFileSync(join(folder, 'd.parquet'), withPageOf(path, 'HR_night', 100 << 20));
  await t.rejects(read('d.parquet', 'parquet', []), { message: /the Parquet file can't be read/ });
});

t.test('a footer that is cut off, encrypted or too large is refused', async (t) => {
  write('e.parquet', tableWith('float'), small().build());
  const whole = readFileSync(join(folder, 'e.parquet'));
  const tail = (length: number, magic: string): Buffer => {
    const bytes = Buffer.from(whole);
    bytes.writeUInt32LE(length, bytes.length - 8);
    bytes.write(magic, bytes.length - 4);
    return bytes;
  };
  for (const [bytes, message] of [
    [whole.subarray(0, -1), /does not end as Parquet does: is it whole\?/],
    [tail(100, 'PARE'), /footer of the file is encrypted: write it unencrypted/],
    [tail(whole.length, 'PAR1'), /ends too early/],
    [
      Buffer.concat([Buffer.alloc(17 << 20), tail(17 << 20, 'PAR1')]),
      /more than 16 MiB: divide its row groups/,
    ],
  ] as const) {
    writeFileSync(join(folder, 'f.parquet'), bytes);
    await t.rejects(read('f.parquet', 'parquet', []), { message });
  }
});
