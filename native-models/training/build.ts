import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCORE_FIELDS } from '#rules/fields.js';
import type { Golden } from '#acuity/model/manifest.js';
import { readOptions } from './commandLine.js';

const VERSION = '0.4.0';
const SEED = '1';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WORK = join(ROOT, '.build/model');
const TRAINING = join(ROOT, 'native-models/training');
const SERVED = join(ROOT, 'native-models/acuity-base');
const VENV = join(ROOT, '.venv');

interface CohortOrder {
  readonly name: string;
  readonly people: number;
  readonly effectScale: number;
}
interface FitOrder {
  readonly name: string;
  readonly kind: 'network' | 'large' | 'linear';
  readonly cohort: string;
  readonly rounds: number;
  /** The seed of the fit; the served network uses the first. */
  readonly seed?: string;
}

const DAYS = '9';
const COHORTS: readonly CohortOrder[] = [
  { name: 'cohort', people: 48_000, effectScale: 1 },
  { name: 'cohort-half', people: 16_000, effectScale: 0.5 },
  { name: 'cohort-double', people: 16_000, effectScale: 2 },
];
/** The large rival gets two rounds and the cohorts of point 11 get one: these are for comparison, not for serving. */
const FITS: readonly FitOrder[] = [
  { name: 'network', kind: 'network', cohort: 'cohort', rounds: 3 },
  { name: 'linear', kind: 'linear', cohort: 'cohort', rounds: 2 },
  { name: 'large', kind: 'large', cohort: 'cohort', rounds: 2 },
  { name: 'half', kind: 'network', cohort: 'cohort-half', rounds: 1 },
  { name: 'double', kind: 'network', cohort: 'cohort-double', rounds: 1 },
  { name: 'seed2', kind: 'network', cohort: 'cohort', rounds: 3, seed: '2' },
  { name: 'seed3', kind: 'network', cohort: 'cohort', rounds: 3, seed: '3' },
];

/**
 * Rebuilds everything from a seed: cohorts, the served network, its rivals, the bundle. Cohorts and fits land in
 * `.build/model`, the served graphs in `native-models/acuity-base`, the rivals in `native-models/training/rivals`.
 */
function build(python: string, isServedOnly: boolean): void {
  const cohorts = isServedOnly ? COHORTS.slice(0, 1) : COHORTS;
  const fits = isServedOnly ? FITS.slice(0, 1) : FITS;
  for (const { name, people, effectScale } of cohorts) {
    node('cohort/write.js', ['--out', join(WORK, name), '--seed', SEED, '--people', String(people), '--days', DAYS, '--effect-scale', String(effectScale)]); // prettier-ignore
  }
  for (const { name, kind, cohort, rounds, seed = SEED } of fits) {
    const options = ['--cohort', join(WORK, cohort), '--out', join(WORK, name), '--kind', kind];
    run(python, ['-B', join(TRAINING, 'train.py'), ...options, '--seed', seed, '--rounds', String(rounds)]);
    if (name !== 'network') keep(join(WORK, name), join(TRAINING, 'rivals', name));
  }
  const [network, explained] = [join(WORK, 'network'), join(WORK, 'explain')];
  explain(python, network, explained);
  const before = goldenScores();
  node('bundle.js', ['--graphs', network, '--explain', explained, '--out', SERVED, '--version', VERSION]);
  report(before, goldenScores());
}

/** Computes what explanations need: reads the fitted network and does not change it. */
function explain(python: string, network: string, out: string): void {
  const recordings = join(WORK, 'recordings');
  node('cohort/writeRecordings.js', ['--out', recordings]);
  const options = ['--recordings', recordings, '--network', network, '--out', out];
  run(python, ['-B', join(TRAINING, 'repeatability.py'), ...options]);
  node('explainTable.js', [
    '--graphs',
    network,
    '--explain',
    out,
    '--card',
    join(SERVED, 'MODEL_CARD_APPENDIX.md'),
  ]);
}

function keep(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const file of ['base.onnx', 'history.onnx', 'training.json'])
    copyFileSync(join(from, file), join(to, file));
}

function goldenScores(): Golden | undefined {
  const path = join(SERVED, 'golden.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Golden) : undefined;
}

/** Reports how far the rebuilt network differs from the previous one: the same seed must give the same scores. */
function report(before: Golden | undefined, after: Golden | undefined): void {
  const differences = (after?.cases ?? []).flatMap((entry, index) => {
    const earlier = before?.cases[index]?.scores;
    return earlier === undefined
      ? []
      : SCORE_FIELDS.map((field) => Math.abs(entry.scores[field] - earlier[field]));
  });
  const largest = differences.length > 0 ? Math.max(...differences) : NaN;
  process.stdout.write(
    `golden scores differ from the former bundle's by at most ${largest.toExponential(1)} points\n`,
  );
}

function node(script: string, options: readonly string[]): void {
  run(process.execPath, [join(ROOT, '.build/training', script), ...options]);
}

function run(command: string, options: readonly string[]): void {
  const { status } = spawnSync(command, options, { stdio: 'inherit', cwd: ROOT });
  if (status !== 0) throw new Error(`${command} ${options[0] ?? ''} ended with ${String(status)}`);
}

/** The Python with PyTorch: the given one, or a virtual environment of the repository. */
function preparePython(given: string | undefined): string {
  if (given !== undefined) return given;
  const python = join(VENV, 'bin/python');
  if (!existsSync(python)) run('python3', ['-m', 'venv', VENV]);
  run(python, ['-m', 'pip', 'install', '--quiet', '-r', join(TRAINING, 'requirements.txt')]);
  return python;
}

const USAGE = `npm run model:build [-- options]

  --python FILE  a Python with the pinned requirements (by default one is set up in .venv)
  --served       the served network alone, not its rivals
  --help         this text`;

const { python, served } = readOptions(
  USAGE,
  { python: { type: 'string' }, served: { type: 'boolean', default: false } },
  (values) => values,
);
build(preparePython(python), served);
