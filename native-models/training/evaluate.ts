import { parseArgs } from 'node:util';
import { loadBundle } from '#acuity/model/bundle.js';
import { oneOf, runCommand, text, wholeNumber } from '#bench/cli.js';
import { World } from './cohort/population.js';
import { accuracy } from './evaluation/accuracy.js';
import { calibration } from './evaluation/calibration.js';
import { writeCard } from './evaluation/card.js';
import type { Context } from './evaluation/context.js';
import { devices } from './evaluation/devices.js';
import { direction } from './evaluation/direction.js';
import { edges } from './evaluation/edges.js';
import { explanations } from './evaluation/explanations.js';
import { history } from './evaluation/history.js';
import { measured } from './evaluation/measured.js';
import { missing } from './evaluation/missing.js';
import { realPeople } from './evaluation/realPeople.js';
import { lastDay } from './evaluation/rollout.js';
import { markdownSection, verdictOf, type Section } from './evaluation/section.js';
import { units } from './evaluation/units.js';
import { ServedModel } from './served.js';

/** The seed of people who had no part in choosing the network: variants were compared on others. */
const SEED = 23;
const SERVED = 'native-models/acuity-base';
/** People of the points on accuracy; the last day is judged, with five days of history and more before it. */
const PEOPLE = 24_000;
const DAYS = 9;

/** The numbers stay those of earlier cards; what the missing ones had found is in the appendix. */
const POINTS = new Map<number, (context: Context) => Section | Promise<Section>>([
  [1, accuracy],
  [2, calibration],
  [3, history],
  [5, missing],
  [6, (context) => direction(context)],
  [8, realPeople],
  [9, () => units()],
  [12, (context) => devices(context)],
  [15, (context) => explanations(context)],
  [17, (context) => measured(context)],
  [18, (context) => edges(context)],
]);

/** Scores people never seen through the served path, prints the points and rewrites the model card. */
async function evaluate(folder: string, asked: readonly number[], count: number): Promise<void> {
  const points = [...POINTS].filter(([number]) => asked.length === 0 || asked.includes(number));
  const [world, model, bundle] = [new World(SEED), await ServedModel.open(folder), await loadBundle(folder)];
  // The other points simulate their own.
  const people = world.simulate(points.some(([number]) => number <= 3) ? count : 1, DAYS);
  const context = { world, model, bundle, people, scored: await lastDay(model, people) };
  const sections: Section[] = [];
  for (const [number, point] of points) {
    const started = performance.now();
    const section = await point(context);
    sections.push(section);
    const tookS = Math.round((performance.now() - started) / 1000);
    process.stderr.write(
      `${String(number).padStart(2)}  ${section.title.padEnd(40)} ${verdictOf(section).padEnd(12)} ${tookS} s\n`,
    );
  }
  process.stdout.write(`${sections.map(markdownSection).join('\n\n')}\n`);
  if (folder === SERVED && points.length === POINTS.size && count === PEOPLE)
    writeCard(folder, bundle, sections);
}

const USAGE = `npm run model:evaluate [-- options]

  --points N,M   these points alone; the card is left as it is
  --people N     fewer people for points 1 to 3, for a first look (default ${PEOPLE}); the card is left as it is
  --model DIR    a bundle (default ${SERVED}); the card of another one is left as it is
  --help         this text`;

await runCommand(USAGE, async () => {
  const options = { model: text(SERVED), points: text(''), people: text(String(PEOPLE)) };
  const { model, points, people } = parseArgs({ options }).values;
  const asked = points
    .split(',')
    .filter(Boolean)
    .map(oneOf([...POINTS.keys()].map(String), 'point'));
  await evaluate(model, asked.map(Number), wholeNumber(people));
});
