import t from 'tap';
import { DEFAULT_SERIES_LIMITS, FIELDS_OF_A_SESSION } from '#rules/fields.js';
import { eachMissingField } from '#acuity/pipeline/missing.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';
import { session } from '../fixtures/bodies.js';

const read = createReader(DEFAULT_SERIES_LIMITS);

/** The fields said to be missing in a request with this current session. */
function missingIn(current_session: object): string[] {
  const body = { current_session };
  const request = read(Buffer.from(JSON.stringify(body)));
  if (isBodyProblem(request)) throw new Error('refused');
  const missing: string[] = [];
  eachMissingField(request, (field) => missing.push(FIELDS_OF_A_SESSION[field] ?? '?'));
  return missing;
}

t.test('nothing is missing in a full session, everything in an empty one', async (t) => {
  t.strictSame(missingIn(session()), []);
  t.strictSame(missingIn({}), [...FIELDS_OF_A_SESSION]);
});

t.test('each field is missed by its own name, whether absent, null or empty', async (t) => {
  for (const field of FIELDS_OF_A_SESSION) {
    const { [field]: _, ...rest } = session();
    t.strictSame(missingIn(rest), [field]);
    t.strictSame(missingIn({ ...session(), [field]: null }), [field]);
  }
  t.strictSame(missingIn({ ...session(), HR_night: [] }), ['HR_night']);
});
