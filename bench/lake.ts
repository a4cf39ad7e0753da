import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { markdownTable } from '#acuity/base/table.js';
import { machine, oneOf, text, wholeNumber } from './cli.js';
import { SERVICE_ENTRY } from './paths.js';
import { cpuMicrosOf, kibibytesIn, plainEnvironment } from './server.js';
import { interleaved, spread } from './spread.js';

const WAYS = ['parquet', 'csv', 'ndjson', 'sort', 'judge'] as const;
type Way = (typeof WAYS)[number];

export const USAGE = `npm run bench -- lake [options]

  --rows LIST      nights (default 100000); several sizes, as 10000,100000
  --people N       whose they are (default 2000)
  --ways LIST      of ${WAYS.join(', ')} (default parquet,csv,ndjson)
  --history        each row has the nights before it
  --memory SIZE    as for acuity score
  --beside DIR     also the command of another working copy, in turn
  --repetitions N  of everything, one after the other (default 3)
  --folder DIR     where the nights are written, and removed at the end (default below ${tmpdir()})`;

interface Cost {
  readonly cpuMicros: number;
  readonly rssMiB: number;
  readonly perSecond: number;
}

const LOOK_MS = 20;
const PAST = ['--person', 'person', '--order', 'night'];
const JUDGED = ['weight_kg:-attention', 'height_cm:valence'].flatMap((outcome) => ['--outcome', outcome]);

/** What a backfill costs, by format: a process for each, its start included. @throws UsageError */
export async function runLake(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: text('100000'),
      people: text('2000'),
      ways: text('parquet,csv,ndjson'),
      history: { type: 'boolean', default: false },
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
  const commands = [
    SERVICE_ENTRY,
    ...(values.beside === undefined ? [] : [join(values.beside, 'dist/main.js')]),
  ];
  const memory = values.memory === undefined ? [] : ['--memory', values.memory];
  const lines: string[][] = [['', 'rows', 'processor µs a row', 'rows a second', 'peak memory MiB']];
  for (const rows of values.rows.split(',').map(wholeNumber)) {
    for (const way of ways) {
      const path = join(folder, `nights.${way === 'csv' || way === 'ndjson' ? way : 'parquet'}`);
      await write(path, rows, people, way === 'sort');
      const asked = [...argsOf(way, path, folder, values.history), ...memory];
      const costs = await interleaved(commands, wholeNumber(values.repetitions), (command) =>
        costOf(command, asked, rows),
      );
      for (const [command, all] of costs)
        lines.push([command === SERVICE_ENTRY ? way : `${way}, beside`, String(rows), ...cellsOf(all)]);
      rmSync(path);
    }
  }
  process.stdout.write(`${machine()}; ${people} people\n\n${markdownTable(lines)}\n`);
}

function argsOf(way: Way, path: string, folder: string, history: boolean): string[] {
  if (way === 'judge') return ['judge', path, ...PAST, ...JUDGED];
  const out = ['score', path, '--out-dir', join(folder, 'scores')];
  if (way === 'sort') return [...out, '--sort', ...PAST];
  return history ? [...out, ...PAST] : out;
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
async function costOf(command: string, args: readonly string[], rows: number): Promise<Cost> {
  const out = args[args.indexOf('--out-dir') + 1] ?? '';
  rmSync(out, { recursive: true, force: true });
  const startMs = performance.now();
  const child = spawn(process.execPath, [command, ...args], {
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
  if (code !== 0 || scored !== rows) throw new Error(`acuity ${args.join(' ')} ended with ${code}: ${said}`);
  return { cpuMicros: cpuMicros / rows, rssMiB, perSecond: (rows / (performance.now() - startMs)) * 1000 };
}

function cellsOf(costs: readonly Cost[]): string[] {
  const of = (name: keyof Cost, digits: number): string => spread(costs.map((cost) => cost[name]), digits); // prettier-ignore
  return [of('cpuMicros', 1), of('perSecond', 0), of('rssMiB', 0)];
}
