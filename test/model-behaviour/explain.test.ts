import t from 'tap';
import { CONTRIBUTORS, CONTRIBUTOR_GROUPS, EXPLANATION } from '#acuity/contract/explanation.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { explanationOf } from '#acuity/night/explained/explanation.js';
import { qualityOf } from '#acuity/night/quality.js';
import { respond, withFields } from '#acuity/night/respond.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';
import { recordOf, ServedModel } from '#training/served.js';
import { requestBody } from '../fixtures/bodies.js';
import { slowShapley } from '../fixtures/slowShapley.js';
import { MODEL } from '../fixtures/model.js';
import { textOf } from '../fixtures/repository.js';

const model = await ServedModel.open(MODEL);
const bundle = await loadBundle(MODEL);

if (bundle.explain === undefined) throw new Error('the shipped network explains');
const table = bundle.explain;
const explained = model.explainer(table);
const read = createReader({ daySamplesMax: 7200, nightSamplesMax: 43_200 });

async function explain(body: PredictionRequestBody) {
  const request = read(Buffer.from(JSON.stringify(body)));
  if (isBodyProblem(request)) throw new Error(JSON.stringify(request));
  const quality = qualityOf(request);
  const { scores, floats } = await explained(request);
  return { scores, floats, said: explanationOf({ scores, offset: 0, floats }, quality, table) };
}

const YESTERDAY: Session = {
  HR_day_1h: [72],
  RR_day_1h: [15.5],
  HR_night: [58],
  RR_night: [14.5],
  sleepTimeSeconds: 27_000,
  awakeSleepSeconds: 2_400,
  deepPercentage: 0.17,
  remPercentage: 0.22,
  lightPercentage: 0.61,
  age: 40,
  height_cm: 172,
  weight_kg: 71,
  sex: 'F',
};
const TODAY: Session = {
  ...YESTERDAY,
  HR_day_1h: [84],
  RR_day_1h: [17],
  HR_night: [66],
  RR_night: [16],
  sleepTimeSeconds: 16_200,
  awakeSleepSeconds: 21_600, // beyond what a row holds
  deepPercentage: 0.1,
  remPercentage: 0.15,
  lightPercentage: 0.75,
  height_cm: 170,
  weight_kg: 74,
};

const record = recordOf(await model.score({ current_session: YESTERDAY }));
const past = {
  past_sessions: Array.from({ length: 5 }, () => YESTERDAY),
  past_targets: Array.from({ length: 5 }, () => record),
};

const FIELDS_OF: Readonly<Record<(typeof CONTRIBUTOR_GROUPS)[number], readonly (keyof Session)[]>> = {
  sleep_amount: ['sleepTimeSeconds'],
  sleep_quality: ['awakeSleepSeconds', 'deepPercentage', 'remPercentage', 'lightPercentage'],
  night_heart_rate: ['HR_night'],
  day_heart_rate: ['HR_day_1h'],
  breathing: ['RR_day_1h', 'RR_night'],
  body: ['height_cm', 'weight_kg'],
};

t.test('contributions are what plain requests of all mixtures give', async (t) => {
  const { floats } = await explain({ ...past, current_session: TODAY });
  const scores: Float32Array[] = [];
  for (let mixture = 0; mixture < 64; mixture++) {
    const mixed: Record<string, unknown> = { ...TODAY };
    CONTRIBUTORS.forEach(({ group }, index) => {
      for (const field of (mixture >> index) & 1 ? [] : FIELDS_OF[group]) mixed[field] = YESTERDAY[field];
    });
    scores.push((await model.score({ ...past, current_session: mixed as Session })).slice());
  }
  // Within what the last digits of samples and seconds move.
  const isNear = (at: number, expected = NaN) => Math.abs((floats[at] ?? NaN) - expected) < 5e-3;
  for (const [score, field] of SCORE_FIELDS.entries()) {
    t.ok(isNear(EXPLANATION.reference + score, scores[0]?.[score]), `reference of ${field}`);
    slowShapley((mixture) => scores[mixture]?.[score] ?? NaN).forEach((expected, index) => {
      const at = EXPLANATION.contributors + index * SCORE_FIELDS.length + score;
      t.ok(isNear(at, expected), `${CONTRIBUTOR_GROUPS[index]} of ${field}: ${floats[at]} and ${expected}`);
    });
  }
});

t.test('the answer in docs is what the network answers', async (t) => {
  const saved = JSON.parse(textOf('docs/examples/explained.json')) as { inference_time_ms: number };
  const body = JSON.parse(textOf('docs/examples/explain.json')) as PredictionRequestBody;
  const { scores, said } = await explain(body);
  const plain = respond(scores, 0, saved.inference_time_ms, bundle.manifest.thresholds);
  t.strictSame(JSON.parse(withFields(plain, { explanation: JSON.stringify(said) })), saved);
});

t.test('a short night lowers attention by its length, a fast heart raises stress', async (t) => {
  const of = async (today: Session) => {
    const { said } = await explain({ ...past, current_session: { ...YESTERDAY, ...today } });
    const added = (name: string) => said.contributors.find(({ group }) => group === name);
    return { ...said, added, isSame: SCORE_FIELDS.every((field) => said.scores[field].change === 0) };
  };
  const [short, shorter] = [await of({ sleepTimeSeconds: 14_400 }), await of({ sleepTimeSeconds: 7_200 })];
  const lost = short.added('sleep_amount')?.attention ?? NaN;
  t.ok(lost < -1 && (shorter.added('sleep_amount')?.attention ?? NaN) < lost);
  t.equal(short.added('body')?.attention, 0);
  t.equal(short.added('night_heart_rate')?.stress, 0);
  t.ok(short.scores.attention.notable, 'a first night of 4 h');
  const fast = await of({ HR_night: [70], HR_day_1h: [84] });
  t.ok((fast.added('night_heart_rate')?.stress ?? 0) > 0.5);
  t.equal(fast.added('sleep_amount')?.stress, 0);
  const same = await of({});
  t.ok(same.isSame && !same.scores.attention.notable, 'a day like the others');
  t.ok((await of({ age: 60 })).isSame, 'age is never exchanged');
});

t.test('a past of a night without sleep, and without time in bed, has a reference too', async (t) => {
  const sleepless = { sleepTimeSeconds: 0, deepSleepSeconds: 0, remSleepSeconds: 0, lightSleepSeconds: 0, awakeSleepSeconds: 0 }; // prettier-ignore
  const { past_sessions, ...body } = requestBody(1);
  const { said } = await explain({ ...body, past_sessions: (past_sessions ?? []).map((past) => ({ ...past, ...sleepless })) }); // prettier-ignore
  for (const field of SCORE_FIELDS) t.ok(Number.isFinite(said.scores[field].reference), field);
});

t.test('nothing known: nothing changed, wide ranges, low confidence', async (t) => {
  const { said } = await explain({ current_session: {} });
  t.ok(said.contributors.every((part) => SCORE_FIELDS.every((field) => part[field] === 0)));
  t.equal(said.quality.confidence, 'low');
  const whole = await explain(requestBody(5));
  t.equal(whole.said.quality.confidence, 'high');
});
