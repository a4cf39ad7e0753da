import { openSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DurationMillisecond, Field, List, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import t from 'tap';
import type { Format } from '#acuity/lake/options.js';
import { NamesError, TableError } from '#acuity/lake/errors.js';
import { registerScore } from '#acuity/commands/score.js';
import { PAST, commanded, fileOf, runLake, runStream, type Asked } from '#fixtures/lake.js';
import { acuity, started } from '#fixtures/scripts.js';
import { REPOSITORY } from '#fixtures/repository.js';
import { arrowOf, nights, table } from '#fixtures/tables.js';

/** Refusals before any row is scored, each with its remedy. */

const CSV = 'id,age,sex,person,at\n1,30,M,p,2026-01-01\n';
const LATIN = Buffer.from(CSV.replace('p,', 'Müller,'), 'latin1');
const LINE = '{"id":1,"person":"p","at":"2026-01-01","current_session":{"age":30}}\n';

/** Columns of a session. */
const OF_SESSION: Readonly<Record<string, RegExp>> = {
  "TIME '07:00:00' AS sleepTimeSeconds": /sleepTimeSeconds is of the type TIME, which is no number/,
  "TIMESTAMP '2026-01-01' AS sleepTimeSeconds": /is of the type TIMESTAMP/,
  "'30' AS age": /age is of the type VARCHAR, which is no number: CAST it/,
  'true AS age': /BOOLEAN/,
  '1 AS sex': /the column sex is of the type INTEGER, which is no sex: write M or F/,
  "[TIME '07:00:00'] AS HR_night": /HR_night is of the type TIME\[\], which can hold no samples/,
  '60.5 AS HR_night': /can hold no samples/,
  '30 AS " age", 60 AS height_cm': /the column " age" has space around its name: rename it/,
};

const NOT_WHOSE = /the column person is of the type .*, which can't say whose a row is: make text or whole/;
const NO_PERSONS = ['true', "'x'::BLOB", '1.5::DECIMAL(20, 1)', '[1]', "TIMESTAMP '2026-01-01'", "{'id': 1}"];
const ROW = `SELECT 'p' AS person, DATE '2026-01-01' AS at, 30 AS age, 50 AS measured_stress`;
/** Columns in the place of those of a row with a past. */
const OF_PAST: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(NO_PERSONS.map((sql) => [`${sql} AS person`, NOT_WHOSE])),
  '1.5::DOUBLE AS person': /DOUBLE.*astype\("Int64"\)/,
  'TIMESTAMPTZ \'2026-01-01 00:00:00+00\' AS "at"':
    /the column at has times with a zone, and comes in UTC: --zone says whose dates the nights are/,
  'true AS measured_stress': /BOOLEAN, which is no measurement: make a number of it, or High or Low/,
  'TIME \'07:00:00\' AS "at"': /TIME.*can't say when a row was/,
};

type Case = readonly [content: string | Buffer, message: RegExp | string, asked?: Asked];

const UNWRITABLE = /can't be written to \(.*\): --out-dir names another folder/;
const FILES: Readonly<Record<string, readonly Case[]>> = {
  csv: [
    ['id,name\n1,2\n', /no column is named as a field of a session \(HR_night/],
    ...['/proc/x', '/dev/null', '/dev/null/x'].map((outDir): Case => [CSV, UNWRITABLE, { outDir }]),
    ['age,age\n30,80\n', /two columns are named "age"/],
    ['person,at,age,measured_stress,Measured_Stress\n', /"measured_stress"/, { history: PAST }],
    ['id,age,id\n1,30,2\n', /two columns are named "id"/],
    [`${'a,'.repeat(10_000)}age\n30\n`, /its header has more than 10000 cells: leave columns out/],
    ['age, measured_attention\n30,50\n', /" measured_attention" has space around its name: rename it/],
    ['age,past_sessions\n30,[]\n', /the column past_sessions: a row of a table is one session/],
    ['id,age,n\n1,30,2\n2,"31\n', /0.csv is no CSV in line 3: check its quotes/],
    ['id,age\n"1\n",30\n"2"x,30\n', /0.csv is no CSV in line 4: check its quotes/],
    ['age,measured_attention\n30,50\n', /measured_attention: measurements are kept in the history of/],
    [LATIN, /^(?!.*ller)0.csv can't be read in line 2: it is not UTF-8: give --encoding latin-1/],
    [Buffer.from(CSV, 'utf16le'), /line 1: it is not UTF-8: give --encoding latin-1 or utf-16/],
    [CSV, /^there is no column "sexx": did you mean "sex"\?$/, { keep: ['sexx'] }],
    [CSV, /^there is no column "Person": did you mean "person"/, { history: { ...PAST, person: 'Person' } }],
    [CSV, /^stress can't be kept: the output has a column of that name/, { keep: ['stress'] }],
    ['Row,age\n1,30\n', /^Row can't be kept/, { keep: ['Row'] }],
    ['id,ID,age\n1,2,30\n', /^ID can't be kept/, { keep: ['id', 'ID'] }],
  ],
  'csv.gz': [
    ['no gzip', /0.csv.gz.* damaged/],
    [gzipSync(CSV.repeat(50)).subarray(0, -12), /0.csv.gz.* cut short/],
    [Buffer.concat([gzipSync(CSV), Buffer.alloc(99), gzipSync(LINE)]), /0.csv.gz.* damaged/],
    [Buffer.concat([gzipSync(CSV), Buffer.alloc(99)]), /0.csv.gz.* damaged/],
  ],
  jsonl: [
    ['{"id":1,"HR_night":[60],"age":30}\n', /within current_session/],
    ['{"id":1,"current_session":{}}\n', /no field of a session is in the first rows/],
    [LINE, /^there is no field "persn" beside the session .*: did you mean "person"\?$/, { keep: ['persn'] }],
    [LINE, /^unmeasured can't be kept: the output has a column of that name/, { keep: ['unmeasured'] }],
    [LINE.replace('age', 'AGE'), /^AGE is no field of the service and is ignored; did you mean age\?$/],
    [LINE.replace('current_s', 'Current_S'), /^Current_Session is no field .* mean current_session\?/],
    [`${LINE.repeat(120)}${LINE.replace('age', 'Age')}`, /^row 121: Age is no field .* did you mean age\?/],
    [`${LINE.repeat(120)}${LINE.replace('age', ' age')}`, /^row 121: the field " age" has space around/],
    [`[${LINE.trim()},\n${LINE.trim()}]`, /^this is one array, not a row in each line: jq -c '\.\[\]'/],
    [JSON.stringify(JSON.parse(LINE), undefined, 2), /^a row takes several lines: jq -c \./],
    [LINE.trim().repeat(3), /^several rows stand in one line: jq -c \./],
    [Buffer.from(LINE, 'utf16le'), /^this is UTF-16: convert it \(iconv/],
    [Buffer.from(`\ufeff${LINE}`, 'utf16le').swap16(), /^this is UTF-16/],
    ['PAR1 and more', /^this is Parquet: name it \.parquet/],
    [LINE, /^0.jsonl: files of Parquet and CSV can be sorted: make one of it/, { sort: true, history: PAST }],
  ],
  'a.constructor': [[CSV, /0.a.constructor: the name does not say the format; --format does/]],
  parquet: [['no Parquet at all', /0.parquet can't be read: it is no Parquet file/]],
  feather: [['', /Arrow comes by standard input, as a stream .* Make Parquet of a file: python3 -c/]],
};

t.test('what can’t be done is said before anything is done', async (t) => {
  const cases: readonly (readonly [args: string, said: RegExp])[] = [
    ['--person p', /--person and --order need each other/],
    ['--state s', /--state needs --person and --order/],
    ['--person p --order o --state a.scores.csv', /--state is named as a result/],
    ['--person p --order o --state s3://a/b', /--state is a file on this machine/],
    ['--sort a.csv', /--sort needs --person and --order/],
    ['--sort --person p --order o', /--sort needs files, or --sql/],
    ['--sql X a.csv', /--sql names what it reads: leave out the files/],
    ['--sql X', /--sql needs --out-dir/],
    ['--sql X --out-dir o --format arrow', /--format arrow is for standard input/],
    ['--out-dir o', /--out-dir needs files/],
    ['--to arrow', /--to arrow needs --format arrow/],
    ['--format arrow --to csv', /an Arrow stream is answered by one, or --to ndjson/],
    ['--tables', /--tables needs --format arrow/],
    ['--tables --format arrow nights.parquet', /--tables .* is for standard input/],
    ['--tables --format arrow --person p --order o --state s', /the past of a table ends with it/],
    ['--memory 255MB', /a size like 512MB or 2GB, at least 256MB/],
    ['--zone Mars', /a zone like Europe\/Berlin, -05:00 or UTC/],
    ['--people-max 0', /a whole number, 1 to 10000000/],
    ['--keep a,a', /A name stands there twice/],
  ];
  for (const [args, said] of cases)
    t.match(await commanded(t, registerScore, ['score', ...args.split(' ')]), { code: Number, said }, args);
  const none = await acuity(['score'], { ACUITY_MODEL: join(REPOSITORY, 'docs') });
  t.match(none, { code: 1, stderr: /manifest\.json cannot be read/, stdout: '' });
  const { closed } = started(t, ['score'], {}, openSync(t.testdir(), 'r'));
  t.match(await closed, { code: 65, stderr: /standard input is a folder: name it/ });
});

t.test('a file that can’t be scored ends the run with what to do, and nothing is written', async (t) => {
  const refused = async (path: string, message: RegExp | string, about: string, asked?: Asked) => {
    const there = readdirSync(dirname(path));
    const { error } = await runLake([path], { ...asked, to: 'ndjson' });
    t.match(error, { message }, about);
    if (/gz|parquet/.test(about)) t.type(error, TableError, 'its exit code is 65');
    if (about === 'several') t.type(error, NamesError);
    t.strictSame(readdirSync(dirname(path)), there);
  };
  const parquet = (selected: string) => table(fileOf(t, '0.parquet'), selected);
  for (const [sql, message] of Object.entries(OF_SESSION)) await refused(await parquet(sql), message, sql);
  for (const [sql, message] of Object.entries(OF_PAST))
    await refused(await parquet(`* REPLACE (${sql}) FROM (${ROW})`), message, sql, { history: PAST });
  for (const [ending, cases] of Object.entries(FILES))
    for (const [content, message, asked] of cases)
      await refused(fileOf(t, `0.${ending}`, content), message, `${ending}: ${content.toString()}`, asked);
  const judged = { history: PAST, keep: ['at'], into: { write: async () => undefined } };
  await refused(
    await parquet(ROW.slice(7)),
    /at is of the type DATE, which is no outcome/,
    'an outcome',
    judged,
  );
  const several = join(t.testdir({ 'a.csv': CSV, 'b.csv': 'id,age,user\n1,30,M\n' }), '*.csv');
  await refused(several, /^there is no column "user"/, 'several', { keep: ['user'] });
  await refused(several, /these are 2 files: --person needs --state/, 'several', { history: PAST });
  const inFolder = join(t.testdir({ 'Age=30': { '0.jsonl': LINE.replace('age', 'height_cm') } }), 'Age=30');
  await refused(join(inFolder, '0.jsonl'), /^the folder Age=… is a field of the session/, 'in a folder');
  const words = /^(?!.*secret).*(is there|pipe it)/;
  for (const far of ['x://a.csv', 'https://u:secret@h/a.csv'])
    t.match((await runLake([far], { outDir: t.testdir() })).error, { message: words });
});

t.test('a stream that can’t be scored gives no score; an empty one nothing', async (t) => {
  const duration = new DurationMillisecond();
  const lists = new List(new Field('item', duration, true));
  const [sleepTimeSeconds, HR_night] = [vectorFromArray([7n], duration), vectorFromArray([[7n]], lists)];
  const whole = arrowOf([{ age: 30 }, { age: 31 }]);
  // What a batch of 77 rows says first of its own number, or of a column's.
  const fewer = Buffer.from(arrowOf(nights(77), 'float', 77));
  fewer[fewer.indexOf(Buffer.from(BigInt64Array.of(77n).buffer))] = 70;
  const latin = Buffer.from(arrowOf([{ age: 30, person: 'Müller' }]));
  latin.set(Buffer.from('ül', 'latin1'), latin.indexOf('ü'));
  const [age, person] = [vectorFromArray([30, 31]), vectorFromArray(['a', 'b'])];
  const beyond = Buffer.from(tableToIPC(new Table({ age, person }), 'stream'));
  beyond[beyond.lastIndexOf(Buffer.from(Int32Array.of(0, 1).buffer)) + 4] = 9;
  const cases: readonly (readonly [bytes: Uint8Array, message: RegExp, format?: Format])[] = [
    [arrowOf([{ id: '1' }]), /no column is named as a field/],
    [arrowOf([{ age: 30 }], 'float', 50, 'file'), /file format is read from its end: make Parquet of it/],
    [tableToIPC(new Table({ sleepTimeSeconds })), /sleepTimeSeconds is of the type Duration/],
    [tableToIPC(new Table({ HR_night })), /HR_night is of the type .*Duration.*, which can hold no samples/],
    [Buffer.of(), /standard input is empty/],
    [Buffer.of(), /Parquet is read from its end.*name the file/, 'parquet'],
    [Buffer.from('{"user":1,"pulse":2}\n'), /no field of a session/, 'ndjson'],
  ];
  for (const [bytes, message, format = 'arrow'] of cases)
    t.match(await runStream([bytes], { format }), { error: { message }, output: Buffer.alloc(0) });
  t.match(await runStream([]), { error: undefined, output: Buffer.alloc(0) });
  // Each of these ended as a whole stream: of fewer rows, or with persons and samples that are none of theirs.
  for (const [bytes, message] of [
    [whole.subarray(0, -8), /the Arrow stream ends too early/],
    [Buffer.concat([whole, whole]), /another Arrow stream follows the first one: read both with --tables/],
    [fewer, /the column id has not as many rows as its batch/],
    [latin, /the column person is not UTF-8/],
    [beyond, /the column person reaches beyond its/],
    ...[[-1], [0, 9], [0, 3, 99], [2, 1]].flatMap((places) =>
      ['HR_night', 'person'].map((name) => [placed(places, name), RegExp(`${name} reaches beyond its`)]),
    ),
  ] as [Uint8Array, RegExp][])
    t.match(await runStream([bytes], { format: 'arrow' }), { error: { name: 'TableError', message } });
});

/** A stream of two lists, and of two texts, the ones of `name` at other places than its writer gave them. */
function placed(places: readonly number[], name: string): Buffer {
  const night = { HR_night: [60, 61, 62], person: 'a', age: 30 };
  const stream = Buffer.from(arrowOf([night, { ...night, HR_night: [63], person: 'bcdefg' }]));
  const bytesOf = (offsets: readonly number[]): Buffer => Buffer.from(Int32Array.from(offsets).buffer);
  stream.set(bytesOf(places), stream.indexOf(bytesOf(name === 'person' ? [0, 1, 7] : [0, 3, 4])));
  return stream;
}
