/** `npm run simulate`: fleets in virtual time, each drawn from a seed, with everything that may happen to them. */
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { DEFECTS, hunt } from './defects.js';
import { revision } from './revision.js';
import { World, type RunFigures } from './world.js';

const EXIT_USAGE = 64;
const MS_PER_HOUR = 3_600_000;

const USAGE = `npm run simulate -- [options]

  --seeds N     so many fleets, of the seeds from 1 on (default 20)
  --hours H     of each (default 0.25)
  --first S     begins with this seed
  --seed S      this one alone
  --revision R  where it failed: says if this tree is another one
  --defects     old defects put back into a copy of the tree, and after how many seeds each is found
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
  if (values.help) say(USAGE);
  else if (values.defects) findDefects(seeds, hours);
  else await simulate(positive(values.seed ?? values.first), seeds, hours, values.revision);
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
      say(`the same again: npm run simulate -- --seed ${seed} --hours ${hours} --revision ${here}`);
      process.exitCode = 1;
      return;
    }
    const { traffic, faults, trace } = figures;
    sum.hours += figures.hours;
    sum.requests += traffic.requests;
    addAll(sum.faults, faults);
    addAll(sum.statuses, traffic.statuses);
    say(`seed ${seed}: ${traffic.requests} requests, ${totalOf(faults)} faults, trace ${trace}`);
  }
  const { user, system } = process.cpuUsage(startCpu);
  const cpuMs = (user + system) / 1000;
  say(
    `\n${sum.hours.toFixed(2)} hours, ${sum.requests} requests, ${totalOf(sum.faults)} faults; revision ${here}`,
  );
  say(`${Math.round((sum.hours * MS_PER_HOUR) / cpuMs)} simulated hours in an hour of processor time`);
  say(`answers: ${listOf(sum.statuses)}`);
  say(`faults: ${listOf(sum.faults)}`);
}

function findDefects(seeds: number, hours: number): void {
  for (const defect of DEFECTS) {
    const { seeds: after, violation } = hunt(defect, seeds, hours);
    if (after === undefined) process.exitCode = 1;
    say(after === undefined ? `${defect}: not found` : `${defect}: found by seed ${after}: ${violation}`);
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
