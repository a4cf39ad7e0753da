/** `npm run faults`: what attacks the service or breaks what is around it. */
import { parseArgs } from 'node:util';
import { oneOf, positive, runCommand, text } from '#bench/cli.js';
import type { Part } from './part.js';

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
  await runCommand(usage, async () => {
    const flag = { type: 'boolean', default: false } as const;
    const { positionals, values } = parseArgs({
      allowPositionals: true,
      options: { short: flag, minutes: text('5'), seed: text('1'), json: flag, docs: flag },
    });
    const names = positionals.map(oneOf(parts.map(({ name }) => name), 'part')); // prettier-ignore
    const asked = parts.filter(({ name }) => names.length === 0 || names.includes(name));
    const options = {
      form: values.short ? 'short' : 'long',
      seed: positive(values.seed),
      minutes: positive(values.minutes),
      isJson: values.json,
      isDocumented: values.docs,
    } as const;
    process.exitCode = (await runParts(asked, options)) ? 0 : 1;
  });
}
