import t from 'tap';
import type { ScoreRecord } from '#acuity/contract/request.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { MODEL_FOLDER } from '#bench/paths.js';

process.env['ORT_DISABLE_TELEMETRY'] = '1'; // before ONNX Runtime loads
const { differenceOf, goldenQuestions, questionsOf } = await import('#bench/peers/answers.js');

const EXPECTED: ScoreRecord = {
  C_SCORE: 50,
  attention: 51,
  memory: 52,
  reasoning: 53,
  stress: 54,
  valence: 'High',
  arousal: 'Low',
};

const reply = (changes: Partial<ScoreRecord>, status = 200) => ({
  status,
  body: JSON.stringify({ ...EXPECTED, ...changes }),
});

t.test('the same scores are no difference, nor is the last hundredth', async (t) => {
  t.equal(differenceOf(reply({}), EXPECTED), undefined);
  t.equal(differenceOf(reply({ memory: 52.02 }), EXPECTED), undefined);
});

t.test('another status, score or label is one, and none is quoted', async (t) => {
  t.equal(differenceOf(reply({}, 503), EXPECTED), 'status 503');
  t.equal(differenceOf(reply({ memory: 52.2 }), EXPECTED), 'memory is off by 0.20');
  t.equal(differenceOf(reply({ arousal: 'High' }), EXPECTED), 'arousal is the other one');
  t.ok(differenceOf({ status: 200, body: '{}' }, EXPECTED));
});

t.test('the expected scores of the bench are those of the golden file', async (t) => {
  const bundle = await loadBundle(MODEL_FOLDER);
  const golden = goldenQuestions(bundle);
  const computed = await questionsOf(
    bundle,
    golden.map(({ body }) => body),
  );
  computed.forEach(({ expected }, index) => {
    const body = JSON.stringify(expected);
    t.equal(differenceOf({ status: 200, body }, golden[index]?.expected ?? EXPECTED), undefined);
  });
});
