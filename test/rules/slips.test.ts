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

const slips: Readonly<Partial<Record<ObjectKind, string>>> = {
  session:
    'HR_nigth=HR_night hr_night=HR_night HR_nights=HR_night RR-night=RR_night HRnightImputed=HR_night_imputed HR_day1h=HR_day_1h deepSleepSecond=deepSleepSeconds deep_sleep_seconds=deepSleepSeconds lightPercent=lightPercentage weightKg=weight_kg weight=weight_kg heigth_cm=height_cm Age=age SEX=sex',
  request: 'currentSession=current_session past_session=past_sessions pastTargets=past_targets',
  target: 'c_score=C_SCORE arrousal=arousal',
};
t.test('a mistyped name means the nearest one', async (t) => {
  for (const [kind, pairs] of Object.entries(slips) as [ObjectKind, string][])
    for (const pair of pairs.split(' ')) {
      const [name = '', meant] = pair.split('=');
      t.equal(meantField(name, kind), meant, name);
    }
});

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
t.test('other names are meant as they are', async (t) => {
  for (const [kind, name] of others) t.equal(meantField(name, kind), undefined, name.slice(0, 20));
});
