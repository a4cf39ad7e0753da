/** `npm run faults -- simulate`: fleets in virtual time, each drawn from a seed, with everything that may happen to them. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '#acuity/base/errors.js';
import { positive, runCommand, text } from '#bench/cli.js';
import { filesBelow, textOf } from '#fixtures/repository.js';
import { DEFECTS, hunt, plant, type DefectName, type Fleets } from './defects.js';

/** What a run follows from, beside its seed, as it was compiled. */
const COMPILED = ['dist', '.build/test/faults/simulation'];

const USAGE = `npm run faults -- simulate [options]

  --seeds N      so many fleets, of the seeds from 1 on (default 20)
  --hours H      of each (default 0.25)
  --seed S       begins with this one, which is the only one without --seeds
  --defect NAME  with a known defect: ${Object.keys(DEFECTS).join(', ')}
  --defects      says which seed finds each of them
  --revision R   where it failed: says if this tree is another one
  --help         this text`;

await runCommand(USAGE, async () => {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string' },
      hours: text('0.25'),
      seed: { type: 'string' },
      defect: { type: 'string' },
      defects: { type: 'boolean', default: false },
      revision: { type: 'string' },
    },
  });
  const hours = positive(values.hours);
  const seeds = positive(values.seeds ?? (values.seed === undefined ? '20' : '1'));
  const first = positive(values.seed ?? '1');
  if (values.defects) findDefects(first, seeds, hours);
  else await simulate({ ...values, first, seeds, hours });
});

interface Asked extends Fleets {
  readonly defect?: string | undefined;
  readonly revision?: string | undefined;
}

async function simulate({ first, seeds, hours, defect, revision: wanted }: Asked): Promise<void> {
  const here = await revision(defect);
  if (wanted !== undefined && wanted !== here)
    say(`this tree is ${here}, not ${wanted}: what happened there may not happen here`);
  if (defect !== undefined) plant(defect);
  const { World } = await import('./world.js');
  const sum = new Map<string, number>();
  let simulatedHours = 0;
  for (let seed = first; seed < first + seeds; seed++) {
    try {
      const { hours: lasted, trace, figures } = await new World(seed, hours).run();
      simulatedHours += lasted;
      for (const [what, count] of figures) sum.set(what, (sum.get(what) ?? 0) + count);
      say(`seed ${seed}: ${figures.get('requests') ?? 0} requests, trace ${trace}`);
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
  say(`\n${simulatedHours.toFixed(2)} hours of ${seeds} fleets; revision ${here}`);
  const most = [...sum].toSorted(([, a], [, b]) => b - a);
  say(most.map(([what, count]) => `${what}: ${count}`).join('; '));
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

/** A digest of what a run follows from; with a planted defect, of that too. */
async function revision(defect = ''): Promise<string> {
  const hash = createHash('sha256').update(defect);
  for (const folder of COMPILED)
    for (const path of (await filesBelow(folder)).toSorted())
      if (path.endsWith('.js')) hash.update(path).update(textOf(join(folder, path)));
  return hash.digest('hex').slice(0, 12);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
