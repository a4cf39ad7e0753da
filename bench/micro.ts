/** `npm run bench:micro`: the parts, each alone. Arguments select suites: `npm run bench:micro -- read session`. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measure, type Effort, type MicroResult } from './micro/harness.js';
import { textTable } from './textTable.js';

// Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
process.env['ORT_DISABLE_TELEMETRY'] = '1';
const { SUITES } = await import('./micro/suites.js');

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '7' }, 'round-ms': { type: 'string', default: '100' } },
  allowPositionals: true,
});
const effort: Effort = { rounds: positive(values.rounds), roundMs: positive(values['round-ms']) };
const unknown = positionals.filter((name) => !SUITES.some((suite) => suite.name === name));
if (unknown.length > 0) {
  const known = SUITES.map(({ name }) => name).join(', ');
  process.stderr.write(`no suite is called ${unknown.join(', ')}; there are ${known}\n`);
  process.exit(64);
}

process.stdout.write(
  `${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}; ${effort.rounds} rounds of some ${effort.roundMs} ms; µs, median (min–max)\n`,
);
for (const suite of SUITES) {
  if (positionals.length > 0 && !positionals.includes(suite.name)) continue;
  const results = await measure(suite, effort);
  process.stdout.write(`\n${textTable([[suite.name, 'wall', 'CPU'], ...results.map(rowOf)])}\n`);
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
  process.stderr.write('--rounds and --round-ms want numbers above 0\n');
  process.exit(64);
}
