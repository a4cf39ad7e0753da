import t from 'tap';
import { FIELD_NAMES, type ObjectKind } from '#rules/fields.js';
import { meantField } from '#rules/slips.js';
import { ScoreRecordSchema, requestSchema, sessionSchema } from '#acuity/contract/request.js';

t.test('the names are those of the schemas', async (t) => {
  const names = (schema: { readonly properties: object }) => Object.keys(schema.properties).toSorted();
  // The client may ask for an explanation before every service can give one.
  const request = new Set([...names(requestSchema()), 'explain']);
  t.strictSame(FIELD_NAMES.request.toSorted(), [...request].toSorted());
  t.strictSame(FIELD_NAMES.session.toSorted(), names(sessionSchema()));
  t.strictSame(FIELD_NAMES.target.toSorted(), names(ScoreRecordSchema));
});

const slips: readonly (readonly [kind: ObjectKind, name: string, meant: string])[] = [
  ['session', 'HR_nigth', 'HR_night'],
  ['session', 'hr_night', 'HR_night'],
  ['session', 'HR_nights', 'HR_night'],
  ['session', 'RR-night', 'RR_night'],
  ['session', 'HRnightImputed', 'HR_night_imputed'],
  ['session', 'HR_day1h', 'HR_day_1h'],
  ['session', 'deepSleepSecond', 'deepSleepSeconds'],
  ['session', 'deep_sleep_seconds', 'deepSleepSeconds'],
  ['session', 'lightPercent', 'lightPercentage'],
  ['session', 'weightKg', 'weight_kg'],
  ['session', 'weight', 'weight_kg'],
  ['session', 'heigth_cm', 'height_cm'],
  ['session', 'Age', 'age'],
  ['session', 'SEX', 'sex'],
  ['request', 'currentSession', 'current_session'],
  ['request', 'past_session', 'past_sessions'],
  ['request', 'pastTargets', 'past_targets'],
  ['target', 'c_score', 'C_SCORE'],
  ['target', 'arrousal', 'arousal'],
];
for (const [kind, name, meant] of slips) {
  t.test(`${name} means ${meant}`, async (t) => {
    t.equal(meantField(name, kind), meant);
  });
}

const others: readonly (readonly [kind: ObjectKind, name: string])[] = [
  ...FIELD_NAMES.session.map((name) => ['session', name] as const),
  ...['id', 'x', '', 'name', 'date', 'note', 'steps', 'spo2', 'user_id', 'device', 'timestamp'].map(
    (name) => ['session', name] as const,
  ),
  ['session', 'attention'],
  ['target', 'age'],
  ['target', 'inference_time_ms'],
  ['request', 'version'],
  ['session', 'HR_night'.repeat(1000)],
];
for (const [kind, name] of others) {
  t.test(`${name.slice(0, 20)} of a ${kind} is meant as it is`, async (t) => {
    t.equal(meantField(name, kind), undefined);
  });
}
