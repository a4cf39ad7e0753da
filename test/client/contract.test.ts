import t from 'tap';
import type * as client from '#acuity/client/contract.js';
import type { Finding } from '#acuity/contract/problems.js';
import { ScoreRecordSchema, sessionSchema } from '#acuity/contract/request.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';

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
  // Aliases are read by the service, but not what the client writes.
  const isNoAlias = (name: string): boolean => !name.endsWith('_imputed');
  t.strictSame(Object.keys(session), Object.keys(sessionSchema().properties).filter(isNoAlias));
  t.strictSame(Object.keys(ScoreRecordSchema.properties).length, 7);
});
