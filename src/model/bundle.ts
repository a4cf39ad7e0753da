import { join } from 'node:path';
import { messageOf, OperatorError } from '../base/errors.js';
import { errorCode, systemReason } from '../base/files/fileError.js';
import { directFiles, type Files } from '../base/files/files.js';
import { FEATURES, featuresHash } from '../contract/features.js';
import {
  EXPLAIN_TABLE,
  type ExplainTable,
  explainTableCheck,
  type Golden,
  goldenCheck,
  type Graph,
  type Manifest,
  manifestCheck,
} from './manifest.js';
import { GRAPH_TENSORS, type GraphTensors } from './tensors.js';

/** A model folder fit to be served: its manifest and golden cases, checked against this code. */
export interface Bundle {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly golden: Golden;
  /** Absolute paths of the two graphs. */
  readonly graphs: { readonly base: string; readonly history: string };
  /** If the network can explain its scores. */
  readonly explain?: ExplainTable;
}

/** A model folder that must not be served; the message tells the operator why. */
export class BundleError extends OperatorError {}

/**
 * Loads the model folder `configured`, which may be a link.
 * @throws BundleError if a file is absent, altered, or made for another feature list
 */
export async function loadBundle(configured: string, files: Files = directFiles): Promise<Bundle> {
  // Resolve the link once: if it changes meanwhile, the files must still come from one folder.
  const folder = await files.realPath(configured).catch((error: unknown) => {
    const isAbsent = errorCode(error) === 'ENOENT';
    const fault = isAbsent ? 'there is no such model folder' : `it cannot be read: ${reasonOf(error)}`;
    throw new BundleError(`${configured}: ${fault}`);
  });
  const read = <T>(file: string, check: Checker<T>, what: string): Promise<T> =>
    readChecked(files, folder, { file, check, what });
  const manifest = await read('manifest.json', manifestCheck, 'a manifest');
  checkFeatures(folder, manifest);
  checkGraph(folder, 'base', manifest.graphs.base, GRAPH_TENSORS.base);
  checkGraph(folder, 'history', manifest.graphs.history, GRAPH_TENSORS.history);
  await checkFiles(files, folder, manifest);
  const golden = await read('golden.json', goldenCheck, 'a golden file');
  const graphs = {
    base: join(folder, manifest.graphs.base.file),
    history: join(folder, manifest.graphs.history.file),
  };
  if (manifest.files[EXPLAIN_TABLE] === undefined) return { folder, manifest, golden, graphs };
  const { reach, ...table } = await read(EXPLAIN_TABLE, explainTableCheck, 'a table of explanations');
  return { folder, manifest, golden, graphs, ...(reach && { explain: { ...table, reach } }) };
}

interface Checker<T> {
  Check(value: unknown): value is T;
  Errors(value: unknown): readonly { readonly instancePath: string; readonly message: string }[];
}

async function readChecked<T>(
  files: Files,
  folder: string,
  { file, check, what }: { readonly file: string; readonly check: Checker<T>; readonly what: string },
): Promise<T> {
  let value: unknown;
  try {
    value = JSON.parse(await files.readText(join(folder, file)));
  } catch (error) {
    throw new BundleError(`${folder}: ${file} cannot be read: ${reasonOf(error)}`);
  }
  if (check.Check(value)) return value;
  const [error] = check.Errors(value);
  const reason = error === undefined ? 'unknown reason' : `${error.instancePath || '/'} ${error.message}`;
  throw new BundleError(`${folder}: ${file} is not ${what}: ${reason}`);
}

function reasonOf(error: unknown): string {
  return systemReason(error) ?? messageOf(error);
}

/** The order of a row is the contract with the network: a network made for another order gives wrong scores. */
function checkFeatures(folder: string, manifest: Manifest): void {
  const names = FEATURES.map((feature) => feature.name);
  const differing = names.findIndex((name, index) => manifest.features[index] !== name);
  if (differing !== -1 || manifest.features.length !== names.length) {
    const where = differing === -1 ? names.length : differing;
    throw new BundleError(
      `${folder}: feature ${where} is not ${names[where] ?? 'expected'}: made for another catalogue`,
    );
  }
  if (manifest.featuresHash !== featuresHash()) {
    throw new BundleError(
      `${folder}: featuresHash differs: the network was made for another feature catalogue`,
    );
  }
}

function checkGraph(folder: string, name: string, graph: Graph, tensors: GraphTensors): void {
  for (const side of ['inputs', 'outputs'] as const) {
    const expected = JSON.stringify(tensors[side]);
    const given = JSON.stringify(graph[side].map(({ name: tensor, shape }) => ({ name: tensor, shape })));
    if (given !== expected) {
      throw new BundleError(`${folder}: graph ${name} must have the ${side} ${expected}, not ${given}`);
    }
  }
}

async function checkFiles(files: Files, folder: string, manifest: Manifest): Promise<void> {
  const { files: hashes, graphs } = manifest;
  for (const needed of [graphs.base.file, graphs.history.file, 'golden.json']) {
    if (hashes[needed] === undefined)
      throw new BundleError(`${folder}: manifest.json has no hash for ${needed}`);
  }
  for (const [file, expected] of Object.entries(hashes)) {
    const actual = await files.hashOf(join(folder, file)).catch((error: unknown) => {
      throw new BundleError(`${folder}: ${file} cannot be read: ${reasonOf(error)}`);
    });
    if (actual !== expected)
      throw new BundleError(`${folder}: ${file} does not match its hash in manifest.json`);
  }
}
