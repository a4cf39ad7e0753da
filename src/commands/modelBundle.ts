/** Makes a model folder of two graphs. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { createLog } from '../base/process/log.js';
import type { Config } from '../config/options.js';
import { EXPLAIN_COMMAND } from '../contract/explanation.js';
import { FEATURES, featuresHash } from '../contract/features.js';
import { DEFAULT_SERIES_LIMITS, LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { ScoreRecord } from '../contract/request.js';
import { loadBundle } from '../model/bundle.js';
import { GRAPH_TENSORS, type GraphTensors } from '../model/tensors.js';
import {
  EXPLAIN_TABLE,
  manifestCheck,
  type Golden,
  type Graph,
  type Manifest,
  type MeasuredConstants,
} from '../model/manifest.js';
import { createReader } from '../read/read.js';
import type { Thresholds } from '../night/respond.js';
import { openScorer } from '../score/openScorer.js';
import { scoreGolden } from '../score/golden.js';

/** The parts of a bundle; files by path. */
export interface BundleOrder {
  readonly base: string;
  readonly history: string;
  readonly out: string;
  readonly name: string;
  readonly version: string;
  /** Golden requests, `[{ name, request }]`; by default those of the shipped network. */
  readonly golden?: string;
  /** A JSON object about the training, kept in the manifest. */
  readonly training?: string;
  /** A JSON file: `measured` of the manifest. Without it the bundle takes no measurements. */
  readonly measured?: string;
  readonly card?: string;
  /** A folder with the table of explained requests, `explain.json`. */
  readonly explain?: string;
}

const SHIPPED = new URL('../../native-models/acuity-base/golden.json', import.meta.url);
const TOLERANCE = 0.02;
/** Golden scores keep more digits than an answer, so that a rebuild can be held against them. */
const DIGITS = 5;
const THRESHOLDS: Thresholds = { valence: 0.5, arousal: 0.5 };
/** A label this close to its threshold may differ on another machine. */
const LABEL_MARGIN = 1e-4;

const requestsCheck = Compile(
  Type.Array(Type.Object({ name: Type.String(), request: Type.Object({}, { additionalProperties: true }) }), {
    minItems: 1,
  }),
);
const objectCheck = Compile(Type.Object({}, { additionalProperties: true }));

/**
 * `acuity model bundle`: copies two graphs into a model folder, scores the golden requests through the service's own
 * reader, features and workers, and writes the manifest with all hashes.
 * @throws Error where a file can't be read or the graphs don't give sound scores
 */
export async function bundleModel(
  order: BundleOrder,
  config: Config,
  print: (line: string) => void,
): Promise<void> {
  const out = resolve(order.out);
  mkdirSync(out, { recursive: true });
  const files = { base: place(order.base, out), history: place(order.history, out) };
  if (files.base === files.history) throw new Error('the two graphs need names of their own');
  if (order.explain !== undefined) copyTo(join(order.explain, EXPLAIN_TABLE), join(out, EXPLAIN_TABLE));
  if (order.card !== undefined) copyTo(order.card, join(out, 'MODEL_CARD.md'));
  const manifest = manifestOf(order, files, out);
  const golden = await goldenOf(requestsOf(order), manifest, out, config, print);
  writeFileSync(join(out, 'golden.json'), `${JSON.stringify(golden)}\n`);
  const complete = {
    ...manifest,
    files: { ...manifest.files, 'golden.json': digest(join(out, 'golden.json')) },
  };
  writeFileSync(join(out, 'manifest.json'), `${JSON.stringify(complete, undefined, 2)}\n`);
  const { explain } = await loadBundle(out);
  if (order.explain !== undefined && explain === undefined)
    throw new Error(`${join(order.explain, EXPLAIN_TABLE)} has no ranges; ${EXPLAIN_COMMAND} makes them`);
  print(
    `${out}: ${order.name} ${order.version}, ${golden.cases.length} golden cases; acuity model check ${order.out} says more`,
  );
}

/** Copies a graph under its own file name, and returns that. */
function place(graph: string, out: string): string {
  const file = basename(graph);
  copyTo(graph, join(out, file));
  return file;
}

function copyTo(from: string, to: string): void {
  if (resolve(from) !== to) copyFileSync(from, to);
}

function manifestOf(order: BundleOrder, files: { base: string; history: string }, out: string): Manifest {
  const training = order.training === undefined ? {} : readJson(order.training);
  if (!objectCheck.Check(training)) throw new Error(`${String(order.training)} holds no JSON object`);
  const served = [...Object.values(files), ...(order.explain === undefined ? [] : [EXPLAIN_TABLE])];
  const manifest: Manifest = {
    format: 1,
    name: order.name,
    version: order.version,
    graphs: {
      base: graphOf(GRAPH_TENSORS.base, files.base),
      history: graphOf(GRAPH_TENSORS.history, files.history),
    },
    features: FEATURES.map(({ name }) => name),
    featuresHash: featuresHash(),
    files: Object.fromEntries(served.map((file) => [file, digest(join(out, file))])),
    thresholds: { ...THRESHOLDS },
    ...(order.measured === undefined ? {} : { measured: readJson(order.measured) as MeasuredConstants }), // checked below
    training,
  };
  const [error] = manifestCheck.Errors(manifest);
  if (error !== undefined) throw new Error(`${error.instancePath} ${error.message}`);
  return manifest;
}

function graphOf({ inputs, outputs }: GraphTensors, file: string): Graph {
  const copy = (tensors: GraphTensors['inputs']) =>
    tensors.map(({ name, shape }) => ({ name, shape: [...shape] }));
  return { file, inputs: copy(inputs), outputs: copy(outputs) };
}

type Requests = readonly Pick<Golden['cases'][number], 'name' | 'request'>[];

function requestsOf({ golden }: BundleOrder): Requests {
  const requests = golden === undefined ? (readJson(SHIPPED) as Golden).cases : readJson(golden);
  if (!requestsCheck.Check(requests)) throw new Error(`${String(golden)} is not [{"name": …, "request": …}]`);
  return requests;
}

/** The golden requests with the network's scores, without cases whose label is at its threshold. */
async function goldenOf(
  requests: Requests,
  manifest: Manifest,
  folder: string,
  config: Config,
  print: (line: string) => void,
): Promise<Golden> {
  const graphs = {
    base: join(folder, manifest.graphs.base.file),
    history: join(folder, manifest.graphs.history.file),
  };
  const bundle = { folder, manifest, graphs, golden: { tolerance: TOLERANCE, cases: [] } };
  const log = createLog({ level: 'silent' });
  const scorer = await openScorer({ config, bundle, workers: 1, loops: 1 }, log, () => undefined);
  const readRequest = createReader(DEFAULT_SERIES_LIMITS);
  const cases: Golden['cases'] = [];
  try {
    for (const { name, request } of requests) {
      const scores = await scoreGolden({ name, request }, readRequest, scorer);
      if (isOnThreshold(scores)) print(`golden case ${name} left out: a label of it lies on its threshold`);
      else cases.push({ name, request, scores: recordOf(scores) });
    }
  } finally {
    await scorer.drained();
    await scorer.close();
  }
  if (cases.length === 0) throw new Error('no golden case is left: every label lies on its threshold');
  return { tolerance: TOLERANCE, cases };
}

function isOnThreshold(scores: Float32Array): boolean {
  return LABEL_FIELDS.some(
    (name, at) => Math.abs((scores[SCORE_FIELDS.length + at] ?? NaN) - THRESHOLDS[name]) < LABEL_MARGIN,
  );
}

function recordOf(scores: Float32Array): ScoreRecord {
  const named = SCORE_FIELDS.map((name, at) => [name, Number((scores[at] ?? NaN).toFixed(DIGITS))] as const);
  const labels = LABEL_FIELDS.map((name, at) => {
    const isHigh = (scores[SCORE_FIELDS.length + at] ?? NaN) >= THRESHOLDS[name];
    return [name, isHigh ? 'High' : 'Low'] as const;
  });
  return Object.fromEntries([...named, ...labels]) as unknown as ScoreRecord;
}

function readJson(path: string | URL): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function digest(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
