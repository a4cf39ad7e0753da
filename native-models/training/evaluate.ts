import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBundle } from '#acuity/model/bundle.js';
import type { Manifest } from '#acuity/model/manifest.js';
import { World } from './cohort/population.js';
import { Progress } from './cohort/progress.js';
import { listed, positive, readOptions } from './commandLine.js';
import { accuracy } from './evaluation/accuracy.js';
import { calibration, subgroups } from './evaluation/calibration.js';
import { nightsTable, writeCard, writeParts } from './evaluation/card.js';
import { DAYS, PEOPLE, type Context } from './evaluation/context.js';
import { deviceChecks } from './evaluation/deviceChecks.js';
import { direction } from './evaluation/direction.js';
import { dose } from './evaluation/dose.js';
import { edges } from './evaluation/edges.js';
import { explaining } from './evaluation/explaining.js';
import { history, SENDINGS_CAPTION } from './evaluation/history.js';
import { measured, TESTS_CAPTION } from './evaluation/measured.js';
import { missing } from './evaluation/missing.js';
import { realData, realSets } from './evaluation/realData.js';
import { rollOut, scoreDay } from './evaluation/rollout.js';
import { markdownSection, verdictOf, type Section } from './evaluation/section.js';
import { usual } from './evaluation/usual.js';
import { units } from './evaluation/wordedNights.js';
import { preparePython, RIVALS, train, WORK } from './orders.js';
import { ServedModel } from './served.js';

/** The seed of people who had no part in choosing the network: variants were compared on others. */
const SEED = 23;
const SERVED = 'native-models/acuity-base';
type Point = (context: Context) => Section | Promise<Section>;
/** The numbers stay those of earlier cards; what the missing ones had found is in the appendix. */
const POINTS = new Map<number, Point>([
  [1, accuracy],
  [2, calibration],
  [3, history],
  [5, missing],
  [6, direction],
  [8, realData],
  [9, units],
  [10, subgroups],
  [12, deviceChecks],
  [14, dose],
  [15, explaining],
  [17, measured],
  [18, edges],
  [19, usual],
  [20, realSets],
]);

/** Scores people never seen through the served path, prints the points and rewrites the model card. */
async function evaluate(folder: string, points: readonly number[], people: number): Promise<void> {
  const progress = new Progress('evaluate', POINTS.size + 1);
  const context = await prepare(folder, people);
  progress.step();
  const sections: Section[] = [];
  for (const [number, point] of POINTS) {
    if (points.length === 0 || points.includes(number)) sections.push(await point(context));
    progress.step();
  }
  const verdicts = sections.map((one) => `${String(one.number).padStart(2)}  ${one.title.padEnd(48)} ${verdictOf(one)}`); // prettier-ignore
  process.stdout.write(`${[...sections.map(markdownSection), verdicts.join('\n')].join('\n\n')}\n`);
  if (points.length > 0 || people !== PEOPLE) return;
  const table = context.explain?.table;
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  writeCard(folder, { manifest, sections, table, people });
  if (folder !== SERVED) return;
  const tables = sections.flatMap((section) => section.tables);
  const of = (wanted: string) => tables.find(({ caption }) => caption === wanted);
  writeParts('docs/SCORES.md', { nights: nightsTable(sections, table), sendings: of(SENDINGS_CAPTION) });
  writeParts('docs/MEASURED.md', { tests: of(TESTS_CAPTION) });
}

async function prepare(folder: string, count: number): Promise<Context> {
  const world = new World(SEED);
  const model = await ServedModel.open(folder);
  const people = world.simulate(count, DAYS);
  const rollout = await rollOut(model, people);
  const day = DAYS - 1;
  const trained = RIVALS.filter((name) => existsSync(join(WORK, name, 'history.onnx')));
  const rivals = new Map<string, ServedModel>();
  for (const name of trained) rivals.set(name, await ServedModel.open(join(WORK, name)));
  return {
    world,
    folder,
    people,
    day,
    model,
    rollout,
    // Graphs that are not bundled yet explain nothing.
    explain: existsSync(join(folder, 'manifest.json')) ? (await loadBundle(folder)).explain : undefined,
    alone: await scoreDay(model, people, rollout.targets, day, 0),
    rivals,
  };
}

const USAGE = `npm run model:evaluate [-- options]

  --points N,M   these points alone; the card is left as it is
  --people N     fewer people, for a first look (default ${PEOPLE}); the card is left as it is
  --model DIR    the network (default ${SERVED})
  --rivals       trains those of point 1 first (${RIVALS.join(', ')}), by Python; they are kept in ${WORK}
  --help         this text`;

const asked = readOptions(
  USAGE,
  {
    model: { type: 'string', default: SERVED },
    rivals: { type: 'boolean', default: false },
    points: { type: 'string', default: '' },
    people: { type: 'string', default: String(PEOPLE) },
  },
  (values) => ({
    ...values,
    points: listed('--points', values.points, POINTS.keys()),
    people: positive('--people', values.people),
  }),
);
if (asked.rivals) train(preparePython(), RIVALS);
await evaluate(asked.model, asked.points, asked.people);
