import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadBundle, type ExplainBundle } from '#acuity/model/bundle.js';
import type { Manifest } from '#acuity/model/manifest.js';
import { Progress } from './cohort/progress.js';
import { listed, positive, readOptions } from './commandLine.js';
import { accuracy } from './evaluation/accuracy.js';
import { assumptions } from './evaluation/assumptions.js';
import { calibration } from './evaluation/calibration.js';
import { writeCard } from './evaluation/card.js';
import { closedLoop } from './evaluation/closedLoop.js';
import { DAYS, PEOPLE, type Context } from './evaluation/context.js';
import { deviceChecks } from './evaluation/deviceChecks.js';
import { direction } from './evaluation/direction.js';
import { dose } from './evaluation/dose.js';
import { edges } from './evaluation/edges.js';
import { explaining } from './evaluation/explaining.js';
import { history } from './evaluation/history.js';
import { measured } from './evaluation/measured.js';
import { missing } from './evaluation/missing.js';
import { oneNorm } from './evaluation/oneNorm.js';
import { ownBaseline } from './evaluation/ownBaseline.js';
import { writeParameterTable } from './evaluation/parameterTable.js';
import { World } from './cohort/population.js';
import { realData } from './evaluation/realData.js';
import { realSets } from './evaluation/realSets.js';
import { rollOut, scoreDay } from './evaluation/rollout.js';
import { writeMeasuredPage, writeScoresPage } from './evaluation/scoresPage.js';
import type { Section } from './evaluation/section.js';
import { seeds } from './evaluation/seeds.js';
import { sizes } from './evaluation/sizes.js';
import { transition } from './evaluation/transition.js';
import { subgroups } from './evaluation/subgroups.js';
import { summaryTable, tablesOf } from './evaluation/summary.js';
import { unitTraps } from './evaluation/unitTraps.js';
import { usual } from './evaluation/usual.js';
import { ServedModel } from './served.js';

/** The seed of people who had no part in choosing the network: variants were compared on others. */
const SEED = 23;
const SERVED = 'native-models/acuity-base';
const SCORES_PAGE = 'docs/SCORES.md';
const MEASURED_PAGE = 'docs/MEASURED.md';
const PARAMETERS = 'native-models/training/cohort/parameters.md';
type Point = (context: Context) => Section | Promise<Section>;
const POINTS = new Map<number, Point>([
  [1, accuracy],
  [2, calibration],
  [3, history],
  [4, ownBaseline],
  [5, missing],
  [6, direction],
  [7, closedLoop],
  [8, realData],
  [9, unitTraps],
  [10, subgroups],
  [11, assumptions],
  [12, deviceChecks],
  [13, oneNorm],
  [14, dose],
  [15, explaining],
  [16, transition],
  [17, measured],
  [18, edges],
  [19, usual],
  [20, realSets],
  [21, seeds],
  [22, sizes],
]);

/** Scores people never seen through the served path, prints the points and rewrites the model card. */
async function evaluate(folder: string, rivals: string, points: readonly number[], people: number) {
  const progress = new Progress('evaluate', POINTS.size + 1);
  const context = await prepare(folder, rivals, people);
  progress.step();
  const sections: Section[] = [];
  for (const [number, point] of POINTS) {
    if (points.length === 0 || points.includes(number)) sections.push(await point(context));
    progress.step();
  }
  process.stdout.write(summaryTable(sections));
  if (points.length > 0) process.stdout.write(tablesOf(sections));
  if (points.length > 0 || people !== PEOPLE) return;
  const figures = join(folder, 'figures');
  rmSync(figures, { recursive: true, force: true });
  mkdirSync(figures, { recursive: true });
  for (const { file, svg } of sections.flatMap((section) => section.figures)) {
    writeFileSync(join(figures, file), svg);
  }
  const table = context.explain?.table;
  writeCard(folder, { sections, table, people });
  if (folder === SERVED) {
    writeScoresPage(SCORES_PAGE, sections, table);
    writeMeasuredPage(MEASURED_PAGE, sections);
  }
  writeParameterTable(PARAMETERS);
}

async function prepare(folder: string, rivals: string, count: number): Promise<Context> {
  const world = new World(SEED);
  const model = await ServedModel.open(folder);
  const people = world.simulate(count, DAYS);
  const rollout = await rollOut(model, people);
  const day = DAYS - 1;
  return {
    world,
    folder,
    version: versionOf(folder),
    people,
    day,
    model,
    rollout,
    explain: await explainOf(folder),
    alone: await scoreDay(model, people, rollout.targets, day, 0),
    rivals: {
      linear: await ServedModel.open(join(rivals, 'linear')),
      large: await ServedModel.open(join(rivals, 'large')),
      half: await ServedModel.open(join(rivals, 'half')),
      double: await ServedModel.open(join(rivals, 'double')),
      seed2: await ServedModel.open(join(rivals, 'seed2')),
      seed3: await ServedModel.open(join(rivals, 'seed3')),
    },
  };
}

/** Undefined for graphs not bundled yet. */
async function explainOf(folder: string): Promise<ExplainBundle | undefined> {
  return existsSync(join(folder, 'manifest.json')) ? (await loadBundle(folder)).explain : undefined;
}

/** Graphs not bundled yet have no version. */
function versionOf(folder: string): string {
  const manifest = join(folder, 'manifest.json');
  return existsSync(manifest)
    ? (JSON.parse(readFileSync(manifest, 'utf8')) as Manifest).version
    : 'unversioned';
}

const USAGE = `npm run model:evaluate [-- options]

  --points N,M   these points alone, with their tables; the card is left as it is
  --people N     fewer people, for a first look (default ${PEOPLE}); the card is left as it is
  --model DIR    the network (default ${SERVED})
  --rivals DIR   the networks it is compared with
  --help         this text`;

const { model, rivals, points, people } = readOptions(
  USAGE,
  {
    model: { type: 'string', default: SERVED },
    rivals: { type: 'string', default: 'native-models/training/rivals' },
    points: { type: 'string', default: '' },
    people: { type: 'string', default: String(PEOPLE) },
  },
  (values) => ({
    ...values,
    points: listed('--points', values.points, POINTS.keys()),
    people: positive('--people', values.people),
  }),
);
await evaluate(model, rivals, points, people);
