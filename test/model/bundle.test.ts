import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BundleError, loadBundle } from '#acuity/model/bundle.js';
import { EXPLAIN_TABLE } from '#acuity/model/manifest.js';
import { operatorsOf } from '../fixtures/onnx.js';
import { MODEL, changeManifest, copyModel, graphsOf, manifestOf, replaceFile } from '../fixtures/model.js';

const { graphs } = manifestOf(MODEL);
const HISTORY_FILE = graphs.history.file;

t.test('the model that is served by default loads', async (t) => {
  const bundle = await loadBundle(MODEL);
  t.strictSame(bundle.graphs, graphsOf(MODEL));
  t.equal(bundle.manifest.version, manifestOf(MODEL).version);
  t.ok(bundle.golden.cases.length > 0);
});

t.test('a network without ranges, as bundles of acuity 1.0 are, serves and explains nothing', async (t) => {
  t.ok((await loadBundle(MODEL)).explain);
  const folder = copyModel(t.testdir());
  const table = JSON.parse(readFileSync(join(folder, EXPLAIN_TABLE), 'utf8')) as object;
  replaceFile(folder, EXPLAIN_TABLE, JSON.stringify({ ...table, reach: undefined }));
  t.equal((await loadBundle(folder)).explain, undefined);
  changeManifest(folder, (one) => ({ ...one, files: { ...one.files, [EXPLAIN_TABLE]: undefined } }));
  t.equal((await loadBundle(folder)).explain, undefined, 'nor without any table');
});

t.test(
  'the manifest says whether the graphs are chains, as the start warns of threads between operators',
  async (t) => {
    // In a chain each operator waits for the one before it.
    const isChain = (path: string): boolean =>
      operatorsOf(readFileSync(path)).every(
        ({ reads }, index, all) => index === 0 || all[index - 1]?.writes.some((name) => reads.includes(name)),
      );
    const { base, history } = graphsOf(MODEL);
    t.strictSame([isChain(base), isChain(history)], [true, false]);
    t.notOk(manifestOf(MODEL).areChains, 'threads between operators may help the graph with history');
  },
);

type Damage = (folder: string) => void;
const file =
  (name: string, damage: (path: string) => void): Damage =>
  (folder) =>
    damage(join(folder, name));
const manifest =
  (change: Parameters<typeof changeManifest>[1]): Damage =>
  (folder) =>
    changeManifest(folder, change);
const more = (path: string): void => appendFileSync(path, ' ');
const outside = { ...graphs, base: { ...graphs.base, file: '../base.onnx' } };
const exchanged = { ...graphs, history: { ...graphs.history, inputs: graphs.base.inputs } };

const damages: readonly (readonly [damage: Damage, told: RegExp])[] = [
  [file(HISTORY_FILE, more), /history\.onnx does not match its hash/],
  [file('golden.json', more), /golden\.json does not match its hash/],
  [file(HISTORY_FILE, rmSync), /history\.onnx cannot be read/],
  [file('manifest.json', rmSync), /manifest\.json cannot be read/],
  [file('manifest.json', (path) => writeFileSync(path, '{')), /manifest\.json cannot be read/],
  [manifest((one) => ({ ...one, format: 2 })), /is not a manifest: \/format/],
  [manifest((one) => ({ ...one, version: 'a\r\nb' })), /is not a manifest: \/version/],
  [manifest((one) => ({ ...one, name: 'two words' })), /is not a manifest: \/name/],
  [
    manifest((one) => ({ ...one, thresholds: { valence: 2, arousal: 0.5 } })),
    /is not a manifest: \/thresholds/,
  ],
  [manifest((one) => ({ ...one, graphs: outside })), /is not a manifest: \/graphs\/base\/file/],
  [manifest((one) => ({ ...one, featuresHash: '0'.repeat(64) })), /featuresHash differs/],
  [manifest(({ features: [one = '', two = '', ...rest], ...other }) => ({ ...other, features: [two, one, ...rest] })), /feature 0 is not/], // prettier-ignore
  [manifest((one) => ({ ...one, features: one.features.slice(0, -1) })), /made for another catalogue/],
  [manifest((one) => ({ ...one, graphs: exchanged })), /graph history must have the inputs/],
  [
    manifest((one) => ({ ...one, files: { ...one.files, [HISTORY_FILE]: undefined } })),
    /no hash for history\.onnx/,
  ],
  [
    (folder) => replaceFile(folder, 'golden.json', '{"tolerance":0.5,"cases":[]}'),
    /golden\.json is not a golden file/,
  ],
];

t.test('a damaged bundle is refused in one line that names it', async (t) => {
  for (const [damage, told] of damages) {
    const folder = copyModel(t.testdir());
    damage(folder);
    const error: unknown = await loadBundle(folder).catch((cause: unknown) => cause);
    t.ok(error instanceof BundleError && told.test(error.message), `${String(told)}: ${String(error)}`);
    t.match(error, { message: new RegExp(`^${folder}[^\n]*$`) }, String(told));
  }
});
