import { writeFile } from 'node:fs/promises';
import { goalLines } from './comparison/goals.js';
import { readOptions, type ComparisonOptions } from './comparison/options.js';
import { reportOf } from './comparison/report.js';
import type { Comparison } from './comparison/result.js';
import { compareRevision } from './comparison/revision.js';
import { compare } from './comparison/run.js';
import { hasPaced } from './load/paced.js';
import { hasWrk } from './load/wrk.js';

/** The service beside its peers, interleaved: progress on standard error, the report on output. @throws UsageError */
export async function runPeers(args: readonly string[]): Promise<void> {
  const options = readOptions(args, hasWrk());
  const able = options.peers.filter(({ name, unavailable }) => {
    if (unavailable !== undefined) say(`${name} is left out: ${unavailable}`);
    return unavailable === undefined;
  });
  if (options.isForGoals && !hasPaced()) {
    say('rates near saturation are left out: bench/peers/rust/setup.sh builds what sends them');
  }
  const { revision } = options;
  const comparison =
    revision === undefined
      ? await compare({ ...options, peers: able }, say)
      : await compareRevision(options, revision, say);
  process.stdout.write(`${reportOf(options, comparison)}\n`);
  if (options.jsonFile !== undefined) await writeJson(options.jsonFile, options, comparison);
  if (comparison.faults.length > 0) process.exitCode = 1;
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
