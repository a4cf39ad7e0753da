import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FEATURES, featuresHash } from '#acuity/contract/features.js';
import { GRAPH_TENSORS, type Golden, type Manifest } from '#acuity/model/manifest.js';
import { goldenRequests } from './golden.js';
import { recordOf, ServedModel } from './served.js';

/** Puts fitted graphs into a model folder: the graphs, golden scores by the served path, the manifest. */
const GOLDEN_TOLERANCE = 0.02;
/** Golden scores keep more digits than an answer, so that a rebuild can be held against them. */
const GOLDEN_DIGITS = 5;

async function bundle(graphs: string, out: string, version: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  for (const file of ['base.onnx', 'history.onnx']) copyFileSync(join(graphs, file), join(out, file));
  const golden = await scoreGolden(out);
  writeFileSync(join(out, 'golden.json'), `${JSON.stringify(golden)}\n`);
  const training = JSON.parse(readFileSync(join(graphs, 'training.json'), 'utf8')) as Manifest['training'];
  const manifest: Manifest = {
    format: 1,
    name: 'acuity-base',
    version,
    graphs: { base: tensorsOf('base'), history: tensorsOf('history') },
    features: FEATURES.map(({ name }) => name),
    featuresHash: featuresHash(),
    files: Object.fromEntries(
      ['base.onnx', 'history.onnx', 'golden.json'].map((file) => [file, digest(join(out, file))]),
    ),
    thresholds: { valence: 0.5, arousal: 0.5 },
    training,
  };
  writeFileSync(join(out, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

async function scoreGolden(folder: string): Promise<Golden> {
  const model = await ServedModel.open(folder);
  const cases: Golden['cases'] = [];
  for (const { name, request } of await goldenRequests(model)) {
    cases.push({ name, request, scores: recordOf(await model.score(request), 0, GOLDEN_DIGITS) });
  }
  return { tolerance: GOLDEN_TOLERANCE, cases };
}

function tensorsOf(variant: keyof typeof GRAPH_TENSORS): Manifest['graphs']['base'] {
  const { inputs, outputs } = GRAPH_TENSORS[variant];
  const copy = (tensors: readonly { name: string; shape: readonly number[] }[]) =>
    tensors.map(({ name, shape }) => ({ name, shape: [...shape] }));
  return { file: `${variant}.onnx`, inputs: copy(inputs), outputs: copy(outputs) };
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

const { values } = parseArgs({
  options: { graphs: { type: 'string' }, out: { type: 'string' }, version: { type: 'string' } },
});
if (values.graphs === undefined || values.out === undefined || values.version === undefined) {
  throw new Error('usage: bundle.js --graphs DIR --out DIR --version VERSION');
}
await bundle(values.graphs, values.out, values.version);
