import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { BundleError, loadBundle } from '#acuity/model/bundle.js';
import { MODEL, changeManifest, copyModel, graphsOf, manifestOf, replaceFile } from '../fixtures/model.js';

const { graphs } = manifestOf(MODEL);
const HISTORY_FILE = graphs.history.file;

t.test('the model that is served by default loads', async (t) => {
  const bundle = await loadBundle(MODEL);
  t.strictSame(bundle.graphs, graphsOf(MODEL));
  t.equal(bundle.manifest.version, manifestOf(MODEL).version);
  t.ok(bundle.golden.cases.length > 0);
});

const manifest =
  (change: Parameters<typeof changeManifest>[1]) =>
  (folder: string): void =>
    changeManifest(folder, change);

const damages: readonly (readonly [name: string, damage: (folder: string) => void, told: RegExp])[] = [
  [
    'a graph with one byte more',
    (folder) => appendFileSync(join(folder, HISTORY_FILE), '\0'),
    /history\.onnx does not match its hash/,
  ],
  [
    'altered golden cases',
    (folder) => appendFileSync(join(folder, 'golden.json'), ' '),
    /golden\.json does not match its hash/,
  ],
  ['no graph', (folder) => rmSync(join(folder, HISTORY_FILE)), /history\.onnx cannot be read/],
  ['no manifest', (folder) => rmSync(join(folder, 'manifest.json')), /manifest\.json cannot be read/],
  [
    'a manifest that is no JSON',
    (folder) => writeFileSync(join(folder, 'manifest.json'), '{'),
    /manifest\.json cannot be read/,
  ],
  ['another format', manifest((one) => ({ ...one, format: 2 })), /is not a manifest: \/format/],
  [
    'a version that is no header',
    manifest((one) => ({ ...one, version: 'a\r\nb' })),
    /is not a manifest: \/version/,
  ],
  [
    'a name that is no header',
    manifest((one) => ({ ...one, name: 'two words' })),
    /is not a manifest: \/name/,
  ],
  [
    'a threshold that is no probability',
    manifest((one) => ({ ...one, thresholds: { valence: 2, arousal: 0.5 } })),
    /is not a manifest: \/thresholds/,
  ],
  [
    'a graph outside of the folder',
    manifest((one) => ({ ...one, graphs: { ...graphs, base: { ...graphs.base, file: '../base.onnx' } } })),
    /is not a manifest: \/graphs\/base\/file/,
  ],
  [
    'another feature hash',
    manifest((one) => ({ ...one, featuresHash: '0'.repeat(64) })),
    /featuresHash differs/,
  ],
  [
    'two features exchanged',
    manifest(({ features: [one = '', two = '', ...rest], ...more }) => ({
      ...more,
      features: [two, one, ...rest],
    })),
    /feature 0 is not/,
  ],
  [
    'a feature too few',
    manifest((one) => ({ ...one, features: one.features.slice(0, -1) })),
    /made for another catalogue/,
  ],
  [
    'a graph with other inputs',
    manifest((one) => ({
      ...one,
      graphs: { ...graphs, history: { ...graphs.history, inputs: graphs.base.inputs } },
    })),
    /graph history must have the inputs/,
  ],
  [
    'a graph without a hash',
    manifest((one) => ({
      ...one,
      files: Object.fromEntries(Object.entries(one.files).filter(([file]) => file !== HISTORY_FILE)),
    })),
    /no hash for history\.onnx/,
  ],
  [
    'golden cases of another form',
    (folder) => replaceFile(folder, 'golden.json', '{"tolerance":0.5,"cases":[]}'),
    /golden\.json is not a golden file/,
  ],
];

t.test('a damaged bundle is refused in one line that names it', async (t) => {
  for (const [name, damage, told] of damages) {
    const folder = copyModel(t.testdir());
    damage(folder);
    const error: unknown = await loadBundle(folder).catch((cause: unknown) => cause);
    t.ok(error instanceof BundleError, name);
    t.match(error, { message: told }, name);
    t.match(error, { message: new RegExp(`^${folder}[^\n]*$`) }, name);
  }
});
