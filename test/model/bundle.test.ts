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

interface Damage {
  readonly name: string;
  damage(folder: string): void;
  readonly told: RegExp;
}

const damages: readonly Damage[] = [
  {
    name: 'a graph with one byte more',
    damage: (folder) => appendFileSync(join(folder, HISTORY_FILE), '\0'),
    told: new RegExp(`${HISTORY_FILE} does not match its hash`),
  },
  {
    name: 'altered golden cases',
    damage: (folder) => appendFileSync(join(folder, 'golden.json'), ' '),
    told: /golden\.json does not match its hash/,
  },
  {
    name: 'no graph',
    damage: (folder) => rmSync(join(folder, HISTORY_FILE)),
    told: new RegExp(`${HISTORY_FILE} cannot be read`),
  },
  {
    name: 'no golden cases',
    damage: (folder) => rmSync(join(folder, 'golden.json')),
    told: /golden\.json cannot be read/,
  },
  {
    name: 'no manifest',
    damage: (folder) => rmSync(join(folder, 'manifest.json')),
    told: /manifest\.json cannot be read/,
  },
  {
    name: 'a manifest that is no JSON',
    damage: (folder) => writeFileSync(join(folder, 'manifest.json'), '{'),
    told: /manifest\.json cannot be read/,
  },
  {
    name: 'a manifest of another format',
    damage: (folder) => changeManifest(folder, (manifest) => ({ ...manifest, format: 2 })),
    told: /manifest\.json is not a manifest: \/format/,
  },
  {
    name: 'a version that would not fit into a header',
    damage: (folder) => changeManifest(folder, (manifest) => ({ ...manifest, version: 'a\r\nb' })),
    told: /manifest\.json is not a manifest: \/version/,
  },
  {
    name: 'a name that would not fit into a header',
    damage: (folder) => changeManifest(folder, (manifest) => ({ ...manifest, name: 'two words' })),
    told: /manifest\.json is not a manifest: \/name/,
  },
  {
    name: 'a threshold that is no probability',
    damage: (folder) =>
      changeManifest(folder, (manifest) => ({ ...manifest, thresholds: { valence: 2, arousal: 0.5 } })),
    told: /manifest\.json is not a manifest: \/thresholds/,
  },
  {
    name: 'a graph outside of the folder',
    damage: (folder) =>
      changeManifest(folder, (manifest) => ({
        ...manifest,
        graphs: { ...graphs, base: { ...graphs.base, file: '../base.onnx' } },
      })),
    told: /manifest\.json is not a manifest: \/graphs\/base\/file/,
  },
  {
    name: 'another feature hash',
    damage: (folder) => changeManifest(folder, (manifest) => ({ ...manifest, featuresHash: '0'.repeat(64) })),
    told: /featuresHash differs/,
  },
  {
    name: 'two features exchanged',
    damage: (folder) =>
      changeManifest(folder, ({ features: [one = '', two = '', ...rest], ...manifest }) => ({
        ...manifest,
        features: [two, one, ...rest],
      })),
    told: /feature 0 is not/,
  },
  {
    name: 'a feature too few',
    damage: (folder) =>
      changeManifest(folder, (manifest) => ({ ...manifest, features: manifest.features.slice(0, -1) })),
    told: /made for another catalogue/,
  },
  {
    name: 'a feature too many',
    damage: (folder) =>
      changeManifest(folder, (manifest) => ({ ...manifest, features: [...manifest.features, 'more'] })),
    told: /made for another catalogue/,
  },
  {
    name: 'a graph with other inputs',
    damage: (folder) =>
      changeManifest(folder, (manifest) => ({
        ...manifest,
        graphs: { ...graphs, history: { ...graphs.history, inputs: graphs.base.inputs } },
      })),
    told: /graph history must have the inputs/,
  },
  {
    name: 'a graph without a hash',
    damage: (folder) =>
      changeManifest(folder, (manifest) => ({
        ...manifest,
        files: Object.fromEntries(Object.entries(manifest.files).filter(([file]) => file !== HISTORY_FILE)),
      })),
    told: new RegExp(`no hash for ${HISTORY_FILE}`),
  },
  {
    name: 'golden cases of another form',
    damage: (folder) => replaceFile(folder, 'golden.json', '{"tolerance":0.5,"cases":[]}'),
    told: /golden\.json is not a golden file/,
  },
];

for (const { name, damage, told } of damages) {
  t.test(`${name} is refused`, async (t) => {
    const folder = copyModel(t.testdir());
    damage(folder);
    const error = await loadBundle(folder).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    t.ok(error instanceof BundleError);
    t.match(error, { message: told });
    t.match(error, { message: new RegExp(`^${folder}`) });
    t.notMatch(error, { message: /\n/ });
  });
}

t.test('a missing folder is refused', async (t) => {
  await t.rejects(loadBundle(join(t.testdir(), 'nowhere')), { name: 'BundleError' });
});
