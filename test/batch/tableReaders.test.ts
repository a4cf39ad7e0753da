import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TableReaders, type TableTask } from '#acuity/batch/tableReaders.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { tableOf, writeArrow, writeParquetFile } from '#fixtures/tables.js';

const FILES = 5;
/** More than one piece, and more than a thread is ahead. */
const ROWS = 40_000;

const folder = t.testdir();
const task = (name: string, format: TableTask['format']): TableTask => ({
  path: join(folder, name),
  format,
  options: { limits: DEFAULT_SERIES_LIMITS, keep: [], names: 'exact' },
});

/** Files whose rows say where they stand: in a file by the height, of which file by the age. */
function writeTables(): TableTask[] {
  const tasks: TableTask[] = [];
  for (let file = 0; file < FILES; file++) {
    const rows = Array.from({ length: file === 2 ? ROWS : 300 }, (_, row) => ({
      age: 20 + file,
      height_cm: 100 + (row % 100),
      HR_night: row % 7 === 3 ? null : [50 + (row % 90), 50 + (row % 90)],
    }));
    const format = file % 2 === 0 ? 'arrow' : 'parquet';
    const table = tableOf(rows, 'float', file === 2 ? ROWS : 120);
    const path = join(folder, `${file}.${format}`);
    if (format === 'arrow') writeArrow(path, table, 'file');
    else writeParquetFile(path, table);
    tasks.push(task(`${file}.${format}`, format));
  }
  return tasks;
}

const TASKS = writeTables();

/** All records of a file, one after the other. */
async function recordsOf(readers: TableReaders, of: TableTask): Promise<number[]> {
  const records: number[] = [];
  for await (const rows of readers.rows(of)) for (const value of rows.records) records.push(value);
  return records;
}

t.test('rows come in order, with any number of threads and any memory', async (t) => {
  for (const [threads, memory] of [[1], [3], [3, 1]] as const) {
    const readers = new TableReaders(threads, memory);
    t.teardown(() => readers.close());
    readers.expect(TASKS);
    for (const [file, of] of TASKS.entries()) {
      // Requested while all threads hold rows that are not taken yet.
      t.equal((await readers.schema(of)).fields.length, 3);
      const records = await recordsOf(readers, of);
      const rows = records.length / LAYOUT.RECORD_LENGTH;
      t.equal(rows, file === 2 ? ROWS : 300);
      const wrong = Array.from({ length: rows }, (_, row) => row).filter((row) => {
        const at = (place: number): number | undefined => records[row * LAYOUT.RECORD_LENGTH + place];
        const summary = LAYOUT.SCALARS + LAYOUT.HR_NIGHT * LAYOUT.SUMMARY_LENGTH;
        const isSeries =
          at(summary + LAYOUT.COUNT) === (row % 7 === 3 ? 0 : 2) &&
          at(summary + LAYOUT.LEVEL) === (row % 7 === 3 ? 0 : 50 + (row % 90));
        return at(LAYOUT.AGE) !== 20 + file || at(LAYOUT.HEIGHT) !== 100 + (row % 100) || !isSeries;
      });
      t.strictSame(wrong, [], `file ${file}, ${threads} threads`);
    }
    await readers.close();
  }
});

t.test('an abandoned file and a damaged one do not block others', async (t) => {
  const readers = new TableReaders(1);
  t.teardown(() => readers.close());
  writeFileSync(join(folder, 'damaged.arrow'), 'no Arrow at all, however long one looks at it');
  for await (const { rows } of readers.rows(task('2.arrow', 'arrow'))) {
    t.ok(rows > 0);
    break;
  }
  await t.rejects(recordsOf(readers, task('damaged.arrow', 'arrow')));
  await t.rejects(recordsOf(readers, task('none.parquet', 'parquet')), { message: /ENOENT/ });
  t.equal((await recordsOf(readers, task('4.arrow', 'arrow'))).length, 300 * LAYOUT.RECORD_LENGTH);
});
