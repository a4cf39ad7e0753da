/** `npm run bench:peers`: the service beside its peers, interleaved. Progress on standard error, the report on output. */
import { writeFile } from 'node:fs/promises';
import { readOptions, USAGE, UsageError, type ComparisonOptions } from './comparison/options.js';
import type { Comparison } from './comparison/run.js';
import { hasWrk } from './load/wrk.js';

const EXIT_USAGE = 64;

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { compare } = await import('./comparison/run.js');
const { reportOf } = await import('./comparison/report.js');
const { goalLines } = await import('./comparison/goals.js');

// The servers are ended by the exit handler of server/process.ts, which a signal alone would not run.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (process.argv.includes('--help')) process.stdout.write(`${USAGE}\n`);
else await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const options = optionsOrExit(args);
  const able = options.peers.filter(({ name, unavailable }) => {
    if (unavailable !== undefined) say(`${name} is left out: ${unavailable}`);
    return unavailable === undefined;
  });
  const comparison = await compare({ ...options, peers: able }, say);
  process.stdout.write(`${reportOf(options, comparison)}\n`);
  if (options.jsonFile !== undefined) await writeJson(options.jsonFile, options, comparison);
  if (comparison.faults.length > 0) process.exitCode = 1;
}

function optionsOrExit(args: readonly string[]): ComparisonOptions {
  try {
    return readOptions(args, hasWrk());
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n\n${USAGE}\n`);
    process.exit(EXIT_USAGE);
  }
}

async function writeJson(file: string, options: ComparisonOptions, comparison: Comparison): Promise<void> {
  const { peers, ...settings } = options;
  const content = {
    settings: { ...settings, peers: peers.map(({ name }) => name), node: process.versions.node },
    goals: goalLines(comparison.results),
    ...comparison,
  };
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
  say(`wrote ${file}`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
