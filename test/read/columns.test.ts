import t from 'tap';
import { ColumnReader, type SeriesColumn } from '#acuity/read/columns.js';
import { summaryAt } from '#acuity/night/places.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { seededRandom } from '#acuity/base/random.js';

const LIMITS = { daySamplesMax: 3_600, nightSamplesMax: 50_000 };
const ROWS = 300;

/** Where the list of a row begins, and its length. */
const PLACED: Readonly<Record<string, (row: number, random: () => number) => [number, number]>> = {
  'one after the other, as many as one call takes': (row) => [1_024 * row, 1_024],
  'with gaps': (row) => [1_000 * row, row % 2 === 0 ? 873 : 0],
  'in no order': (row) => [20 * ((7 * row) % ROWS), 20],
  overlapping: (_, random) => [Math.floor(1_000 * random()), Math.floor(40 * random())],
};

t.test('lists of a table mean what they mean in a body, wherever they lie', async (t) => {
  const random = seededRandom(1);
  const reader = new ColumnReader(LIMITS);
  const values = Float32Array.from({ length: 450_000 }, () => (random() < 0.01 ? NaN : 45 + 60 * random()));
  for (const [name, placed] of Object.entries(PLACED)) {
    const starts = new Int32Array(ROWS);
    const ends = Int32Array.from(starts, (_, row) => {
      const [start, length] = placed(row, random);
      starts[row] = start;
      return start + length;
    });
    const series: SeriesColumn[] = [{ field: 'HR_night', values, starts, ends }];
    const bodyOf = (row: number): Buffer => {
      const HR_night = [...values.subarray(starts[row], ends[row])].map((one) => (one > 0 ? one : 'x'));
      return Buffer.from(JSON.stringify({ current_session: { HR_night } }));
    };
    const read = (arePlain: boolean) => reader.read({ series, scalars: [], arePlain, bodyOf }, 0, ROWS);
    const [plain, exact] = [read(true), read(false)];
    t.strictSame(plain.problems, exact.problems, name);
    t.strictSame(levelsIn(plain), levelsIn(exact), name);
  }
});

function levelsIn({ records, problems }: ReturnType<ColumnReader['read']>): (number | undefined)[] {
  const level = summaryAt(0, 'HR_night') + LAYOUT.LEVEL;
  return Array.from({ length: ROWS }, (_, row) =>
    problems.has(row) ? undefined : records[row * LAYOUT.RECORD_LENGTH + level],
  );
}
