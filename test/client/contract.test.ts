import t from 'tap';
import type * as client from '#acuity/client/contract.js';
import type { Finding } from '#acuity/contract/problems.js';
import { requestSchema, ScoreRecordSchema, sessionSchema } from '#acuity/contract/request.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { FIELD_NAMES, RECORDING_FIELD } from '#rules/fields.js';

/** Compiles only where a value of the one type may stand for one of the other. */
type Fits<Wide, Narrow extends Wide> = Narrow extends Wide ? true : false;

const FITS: readonly true[] = [
  true satisfies Fits<Session, client.Session>,
  true satisfies Fits<client.Session, Session>,
  true satisfies Fits<ScoreRecord, client.ScoreRecord>,
  true satisfies Fits<client.ScoreRecord, ScoreRecord>,
  true satisfies Fits<PredictionRequestBody, client.PredictionRequestBody>,
  true satisfies Fits<client.PredictionRequestBody, PredictionRequestBody>,
  true satisfies Fits<client.Finding, Finding>,
];

t.test('the client’s types are the service’s', async (t) => {
  t.equal(FITS.length, 7);
  const session: Required<{ [Field in keyof client.Session]: true }> = {
    HR_day_1h: true,
    RR_day_1h: true,
    HR_night: true,
    RR_night: true,
    HR_night_imputed: true,
    RR_night_imputed: true,
    sleepTimeSeconds: true,
    deepSleepSeconds: true,
    remSleepSeconds: true,
    lightSleepSeconds: true,
    awakeSleepSeconds: true,
    deepPercentage: true,
    remPercentage: true,
    lightPercentage: true,
    age: true,
    height_cm: true,
    weight_kg: true,
    sex: true,
  };
  // A recording is sent as it is, in place of a session.
  const ofService = (name: string): boolean => name !== RECORDING_FIELD;
  t.strictSame(FIELD_NAMES.session.filter(ofService), Object.keys(session));
  for (const name of Object.keys(sessionSchema().properties).filter(ofService)) t.ok(name in session, name);
  for (const name of Object.keys(requestSchema().properties)) {
    t.ok((FIELD_NAMES.request as readonly string[]).includes(name), name);
  }
  t.strictSame(FIELD_NAMES.target, Object.keys(ScoreRecordSchema.properties));
});
