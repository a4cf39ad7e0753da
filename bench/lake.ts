import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { markdownTable } from '#acuity/base/table.js';
import { machine, oneOf, text, wholeNumber } from './cli.js';
import { ROOT, SERVICE_ENTRY } from './paths.js';
import { cpuMicrosOf, kibibytesIn, plainEnvironment } from './server.js';
import { interleaved, ratioOf, spread, spreadText } from './spread.js';

const WAYS = ['parquet', 'history', 'csv', 'ndjson', 'sort', 'judge'] as const;
type Way = (typeof WAYS)[number];

export const USAGE = `npm run bench -- lake [options]

  --rows LIST      nights (default 100000); several sizes, as 10000,100000
  --people N       whose they are (default 2000)
  --ways LIST      of ${WAYS.join(', ')} (default parquet,history,csv,ndjson); history is
                   Parquet, each row with the nights before it
  --memory SIZE    as for acuity score
  --beside DIR     also the command of another working copy, in turn
  --repetitions N  of everything, one after the other (default 3)
  --folder DIR     where the nights are written, and removed at the end (default below ${tmpdir()})`;

interface Cost {
  readonly cpuMicros: number;
  readonly rssMiB: number;
  readonly perSecond: number;
}

/** A program that reads the nights of a file: this command, another one's, or the engine alone. */
interface Case {
  readonly name: string;
  readonly way: Way;
  readonly program: readonly string[];
}

const LOOK_MS = 20;
const PAST = ['--person', 'person', '--order', 'night'];
const JUDGED = ['weight_kg:-attention', 'height_cm:valence'].flatMap((outcome) => ['--outcome', outcome]);
/** From `npm run python -- tables`. */
const PYTHON = join(ROOT, '.build/python/bin/python');
const READ = `import sys, duckdb
connection = duckdb.connect(config={"threads": 1})
table = f"read_csv('{sys.argv[1]}', all_varchar = true)" if sys.argv[1].endswith("csv") else f"'{sys.argv[1]}'"
rows = connection.execute(f"SELECT * FROM {table}").to_arrow_reader(2048)
print(sum(batch.num_rows for batch in rows), "lines", file=sys.stderr)`;

function hasDuckDb(): boolean {
  return existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import duckdb']).status === 0;
}

/** Measures what a backfill costs, by format: a process for each, its start left out. @throws UsageError */
export async function runLake(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: text('100000'),
      people: text('2000'),
      ways: text('parquet,history,csv,ndjson'),
      memory: { type: 'string' },
      beside: { type: 'string' },
      repetitions: text('3'),
      folder: text(tmpdir()),
    },
  });
  const ways = values.ways.split(',').map(oneOf(WAYS, 'way'));
  const people = wholeNumber(values.people);
  const folder = mkdtempSync(join(values.folder, 'acuity-bench-lake-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const commands = {
    '': SERVICE_ENTRY,
    ...(values.beside && { ', beside': join(values.beside, 'dist/main.js') }),
  };
  const memory = values.memory === undefined ? [] : ['--memory', values.memory];
  const cases = ways.flatMap((way): Case[] => [
    ...Object.entries(commands).map(([suffix, command]) => {
      const program = [process.execPath, command, ...argsOf(way, join(folder, 'scores')), ...memory];
      return { name: way + suffix, way, program };
    }),
    ...(!['parquet', 'history', 'csv'].includes(way) || !hasDuckDb()
      ? []
      : [{ name: `${way}, DuckDB's own reading`, way, program: [PYTHON, '-c', READ] }]),
  ]);
  const lines = [['', 'rows', 'processor µs a row', 'over DuckDB', 'rows a second', 'peak memory MiB']];
  for (const rows of values.rows.split(',').map(wholeNumber)) {
    const pathOf = (way: Way, count: number): string => join(folder, `nights-${count}.${FILES[way]}`);
    for (const way of ways)
      for (const count of [1, rows]) await write(pathOf(way, count), count, people, way === 'sort');
    const costs = await interleaved(cases, wholeNumber(values.repetitions), async ({ way, program }) => {
      const start = await costOf([...program, pathOf(way, 1)], 1);
      const whole = await costOf([...program, pathOf(way, rows)], rows);
      return { ...whole, cpuMicros: (whole.cpuMicros - start.cpuMicros) / rows };
    });
    for (const [one, all] of costs) {
      const own = cases.find(({ way, program }) => way === one.way && program[0] === PYTHON);
      const ratio = ratioOf(all, costs.get(own ?? one) ?? [], ({ cpuMicros }) => cpuMicros);
      const over = own === undefined || own === one || ratio === undefined ? '' : spreadText(ratio, 2);
      lines.push([one.name, String(rows), ...cellsOf(all).toSpliced(1, 0, over)]);
    }
    for (const way of ways) rmSync(pathOf(way, rows), { force: true });
  }
  process.stdout.write(`${machine()}; ${people} people\n\n${markdownTable(lines)}\n`);
}

/** The ends of the names of their files. */
const FILES: Readonly<Record<Way, string>> = {
  parquet: 'parquet',
  history: 'parquet',
  csv: 'csv',
  ndjson: 'ndjson',
  sort: 'shuffled.parquet',
  judge: 'parquet',
};

function argsOf(way: Way, folder: string): string[] {
  if (way === 'judge') return ['judge', ...PAST, ...JUDGED];
  const out = ['score', '--out-dir', folder];
  if (way === 'sort') return [...out, '--sort', ...PAST];
  return way === 'history' ? [...out, ...PAST] : out;
}

/** Writes nights of 42 samples of the day and 220 of the night, by time or in no order. */
async function write(path: string, rows: number, people: number, isShuffled: boolean): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: '1GiB',
    temp_directory: tmpdir(),
  });
  const connection = await instance.connect();
  const list = (name: string, count: number, least: number, most: number): string =>
    `list_transform(range(${count}), lambda x: CAST(round(${least} + ${most - least} * (hash(i * 7919 + x * 31 + ${name.length + count}) % 1000) / 1000.0, 1) AS FLOAT)) AS ${name}`;
  const series = [
    list('HR_day_1h', 42, 55, 95),
    list('RR_day_1h', 42, 12, 20),
    list('HR_night', 220, 48, 70),
    list('RR_night', 220, 11, 18),
  ];
  const session = `${series.join(', ')}, 20000 + i % 8000 AS sleepTimeSeconds, 20 + i % 50 AS age, 150.5 + hash(i) % 40 AS height_cm, 50.5 + hash(i + 1) % 60 AS weight_kg, CASE WHEN i % 2 = 0 THEN 'M' ELSE 'F' END AS sex`;
  const nights = `SELECT i AS id, 'p' || (i % ${people}) AS person, CAST(DATE '2020-01-01' + CAST(i // ${people} AS INTEGER) AS VARCHAR) AS night, ${session} FROM range(${rows}) t(i)${isShuffled ? ' ORDER BY hash(i)' : ''}`;
  const texts = ['HR_day_1h', 'RR_day_1h', 'HR_night', 'RR_night'].map(
    (name) => `CAST(to_json(${name}) AS VARCHAR) AS ${name}`,
  );
  const copied = path.endsWith('.csv')
    ? `COPY (SELECT * REPLACE (${texts.join(', ')}) FROM (${nights})) TO '${path}' (FORMAT csv)`
    : path.endsWith('.ndjson')
      ? `COPY (SELECT n.id, n.person, n.night, {'HR_day_1h': HR_day_1h, 'RR_day_1h': RR_day_1h, 'HR_night': HR_night, 'RR_night': RR_night, 'sleepTimeSeconds': sleepTimeSeconds, 'age': age, 'height_cm': height_cm, 'weight_kg': weight_kg, 'sex': sex} AS current_session FROM (${nights}) n) TO '${path}' (FORMAT json)`
      : `COPY (${nights}) TO '${path}' (FORMAT parquet)`;
  await connection.run(copied);
  connection.closeSync();
  instance.closeSync();
}

/** Runs the command. @throws Error if it fails or rows are missing */
async function costOf([command = '', ...args]: readonly string[], rows: number): Promise<Cost> {
  const at = args.indexOf('--out-dir');
  if (at >= 0) rmSync(args[at + 1] ?? '', { recursive: true, force: true });
  const startMs = performance.now();
  const child = spawn(command, args, {
    env: plainEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  let cpuMicros = 0;
  let rssMiB = 0;
  // The process's statistics disappear when it ends, so read them until then.
  const looks = setInterval(() => {
    try {
      cpuMicros = cpuMicrosOf(child.pid ?? 0);
      rssMiB = kibibytesIn(child.pid ?? 0, 'VmHWM') / 1024 || rssMiB;
    } catch {
      clearInterval(looks); // it has ended
    }
  }, LOOK_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(looks);
  const scored = Number(/([\d,]+) lines/.exec(said)?.[1]?.replaceAll(',', ''));
  if (code !== 0 || scored !== rows)
    throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${said}`);
  return { cpuMicros, rssMiB, perSecond: (rows / (performance.now() - startMs)) * 1000 };
}

function cellsOf(costs: readonly Cost[]): string[] {
  const of = (name: keyof Cost, digits: number): string => spread(costs.map((cost) => cost[name]), digits); // prettier-ignore
  return [of('cpuMicros', 1), of('perSecond', 0), of('rssMiB', 0)];
}
