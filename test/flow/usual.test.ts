import t from 'tap';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { Connection, sendOn } from '../fixtures/connection.js';
import { startServer } from '../fixtures/server.js';

/** What a day is held against, as a caller meets it: nights of one person with a history, explained. */

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const connection = await Connection.open(server.port);
t.teardown(() => connection.destroy());

/** Nights before the sixteenth have fewer than ten in the long run. */
const FIRST_USUAL = 16;
const HALF_LIFE_NIGHTS = 60;

interface Explained extends PredictionResponse {
  readonly explanation: NonNullable<PredictionResponse['explanation']>;
}

async function predict(body: PredictionRequestBody): Promise<Explained> {
  const headers = { 'X-API-Key': server.key };
  const reply = await sendOn(connection, { headers, body: JSON.stringify({ ...body, explain: true }) });
  if (reply.status !== 200) throw new Error(reply.body);
  return JSON.parse(reply.body) as Explained;
}

function scoresOf(answer: PredictionResponse): ScoreRecord {
  return Object.fromEntries(
    [...SCORE_FIELDS, ...LABEL_FIELDS].map((field) => [field, answer[field]]),
  ) as ScoreRecord;
}

const date = (day: number): string => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);

function night(hours: number, beats = 58): Session {
  return {
    HR_day_1h: [beats + 14],
    RR_day_1h: [15.5],
    HR_night: [beats],
    RR_night: [14.5],
    sleepTimeSeconds: Math.round(hours * 3600),
    awakeSleepSeconds: 2_400,
    deepPercentage: 0.17,
    remPercentage: 0.22,
    lightPercentage: 0.61,
    age: 40,
    height_cm: 172,
    weight_kg: 71,
    sex: 'F',
  };
}

/** Every night of `sessions`, each with the history of the answer before. */
async function follow(sessions: readonly Session[], start = 0): Promise<Explained[]> {
  const answers: Explained[] = [];
  for (const [index, current_session] of sessions.entries()) {
    const history = answers.at(-1)?.history ?? '';
    answers.push(await predict({ current_session, history, night: date(start + index) }));
  }
  return answers;
}

function newest(answers: readonly Explained[]): Explained {
  const answer = answers.at(-1);
  if (answer === undefined) throw new Error('no nights');
  return answer;
}

/** A person's nights, none like another. */
const NIGHTS = Array.from({ length: 24 }, (_, day) => night(7 + Math.sin(day), 58 + 3 * Math.cos(2 * day)));

t.test('the reference is named typical, last nights or usual, always rightly', async (t) => {
  const answers = await follow(NIGHTS);
  t.strictSame(
    answers.map(({ explanation }) => explanation.against),
    NIGHTS.map((_, index) => (index === 0 ? 'typical' : index + 1 < FIRST_USUAL ? 'last nights' : 'usual')),
  );
  for (const [index, { explanation }] of answers.entries()) {
    for (const field of SCORE_FIELDS) {
      t.equal('recent' in explanation.scores[field], index + 1 >= FIRST_USUAL, `${field} of night ${index}`);
      t.notOk('usual' in explanation.scores[field]);
    }
  }
});

t.test(
  'the reference is what plain requests give of a day of long means, recent of the last nights',
  async (t) => {
    const answers = await follow(NIGHTS);
    const day = NIGHTS.length - 1;
    const answer = newest(answers);
    const { explanation } = answer;
    const longRun = NIGHTS.slice(0, day - 5);
    const mean = (of: (session: Session) => number): number => {
      const weights = longRun.map((_, index) => 0.5 ** ((longRun.length - 1 - index) / HALF_LIFE_NIGHTS));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      return longRun.reduce((sum, session, index) => sum + (weights[index] ?? NaN) * of(session), 0) / total;
    };
    const usual = night(
      mean(({ sleepTimeSeconds }) => (sleepTimeSeconds ?? NaN) / 3600),
      mean(({ HR_night }) => HR_night?.[0] ?? NaN),
    );
    const past_sessions = NIGHTS.slice(day - 5, day);
    const past_targets = answers.slice(day - 5, day).map(scoresOf);
    const expected = await predict({ current_session: usual, past_sessions, past_targets });
    for (const field of SCORE_FIELDS) {
      const { reference, change, recent = NaN } = explanation.scores[field];
      // Seconds are whole, and the mean of efficiencies is not the efficiency of the means.
      t.ok(Math.abs(reference - expected[field]) < 0.1, `${field}: ${reference} and ${expected[field]}`);
      t.equal(Math.round(100 * (reference + change)), Math.round(100 * answer[field]));
      const ofLastNights = expected.explanation.scores[field].reference;
      t.ok(Math.abs(recent - (ofLastNights - reference)) < 0.1, `${field}: recent ${recent}`);
    }
  },
);

t.test('inputs that today lacks, or of too few nights, are not part of a usual day', async (t) => {
  const bare = ({ age = null, sex = null, sleepTimeSeconds = null }: Session): Session => ({
    age,
    sex,
    sleepTimeSeconds,
  });
  const known = Array.from({ length: 20 }, (_, day) => (day === 3 ? night(7, 90) : bare(night(7))));
  const [last] = (await follow([...known, bare(night(5))])).slice(-1);
  t.equal(last?.explanation.against, 'usual');
  t.ok(last?.explanation.contributors.every(({ group, stress }) => group === 'sleep_amount' || stress === 0));
  const [fast] = (await follow([...known, night(7, 62)])).slice(-1);
  const heart = fast?.explanation.contributors.find(({ group }) => group === 'night_heart_rate');
  t.ok((heart?.stress ?? NaN) > -5, 'one night of 90 bpm is not what is usual');
});

t.test('a night older than the history has no usual, and lists never have', async (t) => {
  const answers = await follow(NIGHTS, 30);
  const { history = '' } = newest(answers);
  const late = await predict({ current_session: night(7), history, night: date(1) });
  t.equal(late.explanation.against, 'typical');
  t.equal(late.history, history);
  const past_targets = answers.slice(-5).map(scoresOf);
  const byLists = await predict({ current_session: night(7), past_sessions: NIGHTS.slice(-5), past_targets });
  t.equal(byLists.explanation.against, 'last nights');
});
