/** `npm run faults -- simulate`: fleets in virtual time, each drawn from a seed, with everything that may happen to them. */
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { DEFECTS, hunt } from './defects.js';
import { revision } from './revision.js';
import { World, type RunFigures } from './world.js';

const EXIT_USAGE = 64;
const MS_PER_HOUR = 3_600_000;

const USAGE = `npm run faults -- simulate [options]

  --seeds N     so many fleets, of the seeds from 1 on (default 20)
  --hours H     of each (default 0.25)
  --first S     begins with this seed
  --seed S      this one alone
  --revision R  where it failed: says if this tree is another one
  --defects     puts known defects into a copy of the tree, and says which seed finds each
  --help        this text`;

try {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '20' },
      hours: { type: 'string', default: '0.25' },
      first: { type: 'string', default: '1' },
      seed: { type: 'string' },
      revision: { type: 'string' },
      defects: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const hours = positive(values.hours);
  const seeds = values.seed === undefined ? positive(values.seeds) : 1;
  const first = positive(values.seed ?? values.first);
  if (values.help) say(USAGE);
  else if (values.defects) findDefects(first, seeds, hours);
  else await simulate(first, seeds, hours, values.revision);
} catch (error) {
  if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
  process.stderr.write(`${messageOf(error)}\n\n${USAGE}\n`);
  process.exitCode = EXIT_USAGE;
}

async function simulate(first: number, seeds: number, hours: number, wanted?: string): Promise<void> {
  const here = revision();
  if (wanted !== undefined && wanted !== here)
    say(`this tree is ${here}, not ${wanted}: what happened there may not happen here`);
  const sum = {
    hours: 0,
    requests: 0,
    lists: 0,
    lines: 0,
    explained: 0,
    nights: 0,
    faults: new Map<string, number>(),
    statuses: new Map<number, number>(),
  };
  const startCpu = process.cpuUsage();
  for (let seed = first; seed < first + seeds; seed++) {
    let figures: RunFigures;
    try {
      figures = await new World(seed, hours).run();
    } catch (error) {
      say(`seed ${seed} fails: ${messageOf(error)}`);
      if (!(error instanceof Error && error.name === 'Violation'))
        process.stderr.write(`${stackOf(error)}\n`);
      say(`the same again: npm run faults -- simulate --seed ${seed} --hours ${hours} --revision ${here}`);
      process.exitCode = 1;
      return;
    }
    const { traffic, faults, trace } = figures;
    sum.hours += figures.hours;
    sum.nights += figures.nights;
    for (const name of ['requests', 'lists', 'lines', 'explained'] as const) sum[name] += traffic[name];
    addAll(sum.faults, faults);
    addAll(sum.statuses, traffic.statuses);
    say(`seed ${seed}: ${traffic.requests} requests, ${totalOf(faults)} faults, trace ${trace}`);
  }
  const { user, system } = process.cpuUsage(startCpu);
  const cpuMs = (user + system) / 1000;
  const perHour = (count: number): string => Math.round(count / sum.hours).toLocaleString('en');
  say(`\n${sum.hours.toFixed(2)} hours of ${seeds} fleets, ${sum.requests} requests; revision ${here}`);
  say(
    `an hour has ${perHour(sum.requests)} requests and ${perHour(totalOf(sum.faults))} faults; scored are in it ` +
      `${perHour(sum.lists)} lists of ${perHour(sum.lines)} lines, ${perHour(sum.explained)} explanations and ` +
      `${perHour(sum.nights)} nights with a history`,
  );
  say(`${Math.round((sum.hours * MS_PER_HOUR) / cpuMs)} simulated hours in an hour of processor time`);
  say(`answers: ${listOf(sum.statuses)}`);
  say(`faults: ${listOf(sum.faults)}`);
}

function findDefects(first: number, seeds: number, hours: number): void {
  for (const defect of DEFECTS) {
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

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new RangeError(`a number above 0 is wanted, not ${text}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
