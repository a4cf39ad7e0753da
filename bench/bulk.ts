import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { markdownTable } from '#acuity/base/table.js';
import { messageOf } from '#acuity/base/errors.js';
import { BULK_FORMATS, writeLake, type BulkFormat } from './bulk/data.js';
import { judgeLake, scoreLake, scoreOverHttp, type Cost } from './bulk/run.js';
import { machine } from './machine.js';
import { issueKey, type BenchKey } from './server/key.js';
import { spread } from './spread.js';
import { UsageError } from './usage.js';
import { wholeNumber } from './wholeNumber.js';

export const USAGE = `npm run bench -- bulk [options]

  --rows N         nights (default 200000)
  --people N       whose they are (default 2000)
  --formats LIST   of ${BULK_FORMATS.join(', ')} (default all)
  --repetitions N  of everything, one after the other (default 3)
  --judge          also acuity judge, of each format that is a table, with three outcomes
  --seconds N      of the load over HTTP (default 5)
  --cores LIST     processors that everything has, in turn, as 1,2 (default all; needs taskset)
  --folder DIR     where the nights are written, and removed at the end (default below ${tmpdir()})`;

interface Way {
  readonly name: string;
  /** The HTTP run on the same processors. */
  readonly beside: string;
  /** Minimum of rows per second, relative to HTTP. */
  readonly goal?: number;
  run(): Promise<Cost>;
}

/** Goals without history. */
const GOALS: Readonly<Record<BulkFormat, number>> = { ndjson: 1.5, arrow: 3, parquet: 2 };

/** What a backfill costs, by format, beside the same sessions over HTTP. @throws UsageError */
export async function runBulk(args: readonly string[]): Promise<void> {
  const values = parse(args);
  const rows = wholeNumber(values.rows);
  const formats = values.formats.split(',').map(formatOf);
  const folder = mkdtempSync(join(values.folder, 'acuity-bulk-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const key = await issueKey(folder);
  const patterns = writeLake(folder, { rows, people: wholeNumber(values.people), formats });
  const scoring = {
    rows,
    seconds: wholeNumber(values.seconds),
    folder,
    key,
    patterns,
    formats,
    judge: values.judge,
  };
  const ways = coresOf(values.cores).flatMap((cores) => waysOn(cores, scoring));
  const costs = new Map<Way, Cost[]>(ways.map((way) => [way, []]));
  for (let repetition = 0; repetition < wholeNumber(values.repetitions); repetition++) {
    // Alternately, so that other load on the machine affects all of them.
    for (const way of ways) costs.get(way)?.push(await way.run());
  }
  process.stdout.write(
    `${machine()}; ` +
      `${rows} rows of ${values.people} people, ${values.repetitions} repetitions: the median, and least to most\n\n` +
      `${table(costs)}\n`,
  );
}

interface Scoring {
  readonly rows: number;
  readonly seconds: number;
  readonly folder: string;
  readonly key: BenchKey;
  readonly patterns: Readonly<Record<BulkFormat, string>>;
  readonly formats: readonly BulkFormat[];
  readonly judge: boolean;
}

/** HTTP and every format, on this many processors; on all if undefined. */
function waysOn(
  cores: number | undefined,
  { rows, seconds, folder, key, patterns, formats, judge }: Scoring,
): Way[] {
  const on = cores === undefined ? '' : ` on ${cores} core${cores === 1 ? '' : 's'}`;
  const way = (name: string, run: () => Promise<Cost>, goal?: number): Way => ({
    name: `${name}${on}`,
    beside: `HTTP${on}`,
    ...(goal === undefined ? {} : { goal }),
    run() {
      if (cores !== undefined) moveTo(cores);
      return run();
    },
  });
  return [
    way('HTTP', () => scoreOverHttp(key, seconds, folder)),
    ...[false, true].flatMap((history) =>
      formats.map((format) =>
        way(
          `${format}${history ? ' with history' : ''}`,
          () => scoreLake(patterns[format], { rows, history, folder }),
          history ? undefined : GOALS[format],
        ),
      ),
    ),
    ...formats
      .filter((format) => judge && format !== 'ndjson')
      .map((format) => way(`judge, ${format}`, () => judgeLake(patterns[format], rows))),
  ];
}

/** Pins this process and its children to the first processors. */
function moveTo(cores: number): void {
  const args = ['--all-tasks', '--cpu-list', '--pid', `0-${cores - 1}`, String(process.pid)];
  if (spawnSync('taskset', args).status !== 0) throw new UsageError(`taskset gives no ${cores} cores`);
}

function table(costs: ReadonlyMap<Way, readonly Cost[]>): string {
  const header = [
    '',
    'rows a second',
    'processor µs a row',
    'peak memory MiB',
    'rows a second ÷ HTTP',
    'goal',
    'processor HTTP ÷ it',
  ];
  const lines = [...costs].map(([{ name, beside, goal }, runs]) => {
    const http = [...costs].find(([way]) => way.name === beside)?.[1] ?? [];
    const of = (value: (cost: Cost, index: number) => number, digits: number): string =>
      spread(runs.map(value), digits);
    return [
      name,
      of(({ perSecond }) => perSecond, 0),
      of(({ cpuMicros }) => cpuMicros, 1),
      of(({ rssMiB }) => rssMiB, 0),
      of(({ perSecond }, index) => perSecond / (http[index]?.perSecond ?? NaN), 2),
      goal === undefined ? '' : `≥ ${goal}`,
      of(({ cpuMicros }, index) => (http[index]?.cpuMicros ?? NaN) / cpuMicros, 2),
    ];
  });
  return markdownTable([header, ...lines], { alignsRight: true });
}

function formatOf(name: string): BulkFormat {
  const format = BULK_FORMATS.find((known) => known === name);
  if (format === undefined) throw new UsageError(`no format is called ${name}`);
  return format;
}

function coresOf(text: string | undefined): (number | undefined)[] {
  return text === undefined ? [undefined] : text.split(',').map(wholeNumber);
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rows: { type: 'string', default: '200000' },
        people: { type: 'string', default: '2000' },
        formats: { type: 'string', default: BULK_FORMATS.join(',') },
        repetitions: { type: 'string', default: '3' },
        seconds: { type: 'string', default: '5' },
        cores: { type: 'string' },
        judge: { type: 'boolean', default: false },
        folder: { type: 'string', default: tmpdir() },
      },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}
