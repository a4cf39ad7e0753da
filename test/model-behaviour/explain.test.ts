import t from 'tap';
import { below, seededRandom, type Random } from '#acuity/base/random.js';
import {
  CONTRIBUTORS,
  CONTRIBUTOR_GROUPS,
  EXPLANATION,
  TYPICAL_FEATURES,
} from '#acuity/contract/explanation.js';
import { SCORE_FIELDS } from '#rules/fields.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { explanationOf } from '#acuity/pipeline/explanation.js';
import { qualityOf } from '#acuity/pipeline/quality.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';
import { ExplainedModel } from '#training/explained.js';
import { recordOf } from '#training/served.js';
import { requestBody } from '../fixtures/bodies.js';
import { slowShapley } from '../fixtures/slowShapley.js';
import { bundle, model } from './weeks.js';

if (bundle.explain === undefined) throw new Error('the shipped network explains');
const { graph, table } = bundle.explain;
const explained = await ExplainedModel.open(model, graph, table);
const read = createReader({ daySamplesMax: 7200, nightSamplesMax: 43_200 });

async function explain(body: PredictionRequestBody) {
  const request = read(Buffer.from(JSON.stringify(body)));
  if (isBodyProblem(request)) throw new Error(JSON.stringify(request));
  const quality = qualityOf(request);
  const { scores, floats } = await explained.explain(request);
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

/** What plain requests give: the scores of `reference`, and of each score the contributions of all groups. */
async function slowly(today: Session, reference: Session, past: Partial<PredictionRequestBody>) {
  const scores: Float32Array[] = [];
  for (let mixture = 0; mixture < 64; mixture++) {
    const mixed: Record<string, unknown> = { ...today, ...reference };
    CONTRIBUTORS.forEach(({ group }, index) => {
      const from = (mixture >> index) & 1 ? today : reference;
      for (const field of FIELDS_OF[group]) mixed[field] = from[field];
    });
    scores.push(await model.score({ ...past, current_session: mixed as Session }));
  }
  const contributions = SCORE_FIELDS.map((_, score) =>
    slowShapley((mixture) => scores[mixture]?.[score] ?? NaN),
  );
  return { reference: scores[0], contributions };
}

t.test('contributions are what plain requests of all mixtures give', async (t) => {
  const { floats } = await explain({ ...past, current_session: TODAY });
  compare(t, floats, await slowly(TODAY, YESTERDAY, past));
});

t.test('without history they are those against the typical day of the table', async (t) => {
  const [first] = table.typical.ages;
  const typical = (name: string): number =>
    table.typical.M[0]?.[TYPICAL_FEATURES.findIndex((one) => one === name)] ?? NaN;
  const today: Session = { ...TODAY, age: first ?? NaN, sex: 'M' };
  const reference: Session = {
    ...today,
    HR_day_1h: [typical('hr_day')],
    RR_day_1h: [typical('rr_day')],
    HR_night: [typical('hr_night')],
    RR_night: [typical('rr_night')],
    sleepTimeSeconds: Math.round(3600 * typical('sleep_time')),
    awakeSleepSeconds: Math.round(3600 * typical('awake')),
    deepPercentage: typical('deep_share'),
    remPercentage: typical('rem_share'),
    lightPercentage: typical('light_share'),
    height_cm: typical('height'),
    weight_kg: typical('weight'),
  };
  const { floats } = await explain({ current_session: today });
  compare(t, floats, await slowly(today, reference, {}));
});

/** Within what the last digits of samples and seconds move. */
function compare(
  t: import('tap').Test,
  floats: Float32Array,
  slow: Awaited<ReturnType<typeof slowly>>,
): void {
  SCORE_FIELDS.forEach((field, score) => {
    const reference = floats[EXPLANATION.reference + score] ?? NaN;
    t.ok(Math.abs(reference - (slow.reference?.[score] ?? NaN)) < 5e-3, `reference of ${field}`);
    CONTRIBUTOR_GROUPS.forEach((group, index) => {
      const found = floats[EXPLANATION.contributors + index * SCORE_FIELDS.length + score] ?? NaN;
      const expected = slow.contributions[score]?.[index] ?? NaN;
      t.ok(Math.abs(found - expected) < 5e-3, `${group} of ${field}: ${found} and ${expected}`);
    });
  });
}

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

function without(random: Random, session: Session): Session {
  const kept = random() < 0.3 ? 1 : random();
  return Object.fromEntries(Object.entries(session).filter(() => random() < kept));
}

t.test('a past of a night without sleep, and without time in bed, has a reference too', async (t) => {
  const sleepless = { sleepTimeSeconds: 0, deepSleepSeconds: 0, remSleepSeconds: 0, lightSleepSeconds: 0, awakeSleepSeconds: 0 }; // prettier-ignore
  const { past_sessions, ...body } = requestBody(1);
  const { said } = await explain({ ...body, past_sessions: (past_sessions ?? []).map((past) => ({ ...past, ...sleepless })) }); // prettier-ignore
  for (const field of SCORE_FIELDS) t.ok(Number.isFinite(said.scores[field].reference), field);
});

t.test('for any request the range holds the score', async (t) => {
  const random = seededRandom(5);
  for (let seed = 1; seed <= 300; seed++) {
    const body = requestBody(below(random, 6), seed);
    const past_sessions = body.past_sessions?.map((past) => without(random, past)) ?? null;
    const current_session = without(random, body.current_session);
    const { scores, said } = await explain({ ...body, current_session, past_sessions });
    for (const [score, field] of SCORE_FIELDS.entries()) {
      const [low = NaN, high = NaN] = said.scores[field].repeatability.map((end) => Math.round(100 * end));
      const value = Math.round((scores[score] ?? NaN) * 100);
      if (!(low <= value && value <= high && low >= 0 && high <= 10_000))
        t.fail(`${seed}: range of ${field}`);
    }
  }
});

t.test('nothing known: nothing changed, wide ranges, low confidence', async (t) => {
  const { said } = await explain({ current_session: {} });
  t.ok(said.contributors.every((part) => SCORE_FIELDS.every((field) => part[field] === 0)));
  t.equal(said.quality.confidence, 'low');
  const whole = await explain(requestBody(5));
  t.equal(whole.said.quality.confidence, 'high');
});
