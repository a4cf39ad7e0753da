import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { Measurement, PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { normalCdf, probit } from '#acuity/pipeline/normal.js';
import { metricsOf } from '../fixtures/atRest.js';
import { requestBody, session } from '../fixtures/bodies.js';
import { Connection, sendOn } from '../fixtures/connection.js';
import { MODEL, manifestOf } from '../fixtures/model.js';
import { valueOf } from '../fixtures/promtool.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { startServer } from '../fixtures/server.js';

/**
 * A running server with the shipped network, as a caller meets it: the past in one field gives what the lists give,
 * measurements move what they should, and explanations name the day that today is held against.
 */

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const headers = { 'X-API-Key': server.key };
const connection = await Connection.open(server.port);
t.teardown(() => connection.destroy());

/** The connection holds each answer to the document. */
async function predict(body: PredictionRequestBody): Promise<PredictionResponse> {
  const reply = await sendOn(connection, { headers, body: JSON.stringify(body) });
  if (reply.status !== 200) throw new Error(reply.body);
  return JSON.parse(reply.body) as PredictionResponse;
}

/** What does not differ from one answer to the next. */
function lasting(answer: PredictionResponse, ...names: (keyof PredictionResponse)[]): object {
  const left = Object.entries({ ...answer, inference_time_ms: 0 });
  return Object.fromEntries(left.filter(([name]) => !names.includes(name as keyof PredictionResponse)));
}

function scoresOf(answer: PredictionResponse): ScoreRecord {
  const fields = [...SCORE_FIELDS, ...LABEL_FIELDS];
  return Object.fromEntries(fields.map((field) => [field, answer[field]])) as ScoreRecord;
}

/** Dates of successive days. */
function date(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
}

/** See packages/cases/README.md. */
interface Step {
  readonly night?: string;
  readonly session: Session;
  readonly past: readonly number[];
  readonly from?: number | null;
  readonly lists?: readonly number[];
  readonly historyOf?: number;
}
const CASES = JSON.parse(readFileSync(join(REPOSITORY, 'packages/cases/histories.json'), 'utf8')) as {
  readonly name: string;
  readonly steps: readonly Step[];
}[];

function lists(steps: readonly Step[], answers: readonly PredictionResponse[], indices: readonly number[]) {
  const past_sessions = indices.flatMap((index) => steps[index]?.session ?? []);
  return { past_sessions, past_targets: indices.flatMap((index) => answers[index] ?? []).map(scoresOf) };
}

for (const { name, steps } of CASES) {
  t.test(`by history and by lists: ${name}`, async (t) => {
    const answers: PredictionResponse[] = [];
    for (const [index, { session: current_session, night, from = index - 1, ...step }] of steps.entries()) {
      const isNew = step.lists !== undefined || from === null || from < 0;
      const answer = await predict({
        current_session,
        history: isNew ? '' : (answers[from]?.history ?? 'none'),
        ...(night === undefined ? {} : { night }),
        ...(step.lists && lists(steps, answers, step.lists)),
      });
      const byLists = await predict({ current_session, ...lists(steps, answers, step.past) });
      t.strictSame(lasting(answer, 'history'), lasting(byLists), `step ${index}`);
      if (step.historyOf !== undefined) t.equal(answer.history, answers[step.historyOf]?.history);
      answers.push(answer);
    }
  });
}

t.test('explained, dated or not, five sessions by history are five sessions by lists', async (t) => {
  for (const isDated of [false, true]) {
    const sessions = Array.from({ length: 6 }, (_, index) => session(index + 1));
    const answers: PredictionResponse[] = [];
    for (const [index, current_session] of sessions.entries()) {
      const body = { current_session, explain: true };
      const history = answers.at(-1)?.history ?? '';
      const answer = await predict({ ...body, history, ...(isDated && { night: date(12 * index) }) });
      const past_sessions = sessions.slice(0, index);
      const byLists = await predict({ ...body, past_sessions, past_targets: answers.map(scoresOf) });
      t.strictSame(lasting(answer, 'history'), lasting(byLists));
      answers.push(answer);
    }
  }
});

t.test('the explanation reports a history of another person', async (t) => {
  const { history = '' } = await predict({ current_session: session(1), history: '', night: date(1) });
  for (const [changed, more, isOther] of [
    [{ age: 36 }, {}, false],
    [{ age: 36.1 }, {}, true],
    [{ sex: 'F' }, {}, true],
    [{ sex: null, age: null }, {}, false],
    [{ sex: 'F' }, { night: date(1) }, false], // it corrects what was sent before
  ] as const) {
    const current_session = { ...session(2), ...changed };
    const { explanation } = await predict({ current_session, history, explain: true, ...more });
    t.equal(explanation?.quality.implausible.includes('history'), isOther, JSON.stringify(changed));
  }
});

t.test('explained and plain requests beside each other get the same scores', async (t) => {
  const before = valueOf(await metricsOf(server.adminPort), 'acuity_batch_rows_sum', { graph: 'explain' });
  const connections = await Promise.all(Array.from({ length: 4 }, () => Connection.open(server.port)));
  t.teardown(() => connections.forEach((one) => one.destroy()));
  const ask = async (one: Connection, body: object): Promise<PredictionResponse> =>
    JSON.parse((await sendOn(one, { headers, body: JSON.stringify(body) })).body) as PredictionResponse;
  await Promise.all(
    connections.map(async (one, caller) => {
      for (let seed = 0; seed < 12; seed++) {
        const request = requestBody(seed % 6, seed + 1);
        const explain = (seed + caller) % 2 === 0;
        const answer = await ask(one, { ...request, explain });
        t.equal(answer.explanation !== undefined, explain);
        t.strictSame(lasting(answer, 'explanation'), lasting(await ask(one, request)));
      }
    }),
  );
  const series = await metricsOf(server.adminPort);
  t.equal(valueOf(series, 'acuity_batch_rows_sum', { graph: 'explain' }) - before, 24);
  t.ok(valueOf(series, 'acuity_run_seconds_total', { graph: 'explain' }) > 0);
});

t.test(
  'a test moves its score and the composite, by the arithmetic of the contract; nothing else',
  async (t) => {
    const composite = manifestOf(MODEL).measured?.composite;
    if (composite === undefined) throw new Error('the shipped model takes no measurements');
    const body = { current_session: session(1), night: date(0), history: '' };
    const plain = await predict(body);
    const measurements: Measurement[] = [{ score: 'attention', value: 80, reliability: 0.75 }];
    const answer = await predict({ ...body, measurements });
    t.strictSame(answer.unmeasured, scoresOf(plain));
    // The words of the contract, of one measurement of the night in hand.
    const [a, k] = [0.75, 0.75 / 0.25];
    const link = (percent: number): number => probit(percent / 100);
    const m = (k * (link(80) - Math.SQRT2 * link(plain.attention))) / (1 + k);
    const moved = 100 * normalCdf((Math.SQRT2 * link(plain.attention) + m) / Math.sqrt(2 - a + a / (1 + k)));
    t.ok(Math.abs(answer.attention - moved) < 0.02, `${answer.attention}, ${moved}`);
    const whole =
      composite.attention * answer.attention +
      composite.memory * plain.memory +
      composite.reasoning * plain.reasoning;
    t.ok(Math.abs(answer.C_SCORE - whole) < 0.02);
    for (const field of ['memory', 'reasoning', 'stress', 'valence', 'arousal'] as const)
      t.equal(answer[field], plain[field], field);
  },
);

t.test('a raw result is answered as its percentile, alone and in a list, and again', async (t) => {
  const raw: Measurement[] = [{ test: 'pss10', answers: [2, 3, 1, 2, 1, 3, 2, 2, 1, 2], on: date(-1) }];
  const body = { current_session: session(1), night: date(0), history: '', explain: true, measurements: raw };
  const answer = await predict(body);
  const { test, ...percentile } = answer.measured?.[0] ?? { test: 'nothing was measured' };
  t.equal(test, 'pss10');
  const measurements = [percentile] as Measurement[];
  t.strictSame(lasting(await predict({ ...body, measurements })), lasting(answer, 'measured'));
  t.match(answer.explanation?.scores.stress.text, /^Stress is \d+ \(\d+ without what was measured\)/);
  t.strictSame(lasting(await predict({ ...body, history: answer.history ?? '' })), lasting(answer));
  const line = JSON.stringify(body);
  const list = await sendOn(connection, {
    headers: { ...headers, 'Content-Type': 'application/x-ndjson' },
    body: `${line}\n${line.replace('pss10', 'digit_symbol')}\n`,
  });
  const [first = '', second = ''] = list.body.split('\n');
  t.strictSame(lasting(JSON.parse(first) as PredictionResponse), lasting(answer));
  t.match(JSON.parse(second), { status: 422, detail: [{ loc: ['body', 'measurements', 0, 'answers'] }] });
});

/** Nights before the sixteenth have fewer than ten in the long run. */
const FIRST_USUAL = 16;
const HALF_LIFE_NIGHTS = 60;

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

/** Every night of `sessions`, explained, each with the history of the answer before. */
async function follow(sessions: readonly Session[]) {
  const answers: PredictionResponse[] = [];
  for (const [index, current_session] of sessions.entries()) {
    const history = answers.at(-1)?.history ?? '';
    answers.push(await predict({ current_session, history, night: date(index), explain: true }));
  }
  const { explanation, ...answer } = answers.at(-1) ?? {};
  if (explanation === undefined) throw new Error('no explained night');
  return { answers, newest: { ...answer, explanation } };
}

t.test('a day is held against typical, the last nights or the usual; all its numbers fit', async (t) => {
  // A person's nights, none like another.
  const nights = Array.from({ length: 24 }, (_, day) => night(7 + Math.sin(day), 58 + 3 * Math.cos(2 * day)));
  const { answers, newest } = await follow(nights);
  t.strictSame(
    answers.map(({ explanation }) => explanation?.against),
    nights.map((_, index) => (index === 0 ? 'typical' : index + 1 < FIRST_USUAL ? 'last nights' : 'usual')),
  );
  const day = nights.length - 1;
  const longRun = nights.slice(0, day - 5);
  const mean = (of: (session: Session) => number): number => {
    const weights = longRun.map((_, index) => 0.5 ** ((longRun.length - 1 - index) / HALF_LIFE_NIGHTS));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return longRun.reduce((sum, one, index) => sum + (weights[index] ?? NaN) * of(one), 0) / total;
  };
  const usual = night(
    mean(({ sleepTimeSeconds }) => (sleepTimeSeconds ?? NaN) / 3600),
    mean(({ HR_night }) => HR_night?.[0] ?? NaN),
  );
  const past_sessions = nights.slice(day - 5, day);
  const past_targets = answers.slice(day - 5, day).map(scoresOf);
  const expected = await predict({ current_session: usual, past_sessions, past_targets, explain: true });
  t.equal(expected.explanation?.against, 'last nights', 'lists have no usual');
  for (const field of SCORE_FIELDS) {
    const { reference, change, recent = NaN } = newest.explanation.scores[field];
    // Seconds are whole, and the mean of efficiencies is not the efficiency of the means.
    t.ok(Math.abs(reference - expected[field]) < 0.1, `${field}: ${reference} and ${expected[field]}`);
    t.equal(Math.round(100 * (reference + change)), Math.round(100 * (newest[field] ?? NaN)));
    const ofLastNights = expected.explanation?.scores[field].reference ?? NaN;
    t.ok(Math.abs(recent - (ofLastNights - reference)) < 0.1, `${field}: recent ${recent}`);
  }
  const { history = '' } = newest;
  const gap = await predict({ current_session: night(4), history, night: date(day + 90), explain: true });
  t.match(gap.explanation, { against: 'usual', quality: { sessions: 0 } }, 'after weeks without a night');
  const late = await predict({ current_session: night(7), history, night: date(-60), explain: true });
  t.equal(late.explanation?.against, 'typical', 'a night older than the history');
  t.equal(late.history, history);
});

t.test('inputs that today lacks, or of too few nights, are not part of a usual day', async (t) => {
  const bare = (one: Session): Session => ({
    age: 40,
    sex: 'F',
    sleepTimeSeconds: one.sleepTimeSeconds ?? null,
  });
  const known = Array.from({ length: 20 }, (_, day) => (day === 3 ? night(7, 90) : bare(night(7))));
  const { explanation } = (await follow([...known, bare(night(5))])).newest;
  t.equal(explanation.against, 'usual');
  t.ok(explanation.contributors.every(({ group, stress }) => group === 'sleep_amount' || stress === 0));
  const fast = (await follow([...known, night(7, 62)])).newest.explanation.contributors;
  const heart = fast.find(({ group }) => group === 'night_heart_rate');
  t.ok((heart?.stress ?? NaN) > -5, 'one night of 90 bpm is not what is usual');
});
