import t from 'tap';
import type * as client from '#acuity/client/contract.js';
import type { Finding } from '#acuity/contract/problems.js';
import { requestSchema, ScoreRecordSchema } from '#acuity/contract/request.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { FIELD_NAMES } from '#rules/fields.js';

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
  for (const name of Object.keys(requestSchema().properties)) {
    t.ok((FIELD_NAMES.request as readonly string[]).includes(name), name);
  }
  t.strictSame(FIELD_NAMES.target, Object.keys(ScoreRecordSchema.properties));
});
