import t from 'tap';
import { FEATURE_COUNT, HOUR_AT_REST, featureAt } from '#acuity/contract/features.js';
import type { PredictionRequestBody, Session } from '#acuity/contract/request.js';
import { featuriseSession } from '#acuity/pipeline/featurise.js';
import { qualityOf } from '#acuity/pipeline/quality.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';
import { DEFAULT_SERIES_LIMITS, FIELDS_OF_A_SESSION } from '#rules/fields.js';
import { scoreRecord, session } from '../fixtures/bodies.js';

const reader = createReader(DEFAULT_SERIES_LIMITS);

function read(body: PredictionRequestBody) {
  const request = reader(Buffer.from(JSON.stringify(body)));
  if (isBodyProblem(request)) throw new Error(JSON.stringify(request));
  return request;
}

const flat = (value: number): number[] => Array.from({ length: 30 }, () => value);

/** A session whose levels are these; an undefined night has no heart rate. */
function withLevels(day: number, night: number | undefined): Session {
  return { ...session(), HR_day_1h: flat(day), HR_night: night === undefined ? [] : flat(night) };
}

/** Whether a row knows the heart rate and the breathing of the hour before. */
function knownOf(body: PredictionRequestBody, at: number): [heart: number, breath: number] {
  const row = new Float32Array(FEATURE_COUNT);
  featuriseSession(read(body), at, row, 0);
  return [row[featureAt('hr_day_known')] ?? NaN, row[featureAt('rr_day_known')] ?? NaN];
}

const NIGHT = 60;
const CASES = [
  { name: 'as far above the night as an hour at rest may be', day: NIGHT + HOUR_AT_REST.aboveNight, night: NIGHT, known: 1 }, // prettier-ignore
  { name: 'further above the night', day: NIGHT + HOUR_AT_REST.aboveNight + 1, night: NIGHT, known: 0 },
  { name: 'as fast after a fast night', day: NIGHT + HOUR_AT_REST.aboveNight + 1, night: 80, known: 1 },
  { name: 'as fast as an hour at rest may be, no night', day: HOUR_AT_REST.most, night: undefined, known: 1 },
  { name: 'faster, no night', day: HOUR_AT_REST.most + 1, night: undefined, known: 0 },
  { name: 'faster, but the night was faster still', day: HOUR_AT_REST.most + 1, night: 110, known: 1 },
];

t.test('heart and breath of an hour count if it was one at rest, now and in the past', async (t) => {
  for (const { name, day, night, known } of CASES) {
    const one = withLevels(day, night);
    t.strictSame(knownOf({ current_session: one }, 0), [known, known], name);
    const past = { current_session: session(), past_sessions: [one], past_targets: [scoreRecord()] };
    t.strictSame(knownOf(past, 1), [known, known], name);
    t.strictSame(knownOf(past, 0), [1, 1], 'and of no other session');
  }
});

t.test('the explanation names what was left out, as far as it was sent', async (t) => {
  const ran = withLevels(140, NIGHT);
  const { notAtRest, missing } = qualityOf(read({ current_session: ran }));
  t.strictSame(notAtRest, ['HR_day_1h', 'RR_day_1h']);
  t.strictSame(missing, ['HR_day_1h', 'RR_day_1h']);
  const mute = qualityOf(read({ current_session: { ...ran, RR_day_1h: [] } }));
  t.strictSame(mute.notAtRest, ['HR_day_1h']);
  t.strictSame(mute.missing, ['HR_day_1h', 'RR_day_1h']);
  t.strictSame(qualityOf(read({ current_session: session() })).notAtRest, []);
  const empty = qualityOf(read({ current_session: {} }));
  t.strictSame(empty.notAtRest, []);
  t.strictSame(empty.missing, [...FIELDS_OF_A_SESSION]);
});
