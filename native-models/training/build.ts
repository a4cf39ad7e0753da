import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { configOrExit } from '#acuity/commands/config.js';
import { bundleModel } from '#acuity/commands/modelBundle.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { EXPLAIN_TABLE, type Golden, type Manifest } from '#acuity/model/manifest.js';
import { runCommand, text, wholeNumber } from '#bench/cli.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { writeCohort } from './cohort/write.js';
import { explainTable } from './explainTable.js';
import { ServedModel } from './served.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TRAINING = 'native-models/training';
const SERVED = 'native-models/acuity-base';
const VERSION = '0.4.0';
const SEED = 1;
const DAYS = 9;
/** What the served network was fitted to. */
const PEOPLE = '48000';
const WORK = '.build/model';
const COHORT = join(WORK, 'cohort');

interface Order {
  readonly out: string;
  readonly people: number;
  readonly python: string | undefined;
}

/** Rebuilds the served network from a seed: cohort, fit, bundle, what explanations need. */
async function build(order: Order): Promise<void> {
  const python = order.python ?? preparePython();
  mkdirSync(join(ROOT, WORK), { recursive: true });
  process.chdir(ROOT);
  writeCohort(COHORT, { seed: SEED, people: order.people, days: DAYS });
  run(python, ['-B', join(TRAINING, 'train.py'), '--cohort', COHORT, '--out', WORK]);
  const { measured } = JSON.parse(readFileSync(join(SERVED, 'manifest.json'), 'utf8')) as Manifest;
  writeFileSync(join(WORK, 'measured.json'), JSON.stringify(measured));
  const before = goldenScores(SERVED);
  const graphs = { base: join(WORK, 'base.onnx'), history: join(WORK, 'history.onnx') };
  const files = {
    ...graphs,
    training: join(WORK, 'training.json'),
    measured: join(WORK, 'measured.json'),
  };
  const named = { out: order.out, name: 'acuity-base', version: VERSION };
  await bundleModel({ ...files, ...named }, configOrExit(), (line) => process.stdout.write(`${line}\n`));
  await explainBundle(order.out);
  report(before, goldenScores(order.out));
}

/** Makes the table that the network in `folder` is explained by, and enters it in the manifest. */
async function explainBundle(folder: string): Promise<void> {
  const table = `${JSON.stringify(await explainTable(await ServedModel.open(folder)))}\n`;
  writeFileSync(join(folder, EXPLAIN_TABLE), table);
  const path = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  manifest.files[EXPLAIN_TABLE] = createHash('sha256').update(table).digest('hex');
  writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
  await loadBundle(folder);
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
  --people N     a smaller cohort, for a try (default ${PEOPLE})
  --explain DIR  nothing but the table that the network of another bundle is explained by: DIR/explain.json
  --help         this text`;

await runCommand(USAGE, async () => {
  const options = {
    out: text(SERVED),
    python: { type: 'string' },
    people: text(PEOPLE),
    explain: { type: 'string' },
  } as const;
  const { out, python, people, explain } = parseArgs({ options }).values;
  if (explain !== undefined) return explainBundle(explain);
  await build({ out, python, people: wholeNumber(people) });
});
