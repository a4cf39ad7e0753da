import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { dateOf } from '#acuity/history/night.js';
import { session } from '../fixtures/bodies.js';
import { folder, modelScorer, scoreOne, type Asked } from '../fixtures/lake.js';
import { startServer } from '../fixtures/server.js';

/** `acuity score --person --order --state` against the service, night by night with `history` and `night`. */

const DAY_MS = 86_400_000;
const FIRST_DAY = 20_000;
const FIELDS = [...SCORE_FIELDS, ...LABEL_FIELDS];

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const scorer = await modelScorer();
t.teardown(() => scorer.close());

interface Night {
  readonly person: string;
  readonly at: string;
  readonly session: Session;
}

async function predict(body: PredictionRequestBody): Promise<PredictionResponse> {
  const reply = await fetch(`http://127.0.0.1:${server.port}/predict`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (reply.status !== 200) throw new Error(await reply.text());
  return (await reply.json()) as PredictionResponse;
}

function scoresOf(scored: object): ScoreRecord {
  const values = scored as Readonly<Record<string, unknown>>;
  return Object.fromEntries(FIELDS.map((field) => [field, values[field]])) as unknown as ScoreRecord;
}

/** Scores files of nights, one after the other with one state. @returns the scores in order, and the state's histories */
async function score(dir: string, files: readonly (readonly Night[])[], more: Asked = {}) {
  const state = join(dir, 'state');
  const asked = { history: { person: 'person', order: 'at' }, state, scorer, ...more };
  const scores: ScoreRecord[] = [];
  for (const [index, nights] of files.entries()) {
    const path = join(dir, `${index}.ndjson`);
    const lines = nights.map(({ person, at, session: current_session }) =>
      JSON.stringify({ person, at, current_session }),
    );
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
    const { rows } = await scoreOne(path, asked);
    scores.push(...rows.map(scoresOf));
  }
  const people = readFileSync(state, 'utf8').split('\n').slice(1, -2);
  return { scores, histories: new Map(people.map((line) => JSON.parse(line) as [string, string])) };
}

/** Numbers in 0 … 1, the same in each run. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** Nights with some fields missing, some late, some twice, and gaps of months. */
function randomNights(people: number, nightsOfEach: number): Night[] {
  const random = randoms(7);
  const latest = Array.from({ length: people }, () => FIRST_DAY);
  return Array.from({ length: people * nightsOfEach }, (_, row) => {
    const person = row % people;
    const what = random();
    const day = (latest[person] ?? 0) + step(what, random());
    latest[person] = Math.max(day, latest[person] ?? 0);
    const whole = Object.entries(session(row + 1));
    const some = Object.fromEntries(whole.filter(([field]) => field === 'age' || random() < 0.8));
    return { person: `p${person}`, at: `${dateOf(day)}T23:30:00-05:00`, session: some };
  });
}

function step(what: number, random: number): number {
  if (what < 0.15) return 0;
  if (what < 0.3) return -Math.ceil(8 * random);
  if (what > 0.95) return 181;
  return what > 0.85 ? 61 : Math.ceil(3 * random);
}

t.test(
  'late, repeated and poor nights, with gaps: scores and histories are those of the service',
  async (t) => {
    const nights = randomNights(6, 40);
    const histories = new Map<string, string>();
    const expected: ScoreRecord[] = [];
    for (const { person, at, session: current_session } of nights) {
      const history = histories.get(person) ?? '';
      const answer = await predict({ current_session, history, night: at.slice(0, 10) });
      expected.push(scoresOf(answer));
      histories.set(person, answer.history ?? '');
    }
    const half = nights.length / 2;
    const files = [nights.slice(0, half), nights.slice(half)];
    const scored = await score(folder(t), files, { late: 'place' });
    t.strictSame(scored.scores, expected);
    t.strictSame(scored.histories, histories);
  },
);

t.test('a bad night scored every hour of a day displaces no other', async (t) => {
  const usual = session(1);
  const bad: Session = {
    ...usual,
    HR_night: usual.HR_night?.map((beats) => beats + 15) ?? [],
    sleepTimeSeconds: 14_000,
    deepSleepSeconds: 2_000,
    remSleepSeconds: 2_000,
    lightSleepSeconds: 10_000,
    deepPercentage: 0.143,
    remPercentage: 0.143,
    lightPercentage: 0.714,
  };
  const night = (day: number, hour: number, of: Session): Night => ({
    person: 'p',
    at: new Date((FIRST_DAY + day) * DAY_MS + hour * 3_600_000).toISOString(),
    session: of,
  });
  const nights = [
    ...Array.from({ length: 6 }, (_, day) => night(day, 7, usual)),
    ...Array.from({ length: 24 }, (_, hour) => night(6, hour, bad)),
    night(7, 7, usual),
  ];
  const { scores } = await score(folder(t), [nights]);
  const hourly = scores.slice(6, 30);
  t.strictSame(
    hourly,
    Array.from({ length: 24 }, () => hourly[0]),
  );
});
