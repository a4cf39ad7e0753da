import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { NameReading } from '#acuity/batch/columnNames.js';
import { Histories } from '#acuity/batch/histories.js';
import type { NamesReport } from '#acuity/batch/inputNames.js';
import { inputFiles } from '#acuity/batch/inputs.js';
import type { Format } from '#acuity/batch/formats.js';
import { PersonOrder } from '#acuity/batch/personOrder.js';
import { finish, namesOfFile, scoreFile } from '#acuity/batch/scoreFile.js';
import { newTally } from '#acuity/batch/scorePages.js';
import { TableReaders } from '#acuity/batch/tableReaders.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { FormulaScorer, HAND_MODEL } from '#fixtures/handScorer.js';
import { MODEL } from '#fixtures/model.js';
import { REPOSITORY, cleanEnvironment } from '#fixtures/repository.js';
import { ended, type Ended } from '#fixtures/scripts.js';
import { columnsOfTable, rowsOfTable, type TableRow } from '#fixtures/tables.js';

/** Tables that DuckDB, Polars, pandas and pyarrow wrote (test/foreign/misnamed.py), as their users do without a word of ours. */
const TABLES = join(REPOSITORY, 'test/fixtures/tables-misnamed');
const HISTORY = { person: 'user_id', order: 'night' };
const NIGHTS = 6;
const MAIN = join(REPOSITORY, 'dist/main.js');
const IN_REPOSITORY = {
  cwd: REPOSITORY,
  env: cleanEnvironment({ ACUITY_WORKERS: '1', ACUITY_MODEL: MODEL }),
};

const tables = new TableReaders(1);
t.teardown(() => tables.close());
const reading = { limits: DEFAULT_SERIES_LIMITS, bodyMaxBytes: 1 << 20, tables };

function folder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'acuity-names-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Asked {
  readonly names?: NameReading;
  readonly keep?: readonly string[];
  readonly history?: typeof HISTORY | undefined;
  readonly to?: Format;
}

interface Scored {
  readonly rows: readonly TableRow[];
  readonly bad: readonly TableRow[];
  readonly report: NamesReport | undefined;
}

/** Scores a file as the command does, with the rows of the output and of the bad ones. */
async function score(t: Test, path: string, asked: Asked = {}): Promise<Scored> {
  const { names = 'exact', keep, history, to = 'ndjson' } = { history: HISTORY, ...asked };
  const [input] = inputFiles([path], { outDir: folder(t), to });
  if (input === undefined) throw new Error('no input');
  const wanted = { names, keep, history };
  const looked = await namesOfFile(input, { reading, wanted });
  const scorer = new FormulaScorer();
  const personOrder = history && new PersonOrder(new Histories(100), scorer);
  const scoring = { scorer, rowsMax: 128, tally: newTally(), personOrder };
  const reports: NamesReport[] = [];
  const onNames = (report: NamesReport): unknown => reports.push(report);
  const work = scoreFile(input, { reading, wanted, scoring, lines: { model: HAND_MODEL }, onNames });
  finish(input, await scorer.answering(work));
  t.strictSame(reports, [looked], 'what is said before is what is said at its start');
  const bytes = readFileSync(input.output);
  const rows = to === 'arrow' || to === 'parquet' ? rowsOfTable(bytes, to) : linesOf(bytes.toString());
  const bad = existsSync(input.bad) ? linesOf(readFileSync(input.bad, 'utf8')) : [];
  return { rows, bad, report: looked };
}

function linesOf(text: string): TableRow[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as TableRow);
}

const table = (name: string): string => join(TABLES, name);

t.test(
  'names in another case are refused with the remedy, which scores what the right names do',
  async (t) => {
    const message =
      /^columns are named in another case: hr_night for HR_night, rr_night for RR_night.* --names any-case$/;
    const { rows: right } = await score(t, table('person-coded.parquet'));
    t.equal(right.length, NIGHTS);
    for (const name of ['small.parquet', 'small.csv']) {
      await t.rejects(score(t, table(name)), { name: 'NamesError', message }, name);
      const { rows } = await score(t, table(name), { names: 'any-case' });
      t.strictSame(rows.map(withoutNight), right.map(withoutNight), name);
    }
    await t.rejects(score(t, table('both.parquet')), { message: /AGE for age/ });
    await t.rejects(score(t, table('both.parquet'), { names: 'any-case' }), {
      message: /two columns are named "age"/,
    });
    await t.rejects(score(t, table('cases.arrow')), {
      message: /^a column is named in another case: Age for age; rename it,/,
    });
  },
);

/** A timestamp is written in another way by each format. */
function withoutNight(row: TableRow): TableRow {
  return { ...row, night: undefined };
}

t.test('NDJSON is looked at in its first rows, and in every row that has unknown fields', async (t) => {
  const path = join(folder(t), 'late.ndjson');
  await t.rejects(score(t, table('mixed.ndjson')), {
    message: /^fields are named in another case: hr_night for HR_night/,
  });
  const { rows: right } = await score(t, table('person-coded.parquet'));
  const own = await score(t, table('mixed.ndjson'), { names: 'any-case' });
  t.strictSame(own.rows.map(withoutNight), right.map(withoutNight));
  const good = '{"id":1,"other":2,"current_session":{"age":30,"device":"x"}}\n';
  const cases = [
    '{"id":2,"current_session":{"age":30,"note":"\\\\\\"","Sex":"F"}}',
    '{"id":3,"current_session":{"age":30},"past_sessions":[{"AGE":30}],"past_targets":[]}',
    '{"id":4,"current_session":{"age":30},"past_targets":[{"c_score":50}]}',
    '{"id":5,"current_session":{"age":30},"Past_Sessions":[]}',
    '{"id":6,"Age":3,"current_session":{"age":30,"note":"\\"Sex\\": F"}}',
  ];
  for (const place of cases.slice(0, 4)) {
    writeFileSync(path, `${good}${place}\n`);
    await t.rejects(score(t, path, { history: undefined }), { name: 'NamesError' }, place);
  }
  writeFileSync(path, good.repeat(100) + cases.map((line) => `${line}\n`).join(''));
  const { rows, bad } = await score(t, path, { history: undefined });
  t.strictSame(
    rows.slice(99).map(({ id }) => id),
    [1, 6],
  );
  t.strictSame(
    bad.map(({ id, row, status }) => ({ id, row, status })),
    [
      { id: 2, row: 101, status: 422 },
      { id: 3, row: 102, status: 422 },
      { id: 4, row: 103, status: 422 },
      { id: 5, row: 104, status: 422 },
    ],
  );
  t.match(bad[0], {
    detail: [{ loc: ['body', 'current_session', 'Sex'], msg: /^sex in another case: .* --names any-case$/ }],
  });
});

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
      names: 'any-case',
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
    t.match(bad, [{ id: undefined, row: 2, detail: /a field twice/ }]);
  },
);

t.test(
  'one line says which fields were found; a slip is warned of, and no field at all is refused',
  async (t) => {
    const { report } = await score(t, table('slip.arrow'));
    t.match(
      report?.found,
      /^found RR_night, sleepTimeSeconds, age, sex; not found HR_day_1h, RR_day_1h, HR_night, /,
    );
    t.strictSame(report?.warnings, ['the column HRnight is not known, and ignored: did you mean HR_night?']);
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
  for (const to of ['ndjson', 'arrow', 'parquet'] as const) {
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
  t.equal(typeof late.bad[0]?.['night'], 'number');
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
  await t.rejects(score(t, table('mixed.ndjson'), { names: 'any-case', keep: ['usr_id'] }), {
    message: /^there is no field "usr_id" beside the session in the first rows: did you mean "user_id"\?$/,
  });
});

t.test('a person or an order of a type that can be none is refused at the schema', async (t) => {
  for (const name of ['booleans', 'bytes', 'decimals', 'lists', 'moments', 'structs']) {
    const message =
      /^the column user_id is of the type \S+.*, which can't say whose a row is: make text or whole numbers/;
    await t.rejects(score(t, table(`person-${name}.parquet`)), { name: 'NamesError', message }, name);
  }
  await t.rejects(score(t, table('floats.parquet')), { message: /Float64.*astype\("Int64"\)/ });
  await t.rejects(score(t, table('order-times.parquet')), { message: /Time64.*can't say when a row was/ });
  const { rows: right } = await score(t, table('person-coded.parquet'));
  const scores = (rows: readonly TableRow[]): unknown => rows.map(({ C_SCORE }) => C_SCORE);
  for (const name of ['person-numbers', 'order-dates', 'order-texts', 'order-stamps']) {
    const { rows, bad } = await score(t, table(`${name}.parquet`));
    t.strictSame([scores(rows), bad], [scores(right), []], name);
  }
});

t.test('an empty table and a wholly bad one give the columns that scores would have', async (t) => {
  for (const to of ['arrow', 'parquet'] as const) {
    const columns = async (name: string): Promise<unknown> => {
      const [input] = inputFiles([table(name)], { outDir: folder(t), to });
      if (input === undefined) throw new Error('no input');
      const scorer = new FormulaScorer();
      const wanted = { names: 'any-case' as const, history: HISTORY };
      const scoring = { scorer, rowsMax: 128, tally: newTally() };
      finish(
        input,
        await scorer.answering(scoreFile(input, { reading, wanted, scoring, lines: { model: HAND_MODEL } })),
      );
      return columnsOfTable(readFileSync(input.output), to);
    };
    const whole = await columns('small.parquet');
    t.strictSame(await columns('empty.parquet'), whole, to);
    t.strictSame(await columns('bad.parquet'), whole, to);
  }
});

t.test('of several files one with another column ends the run before any is scored', async (t) => {
  const dir = folder(t);
  copyFileSync(table('person-coded.parquet'), join(dir, 'a.parquet'));
  copyFileSync(table('small.parquet'), join(dir, 'b.parquet'));
  const { code, stderr } = await acuity('score', join(dir, '*.parquet'));
  t.equal(code, 64);
  t.match(stderr, /^acuity score: b.parquet: columns are named in another case/);
  t.strictSame(readdirSync(dir), ['a.parquet', 'b.parquet']);
  const misspelt = await acuity('score', join(dir, '*.parquet'), '--names', 'any-case', '--keep', 'user');
  t.match(misspelt, { code: 64, stderr: /^acuity score: a.parquet: there is no column "user"/ });
  const scored = await acuity('score', join(dir, '*.parquet'), '--names', 'any-case', '--keep', 'user_id');
  t.equal(scored.code, 0, scored.stderr);
  t.match(scored.stderr, /a.parquet: found HR_night, .*\n.*b.parquet: fields as in a.parquet\n/);
});

t.test('standard input with wrong names gives no score', async (t) => {
  const script = 'exec "$0" "$1" score --format csv < "$2"';
  const args = ['-c', script, process.execPath, MAIN, table('small.csv')];
  t.match(await ended('sh', args, IN_REPOSITORY), {
    code: 64,
    stdout: '',
    stderr: /^acuity score: columns are named in another case/,
  });
});

function acuity(...args: readonly string[]): Promise<Ended> {
  return ended(process.execPath, [MAIN, ...args], IN_REPOSITORY);
}
