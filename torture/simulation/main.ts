/** `npm run faults -- simulate`: fleets in virtual time, each drawn from a seed, with everything that may happen to them. */
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { DEFECTS, hunt, plant, type DefectName } from './defects.js';
import { revision } from './revision.js';

const EXIT_USAGE = 64;
const MS_PER_HOUR = 3_600_000;

const USAGE = `npm run faults -- simulate [options]

  --seeds N      so many fleets, of the seeds from 1 on (default 20)
  --hours H      of each (default 0.25)
  --first S      begins with this seed
  --seed S       this one alone
  --defect NAME  with a known defect: ${Object.keys(DEFECTS).join(', ')}
  --defects      says which seed finds each of them
  --revision R   where it failed: says if this tree is another one
  --help         this text`;

try {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '20' },
      hours: { type: 'string', default: '0.25' },
      first: { type: 'string', default: '1' },
      seed: { type: 'string' },
      defect: { type: 'string' },
      defects: { type: 'boolean', default: false },
      revision: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const hours = positive(values.hours);
  const seeds = values.seed === undefined ? positive(values.seeds) : 1;
  const first = positive(values.seed ?? values.first);
  if (values.help) say(USAGE);
  else if (values.defects) findDefects(first, seeds, hours);
  else await simulate({ ...values, first, seeds, hours });
} catch (error) {
  if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
  process.stderr.write(`${messageOf(error)}\n\n${USAGE}\n`);
  process.exitCode = EXIT_USAGE;
}

interface Asked {
  readonly first: number;
  readonly seeds: number;
  readonly hours: number;
  readonly defect?: string | undefined;
  readonly revision?: string | undefined;
}

async function simulate({ first, seeds, hours, defect, revision: wanted }: Asked): Promise<void> {
  const here = revision(defect);
  if (wanted !== undefined && wanted !== here)
    say(`this tree is ${here}, not ${wanted}: what happened there may not happen here`);
  if (defect !== undefined) plant(defect);
  const { World } = await import('./world.js');
  const sum = { hours: 0, requests: 0, lines: 0 };
  const faults = new Map<string, number>();
  const statuses = new Map<number, number>();
  const startCpu = process.cpuUsage();
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      const figures = await new World(seed, hours).run();
      const { traffic, trace } = figures;
      sum.hours += figures.hours;
      sum.requests += traffic.requests;
      sum.lines += traffic.lines;
      addAll(faults, figures.faults);
      addAll(statuses, traffic.statuses);
      say(`seed ${seed}: ${traffic.requests} requests, ${totalOf(figures.faults)} faults, trace ${trace}`);
    } catch (error) {
      say(`seed ${seed} fails: ${messageOf(error)}`);
      if (!(error instanceof Error && error.name === 'Violation'))
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      const planted = defect === undefined ? '' : `--defect ${defect} `;
      say(
        `the same again: npm run faults -- simulate ${planted}--seed ${seed} --hours ${hours} --revision ${here}`,
      );
      process.exitCode = 1;
      return;
    }
  }
  const { user, system } = process.cpuUsage(startCpu);
  const cpuMs = (user + system) / 1000;
  const perHour = (count: number): string => Math.round(count / sum.hours).toLocaleString('en');
  say(`\n${sum.hours.toFixed(2)} hours of ${seeds} fleets, ${sum.requests} requests; revision ${here}`);
  say(
    `an hour has ${perHour(sum.requests)} requests, ${perHour(sum.lines)} lines of lists, ${perHour(totalOf(faults))} faults`,
  );
  say(`${Math.round((sum.hours * MS_PER_HOUR) / cpuMs)} simulated hours in an hour of processor time`);
  say(`answers: ${listOf(statuses)}`);
  say(`faults: ${listOf(faults)}`);
}

function findDefects(first: number, seeds: number, hours: number): void {
  for (const defect of Object.keys(DEFECTS) as DefectName[]) {
    const { seed, violation, isReplayed } = hunt(defect, { first, seeds, hours });
    if (seed === undefined || !isReplayed) process.exitCode = 1;
    const again = isReplayed ? 'and again from its seed' : 'but not again from its seed';
    say(
      seed === undefined
        ? `${defect}: not found`
        : `${defect}: found by seed ${seed}, ${again}: ${violation}`,
    );
  }
}

function addAll<Name>(sum: Map<Name, number>, more: ReadonlyMap<Name, number>): void {
  for (const [name, count] of more) sum.set(name, (sum.get(name) ?? 0) + count);
}

function totalOf(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function listOf(counts: ReadonlyMap<number | string, number>): string {
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new RangeError(`a number above 0 is wanted, not ${text}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
