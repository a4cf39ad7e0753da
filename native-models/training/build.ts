import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Golden } from '#acuity/model/manifest.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import { readOptions } from './commandLine.js';
import { node, preparePython, ROOT, script, train, WORK } from './orders.js';

const VERSION = '0.4.0';
const SERVED = join(ROOT, 'native-models/acuity-base');

/** Rebuilds the served network from a seed: cohort, fit, what explanations need, bundle. */
function build(python: string): void {
  train(python, ['network']);
  const [network, recordings, explained] = ['network', 'recordings', 'explain'].map((name) => join(WORK, name)) as [string, string, string]; // prettier-ignore
  // Explanations read the fitted network and do not change it.
  node('cohort/writeRecordings.js', ['--out', recordings]);
  script(python, 'repeatability.py', ['--recordings', recordings, '--network', network, '--out', explained]);
  const card = join(SERVED, 'MODEL_CARD_APPENDIX.md');
  node('explainTable.js', ['--graphs', network, '--explain', explained, '--card', card]);
  const before = goldenScores();
  node('bundle.js', ['--graphs', network, '--explain', explained, '--out', SERVED, '--version', VERSION]);
  report(before, goldenScores());
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

const USAGE = `npm run model:build [-- options]

  --python FILE  a Python with the pinned requirements (by default one is set up in .venv)
  --help         this text`;

const { python } = readOptions(USAGE, { python: { type: 'string' } }, (values) => values);
build(preparePython(python));
