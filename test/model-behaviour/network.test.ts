import t from 'tap';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { loadBundle } from '#acuity/model/bundle.js';
import { scoreAfter } from '#training/evaluation/requests.js';
import { COLUMN, ServedModel } from '#training/served.js';
import { MODEL } from '../fixtures/model.js';
import { requestBody, session } from '../fixtures/bodies.js';

/** The network that is served, scored in this thread through the service's own stages. */
const model = await ServedModel.open(MODEL);
const bundle = await loadBundle(MODEL);
const score = async (body: PredictionRequestBody): Promise<Float32Array> => (await model.score(body)).slice();

const SCORES = ['attention', 'memory', 'reasoning', 'stress'] as const;
const LABELS = ['valence', 'arousal'] as const;

t.test(
  'it gives its golden scores, composes C_SCORE as the manifest says, and no label hangs on rounding',
  async (t) => {
    const weights = Object.values(bundle.manifest.measured?.composite ?? {});
    for (const { name, request, scores: expected } of bundle.golden.cases) {
      const scores = await score(request as PredictionRequestBody);
      for (const field of ['C_SCORE', ...SCORES] as const)
        t.ok(Math.abs((scores[COLUMN[field]] ?? NaN) - expected[field]) <= 1e-3, `${name}: ${field}`);
      for (const field of LABELS) {
        const above = (scores[COLUMN[field]] ?? NaN) - bundle.manifest.thresholds[field];
        t.equal(above >= 0 ? 'High' : 'Low', expected[field]);
        t.ok(Math.abs(above) > 1e-5, `${name}: ${field}`);
      }
      const made = weights.reduce((sum, weight, index) => sum + weight * (scores[1 + index] ?? NaN), 0);
      t.ok(Math.abs((scores[0] ?? NaN) - made) < 1e-3, `${name}: C_SCORE`);
    }
  },
);

const night = { ...session(), deepPercentage: 0.25, remPercentage: 0.25, lightPercentage: 0.5, sleepTimeSeconds: 24_000, deepSleepSeconds: 6_000, remSleepSeconds: 6_000, lightSleepSeconds: 12_000 }; // prettier-ignore
const EXTREME: Session = {
  HR_day_1h: [240, 25, 240, 25],
  RR_day_1h: [70, 3, 70],
  HR_night: [240],
  RR_night: [70],
  sleepTimeSeconds: 172_800,
  deepSleepSeconds: 172_800,
  remSleepSeconds: 0,
  lightSleepSeconds: 0,
  awakeSleepSeconds: 172_800,
  age: 130,
  height_cm: 30,
  weight_kg: 650,
  sex: 'M',
};

t.test('nothing known is scored near the middle, extremes and nothing within the ranges', async (t) => {
  const past = (...past_sessions: Session[]) => ({
    past_sessions,
    past_targets: requestBody(5).past_targets ?? [],
  });
  const nothing = await score({ current_session: {} });
  for (const name of SCORES) t.ok(Math.abs((nothing[COLUMN[name]] ?? NaN) - 50) < 2, name);
  for (const body of [
    { current_session: EXTREME },
    { current_session: EXTREME, ...past(EXTREME, {}, EXTREME, {}, EXTREME) },
    { current_session: {}, ...past({}, {}, {}, {}, {}) },
  ])
    t.ok((await score(body)).every((value, at) => value >= 0 && value <= (at < 5 ? 100 : 1)));
});

const faster = (series: readonly number[] | null | undefined, by = 8) => (series ?? []).map((hr) => hr + by);
const higher = (target: ScoreRecord): ScoreRecord => ({
  ...target,
  ...Object.fromEntries(SCORES.map((name) => [name, Math.min(100, target[name] + 20)])),
});
const ALTERATIONS: Readonly<
  Record<string, readonly [session: Session, target: (one: ScoreRecord) => ScoreRecord]>
> = {
  'heart rate': [{ HR_day_1h: faster(night.HR_day_1h), HR_night: faster(night.HR_night) }, (one) => one],
  sleep: [{ lightSleepSeconds: 4_800, sleepTimeSeconds: null }, (one) => one],
  'a past score': [{}, higher],
};
const usualNights = Array.from({ length: 6 }, () => night);

/** Six usual nights, and what the network said of each. */
async function usualTargets(): Promise<ScoreRecord[]> {
  const records: ScoreRecord[] = [];
  for (let day = 0; day < 5; day++) {
    const scores = await scoreAfter(model, night, usualNights.slice(0, day), records);
    const at = (name: keyof typeof COLUMN): number => scores[COLUMN[name]] ?? NaN;
    const numbers = { C_SCORE: at('C_SCORE'), attention: at('attention'), memory: at('memory'), reasoning: at('reasoning'), stress: at('stress') }; // prettier-ignore
    records.push({ ...numbers, valence: 'High', arousal: 'Low' });
  }
  return records;
}

t.test('the same change weighs more the more recent the session', async (t) => {
  const targets = await usualTargets();
  const plain = await scoreAfter(model, night, usualNights.slice(0, 5), targets);
  for (const [name, [altered, raised]] of Object.entries(ALTERATIONS)) {
    let before = 0;
    for (let at = 0; at < 5; at++) {
      const past = usualNights.slice(0, 5).map((one, index) => (index === at ? { ...one, ...altered } : one));
      const told = targets.map((one, index) => (index === at ? raised(one) : one));
      const moved = await scoreAfter(model, night, past, told);
      const sum = SCORES.reduce((all, one) => all + Math.abs((moved[COLUMN[one]] ?? NaN) - (plain[COLUMN[one]] ?? NaN)), 0); // prettier-ignore
      t.ok(sum > before, `${name} of session ${at + 1}: ${sum} after ${before}`);
      before = sum;
    }
  }
});

t.test('a heart rate above one’s own raises stress; the same where it is usual hardly does', async (t) => {
  const targets = await usualTargets();
  const fast = { ...night, ...ALTERATIONS['heart rate']?.[0] };
  const stress = async (today: Session, past: Session) =>
    (await scoreAfter(model, today, Array<Session>(5).fill(past), targets))[COLUMN.stress] ?? NaN;
  const before = await stress(night, night);
  const [rise, inHabit] = [(await stress(fast, night)) - before, (await stress(fast, fast)) - before];
  t.ok(rise > 3 && rise < 12 && Math.abs(inHabit) <= rise / 2, `${rise.toFixed(2)}, ${inHabit.toFixed(2)}`);
});
