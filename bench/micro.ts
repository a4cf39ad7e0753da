import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measure, type Effort, type MicroResult } from './micro/harness.js';
import { SUITES } from './micro/suites.js';
import { textTable } from '#acuity/base/table.js';
import { UsageError } from './usage.js';

export const USAGE = `npm run bench -- micro [suites] [--rounds N] [--round-ms N]

  suites            of ${SUITES.map(({ name }) => name).join(', ')} (default all)
  --rounds N        rounds in which the cases of a suite take turns (default 7)
  --round-ms N      length of a round (default 100)`;

/** The parts, each alone. @throws UsageError */
export async function runMicro(args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args);
  const effort: Effort = { rounds: positive(values.rounds), roundMs: positive(values['round-ms']) };
  const unknown = positionals.filter((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown.length > 0) throw new UsageError(`no suite is called ${unknown.join(', ')}`);
  process.stdout.write(
    `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}; ${effort.rounds} rounds of some ${effort.roundMs} ms; µs, median (min–max)\n`,
  );
  for (const suite of SUITES) {
    if (positionals.length > 0 && !positionals.includes(suite.name)) continue;
    const results = await measure(suite, effort);
    process.stdout.write(`\n${textTable([[suite.name, 'wall', 'CPU'], ...results.map(rowOf)])}\n`);
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        rounds: { type: 'string', default: '7' },
        'round-ms': { type: 'string', default: '100' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function rowOf({ name, wallMicros, cpuMicros }: MicroResult): string[] {
  const texts = [wallMicros, cpuMicros].map(({ median, min, max }) => {
    const [middle, low, high] = [median, min, max].map((value) => value.toFixed(2));
    return `${middle} (${low}–${high})`;
  });
  return [name, ...texts];
}

function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new UsageError('--rounds and --round-ms want numbers above 0');
}
