import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC, tableToIPC } from 'apache-arrow';
import t, { type Test } from 'tap';
import { folder, runLake, runStream, scoreOne, type Asked, type Scored } from '#fixtures/lake.js';
import { REPOSITORY } from '#fixtures/repository.js';
import { columnsOfTable, type TableRow } from '#fixtures/tables.js';

/** Tables that DuckDB, Polars, pandas and pyarrow wrote (test/foreign/misnamed.py), as their users do without a word of ours. */
const TABLES = join(REPOSITORY, 'test/fixtures/tables-misnamed');
const HISTORY = { person: 'user_id', order: 'night' };
const NIGHTS = 6;

function score(t: Test, path: string, asked: Asked = {}): Promise<Scored> {
  return scoreOne(path, { history: HISTORY, outDir: folder(t), to: 'ndjson', ...asked });
}

const table = (name: string): string => join(TABLES, name);

t.test('names in another case count, in every format', async (t) => {
  const { rows: right } = await score(t, table('person-coded.parquet'));
  t.equal(right.length, NIGHTS);
  for (const name of ['small.parquet', 'small.csv', 'mixed.ndjson']) {
    const { rows } = await score(t, table(name));
    t.strictSame(rows.map(withoutNight), right.map(withoutNight), name);
  }
  await t.rejects(score(t, table('both.parquet')), {
    name: 'NamesError',
    message: /two columns are named "age"/,
  });
});

/** A file of Arrow as a stream. */
function* arrowOf(file: Uint8Array): Generator<Uint8Array> {
  yield tableToIPC(tableFromIPC(file), 'stream');
}

/** A timestamp is written in another way by each format. */
function withoutNight(row: TableRow): TableRow {
  return { ...row, night: undefined };
}

t.test(
  'in any case: digits and kept fields stay as they are, and two names of one field are a bad row',
  async (t) => {
    const path = join(folder(t), 'any.ndjson');
    const lines = [
      '{"id":12345678901234567890,"kept":{"Age":1.50},"Current_Session":{"AGE":30,"SEX":"M","hr_night":[60,61]}}',
      '{"id":2,"current_session":{"age":30,"Age":31}}',
      '{"id":3,"current_session":{"age":31,"age":30}}',
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    const { rows, bad } = await score(t, path, {
      keep: ['id', 'kept'],
      history: undefined,
    });
    t.strictSame(
      rows.map(({ row, kept }) => ({ row, kept })),
      [
        { row: 1, kept: { Age: 1.5 } },
        { row: 3, kept: undefined },
      ],
    );
    t.match(bad, [{ id: 2, row: 2, detail: /a field twice/ }]);
  },
);

t.test(
  'one line says which fields were found; a slip is warned of, and no field at all is refused',
  async (t) => {
    const slip = await runStream(arrowOf(readFileSync(table('slip.arrow'))), {
      history: HISTORY,
      format: 'arrow',
    });
    t.match(slip.told, [
      /: found RR_night, sleepTimeSeconds, age, sex; not found HR_day_1h, RR_day_1h, HR_night, /,
      /the column HRnight is not known, and ignored: did you mean HR_night\?/,
    ]);
    await t.rejects(score(t, table('other.parquet')), {
      message: /^no column is named as a field of a session/,
    });
    const flat = join(folder(t), 'flat.ndjson');
    writeFileSync(flat, '{"id":1,"HR_night":[60],"age":30}\n');
    await t.rejects(score(t, flat, { history: undefined }), { message: /within current_session/ });
    writeFileSync(flat, '{"id":1,"current_session":{}}\n');
    await t.rejects(score(t, flat, { history: undefined }), { name: 'NamesError' });
  },
);

t.test('person, order and the row go through to every output, and id where it is there', async (t) => {
  for (const to of ['ndjson', 'csv', 'parquet'] as const) {
    const { rows } = await score(t, table('order-late.parquet'), { to });
    t.strictSame(Object.keys(rows[0] ?? {}).slice(0, 4), ['user_id', 'night', 'row', 'C_SCORE'], to);
    t.strictSame(
      rows.map(({ row }) => Number(row)),
      [1, 2, 3, 4, 6],
      to,
    );
  }
  const { rows, bad } = await score(t, table('marked.csv'), { keep: ['sex'] });
  t.strictSame(Object.keys(rows[0] ?? {}).slice(0, 4), ['sex', 'user_id', 'night', 'row']);
  t.strictSame(bad, []);
  const late = await score(t, table('order-late.parquet'));
  t.match(late.bad, [
    { user_id: 'p0', file: 'order-late.parquet', row: 5, detail: /^earlier than .*: sort the input/ },
  ]);
});

t.test('an unknown column, and one that the output has itself, are refused', async (t) => {
  const file = table('marked.csv');
  const cases: readonly (readonly [Asked, RegExp])[] = [
    [{ keep: ['sexx'] }, /^there is no column "sexx": did you mean "sex"\?$/],
    [{ keep: ['id'] }, /^there is no column "id"/],
    [
      { history: { person: 'User_ID', order: 'night' } },
      /^there is no column "User_ID": did you mean "user_id"\?$/,
    ],
    [{ keep: ['stress'] }, /^stress can't be kept: the output has a column of that name/],
    [{ keep: ['row'] }, /^row can't be kept/],
  ];
  for (const [asked, message] of cases)
    await t.rejects(score(t, file, asked), { name: 'NamesError', message });
  await t.rejects(score(t, table('mixed.ndjson'), { keep: ['usr_id'] }), {
    message: /^there is no field "usr_id" beside the session in the first rows: did you mean "user_id"\?$/,
  });
});

t.test('a person or an order of a type that can be none is refused at the schema', async (t) => {
  for (const name of ['booleans', 'bytes', 'decimals', 'lists', 'moments', 'structs']) {
    const message =
      /^the column user_id is of the type \S+.*, which can't say whose a row is: make text or whole numbers/;
    await t.rejects(score(t, table(`person-${name}.parquet`)), { name: 'NamesError', message }, name);
  }
  await t.rejects(score(t, table('floats.parquet')), { message: /DOUBLE.*astype\("Int64"\)/ });
  await t.rejects(score(t, table('order-times.parquet')), { message: /TIME.*can't say when a row was/ });
  const { rows: right } = await score(t, table('person-coded.parquet'));
  const scores = (rows: readonly TableRow[]): unknown => rows.map(({ C_SCORE }) => C_SCORE);
  for (const name of ['person-numbers', 'order-dates', 'order-texts', 'order-stamps']) {
    const { rows, bad } = await score(t, table(`${name}.parquet`));
    t.strictSame([scores(rows), bad], [scores(right), []], name);
  }
});

t.test('an empty table and a wholly bad one give the columns that scores would have', async (t) => {
  const columns = async (name: string): Promise<unknown> =>
    columnsOfTable((await score(t, table(name), { to: 'parquet' })).scores, 'parquet');
  const whole = await columns('small.parquet');
  t.strictSame(await columns('empty.parquet'), whole);
  t.strictSame(await columns('bad.parquet'), whole);
});

t.test('of several files one with another column ends the run before any is scored', async (t) => {
  const dir = folder(t);
  copyFileSync(table('person-coded.parquet'), join(dir, 'a.parquet'));
  copyFileSync(table('other.parquet'), join(dir, 'b.parquet'));
  const all = join(dir, '*.parquet');
  const wrong = await runLake([all]);
  t.match(wrong.error, { name: 'NamesError', message: /^no column is named as a field of a session/ });
  t.strictSame(readdirSync(dir), ['a.parquet', 'b.parquet']);
  copyFileSync(table('small.parquet'), join(dir, 'b.parquet'));
  t.match((await runLake([all], { keep: ['user'] })).error, { message: /^there is no column "user"/ });
  const { error, told } = await runLake([all], { keep: ['user_id'] });
  t.equal(error, undefined);
  t.match(told, [/^a.parquet: found HR_night, /, 'b.parquet: fields as in a.parquet']);
});

t.test('standard input with wrong names gives no score, an empty one nothing', async (t) => {
  const wrong = await runStream([Buffer.from('{"user":1,"pulse":2}\n')]);
  t.match(wrong, { error: { name: 'NamesError' }, output: Buffer.alloc(0) });
  t.match(await runStream([]), { error: undefined, output: Buffer.alloc(0) });
});
