/** `npm run faults`: what attacks the service or breaks what is around it. */
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import type { Part } from './part.js';

const EXIT_USAGE = 64;

if (process.argv[2] === 'simulate') {
  process.argv.splice(2, 1);
  await import('./simulation/main.js');
} else await runAsked();

/** Runs the parts that are asked for, or all of them. */
async function runAsked(): Promise<void> {
  // Before ONNX Runtime loads: it reports usage to its vendor unless told not to.
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  const { mixup, soak } = await import('./mixup.js');
  const { smuggle } = await import('./smuggle.js');
  const { replicas } = await import('./replicas.js');
  const { runParts } = await import('./run.js');
  const parts: readonly Part[] = [mixup, smuggle, replicas, soak];
  const usage = `npm run faults -- [PART…] [options]

${parts.map(({ name, about, beyond }) => `  ${name.padEnd(10)}${about}\n${' '.repeat(12)}not simulated: ${beyond}`).join('\n')}

  --short      little of each, as in npm run test:all
  --minutes N  of the soak (default 5)
  --seed N     of what is drawn (default 1)
  --json       the outcome as JSON instead of a table
  --docs       writes the table to docs/RELIABILITY.md, the parts that were not run left as they are

npm run faults -- simulate   fleets in virtual time, each drawn from a seed (--help)`;
  // An exit handler ends everything that was started; without this a signal would not run it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: {
        short: { type: 'boolean', default: false },
        minutes: { type: 'string', default: '5' },
        seed: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
        docs: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return void process.stdout.write(`${usage}\n`);
    const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
    if (unknown.length > 0) throw new RangeError(`no part is called ${unknown.join(', ')}`);
    const asked = parts.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
    const options = {
      form: values.short ? 'short' : 'long',
      seed: positive(values.seed),
      minutes: positive(values.minutes),
      isJson: values.json,
      isDocumented: values.docs,
    } as const;
    process.exitCode = (await runParts(asked, options)) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof TypeError) && !(error instanceof RangeError)) throw error;
    process.stderr.write(`${messageOf(error)}\n\n${usage}\n`);
    process.exitCode = EXIT_USAGE;
  }
}

function positive(text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new RangeError('--minutes and --seed want numbers above 0');
}
