import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configOrExit } from '#acuity/commands/config.js';
import { bundleModel } from '#acuity/commands/modelBundle.js';
import { EXPLAIN_TABLE, type Golden, type Manifest } from '#acuity/model/manifest.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { World } from './cohort/population.js';
import { writeCohort } from './cohort/write.js';
import { positive, readOptions } from './commandLine.js';
import { explainTable } from './explainTable.js';
import { reachTable } from './ranges.js';
import { ServedModel } from './served.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TRAINING = 'native-models/training';
const SERVED = 'native-models/acuity-base';
const VERSION = '0.4.0';
const SEED = 1;
const DAYS = 9;
/** What the served network was fitted to, and how long: people, passes over the cohort before it is scored again, and how often. */
const FULL = { people: '48000', epochs: '6', rounds: '3' };
/** People who are recorded by other devices too, for the ranges. */
const RECORDED = { seed: 31, people: 40_000 } as const;
const WORK = '.build/model';
const [COHORT, REACH, MEASURED] = [
  join(WORK, 'cohort'),
  join(WORK, 'reach.json'),
  join(WORK, 'measured.json'),
];

/** Rebuilds the served network from a seed: cohort, fit, what explanations need, bundle. */
async function build(
  order: Record<keyof typeof FULL | 'out', string> & { readonly python: string | undefined },
): Promise<void> {
  const python = order.python ?? preparePython();
  mkdirSync(join(ROOT, WORK), { recursive: true });
  process.chdir(ROOT);
  writeCohort(COHORT, { seed: SEED, people: positive('--people', order.people), days: DAYS });
  const fit = ['--rounds', order.rounds, '--epochs', order.epochs];
  run(python, ['-B', join(TRAINING, 'train.py'), '--cohort', COHORT, '--out', WORK, ...fit]);
  // Explanations read the fitted network and do not change it.
  const model = await ServedModel.open(WORK);
  writeFileSync(REACH, JSON.stringify(await reachTable(model, new World(RECORDED.seed), RECORDED.people)));
  run(python, [
    '-B',
    join(TRAINING, 'explain_graph.py'),
    '--cohort',
    COHORT,
    '--network',
    WORK,
    '--reach',
    REACH,
  ]);
  writeFileSync(join(WORK, EXPLAIN_TABLE), `${JSON.stringify(await explainTable(model, WORK))}\n`);
  const { measured } = JSON.parse(readFileSync(join(SERVED, 'manifest.json'), 'utf8')) as Manifest;
  writeFileSync(MEASURED, JSON.stringify(measured));
  const before = goldenScores(SERVED);
  const graphs = { base: join(WORK, 'base.onnx'), history: join(WORK, 'history.onnx') };
  const files = { ...graphs, training: join(WORK, 'training.json'), measured: MEASURED, explain: WORK };
  const named = { out: order.out, name: 'acuity-base', version: VERSION };
  await bundleModel({ ...files, ...named }, configOrExit(), (line) => process.stdout.write(`${line}\n`));
  report(before, goldenScores(order.out));
}

/** The Python with PyTorch in a virtual environment of the repository. */
function preparePython(): string {
  const python = join(ROOT, '.venv/bin/python');
  if (!existsSync(python)) run('python3', ['-m', 'venv', join(ROOT, '.venv')]);
  run(python, ['-m', 'pip', 'install', '--quiet', '-r', join(ROOT, TRAINING, 'requirements.txt')]);
  return python;
}

function run(command: string, options: readonly string[]): void {
  const { status } = spawnSync(command, options, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${options.join(' ')} ended with ${String(status)}`);
}

function goldenScores(folder: string): Golden['cases'] {
  const path = join(folder, 'golden.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Golden).cases : [];
}

/** Reports how far the rebuilt network differs from the served one: the same seed must give the same scores. */
function report(before: Golden['cases'], after: Golden['cases']): void {
  const differences = after.flatMap(({ name, scores }) => {
    const earlier = before.find((one) => one.name === name)?.scores;
    return SCORE_FIELDS.map((field) => Math.abs(scores[field] - (earlier?.[field] ?? NaN)));
  });
  process.stdout.write(
    `golden scores differ from those of ${SERVED} by at most ${Math.max(...differences).toExponential(1)} points\n`,
  );
}

const USAGE = `npm run model:build [-- options]

  --out DIR      the bundle (default ${SERVED})
  --python FILE  a Python with the pinned requirements (by default one is set up in .venv)
  --people N     --epochs N     --rounds N     less, for a try (default ${Object.values(FULL).join(', ')})
  --help         this text`;

const text = { type: 'string' } as const;
const order = readOptions(
  USAGE,
  {
    out: { ...text, default: SERVED },
    python: text,
    people: { ...text, default: FULL.people },
    epochs: { ...text, default: FULL.epochs },
    rounds: { ...text, default: FULL.rounds },
  },
  ({ python, ...values }) => ({ ...values, python }),
);
await build(order);
