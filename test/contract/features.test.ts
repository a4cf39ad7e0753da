import t from 'tap';
import { FEATURES, FEATURE_COUNT, FEATURE_INDEX, featuresHash } from '#acuity/contract/features.js';
import { MODEL, manifestOf } from '../fixtures/model.js';

t.test('each feature has a name of its own', async (t) => {
  t.equal(FEATURE_COUNT, FEATURES.length);
  t.equal(new Set(FEATURES.map(({ name }) => name)).size, FEATURE_COUNT);
});

t.test('each is documented, and can be scaled', async (t) => {
  for (const { name, unit, meaning, centre, scale } of FEATURES) {
    t.ok(unit !== '' && meaning !== '', name);
    t.ok(scale > 0 && Number.isFinite(scale) && Number.isFinite(centre), name);
  }
});

t.test('a group begins with its mask and is contiguous', async (t) => {
  const met = new Set<string>();
  let previous = '';
  for (const { name, group, centre, scale } of FEATURES) {
    if (group !== previous) {
      t.notOk(met.has(group), `${group} in one piece`);
      t.equal(name, `${group}_known`);
      t.strictSame([centre, scale], [0, 1]);
      met.add(group);
    } else t.not(name, `${group}_known`);
    previous = group;
  }
});

t.test('the index finds every feature', async (t) => {
  FEATURES.forEach(({ name }, index) => t.equal(FEATURE_INDEX.get(name), index));
});

t.test('the model was made for exactly this catalogue', async (t) => {
  const { features, featuresHash: hash } = manifestOf(MODEL);
  t.strictSame(
    features,
    FEATURES.map(({ name }) => name),
  );
  t.equal(hash, featuresHash());
  t.match(hash, /^[0-9a-f]{64}$/);
});
