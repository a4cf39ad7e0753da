import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { Compile } from 'typebox/compile';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { PredictionResponseSchema, type PredictionResponse } from '#acuity/contract/response.js';
import { requestBody, scoreRecord, session } from '../fixtures/bodies.js';
import { Connection, sendOn } from '../fixtures/connection.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { startServer } from '../fixtures/server.js';

/** A running server with the shipped network: the past in one field gives what the lists give. */

interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
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

const CASES = JSON.parse(readFileSync(join(REPOSITORY, 'packages/cases/histories.json'), 'utf8')) as Case[];

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'fatal' } });
const headers = { 'X-API-Key': server.key };
const check = Compile(PredictionResponseSchema);
const connection = await Connection.open(server.port);
t.teardown(() => connection.destroy());

async function predict(body: PredictionRequestBody): Promise<PredictionResponse> {
  const reply = await sendOn(connection, { headers, body: JSON.stringify(body) });
  if (reply.status !== 200) throw new Error(reply.body);
  const answer = JSON.parse(reply.body) as PredictionResponse;
  if (!check.Check(answer)) throw new Error(`not of the schema: ${reply.body}`);
  return answer;
}

/** What is the same by lists and by history. */
function lasting(answer: PredictionResponse): object {
  return { ...answer, inference_time_ms: 0, history: undefined };
}

function scoresOf(answer: PredictionResponse): ScoreRecord {
  const fields = [...SCORE_FIELDS, ...LABEL_FIELDS];
  return Object.fromEntries(fields.map((field) => [field, answer[field]])) as ScoreRecord;
}

function lists(steps: readonly Step[], answers: readonly PredictionResponse[], indices: readonly number[]) {
  const past_sessions = indices.flatMap((index) => steps[index]?.session ?? []);
  const past_targets = indices.flatMap((index) => answers[index] ?? []).map(scoresOf);
  return { past_sessions, past_targets };
}

for (const { name, steps } of CASES) {
  t.test(name, async (t) => {
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
      t.strictSame(lasting(answer), lasting(byLists), `step ${index}`);
      t.notOk('history' in byLists);
      if (step.historyOf !== undefined) t.equal(answer.history, answers[step.historyOf]?.history);
      answers.push(answer);
    }
  });
}

/** Dates of successive days. */
function date(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
}

t.test('explained, dated or not, five sessions by history are five sessions by lists', async (t) => {
  for (const isDated of [false, true]) {
    const sessions = Array.from({ length: 6 }, (_, index) => session(index + 1));
    const answers: PredictionResponse[] = [];
    let history = '';
    for (const [index, current_session] of sessions.entries()) {
      const night = isDated ? { night: date(12 * index) } : {};
      const past_sessions = sessions.slice(0, index);
      const body = { current_session, explain: true };
      const answer = await predict({ ...body, history, ...night });
      const byLists = await predict({ ...body, past_sessions, past_targets: answers.map(scoresOf) });
      t.strictSame(lasting(answer), lasting(byLists));
      answers.push(answer);
      history = answer.history ?? 'none';
    }
  }
});

t.test(
  'a night sent again with its answer’s history gets the same scores, explanation and history',
  async (t) => {
    let history = '';
    for (let day = 0; day < 9; day++) {
      const body = { current_session: session(day), night: date(day), explain: true };
      const first = await predict({ ...body, history });
      const again = await predict({ ...body, history: first.history ?? 'none' });
      t.strictSame({ ...again, inference_time_ms: 0 }, { ...first, inference_time_ms: 0 });
      const same = await predict({ ...body, history });
      t.equal(same.history, first.history, 'no clock is read');
      history = first.history ?? 'none';
    }
  },
);

t.test('the explanation of the data reports a history of another person', async (t) => {
  const said = async (
    current_session: Session,
    history: string,
    night?: string,
  ): Promise<boolean | undefined> => {
    const answer = await predict({ current_session, history, explain: true, ...(night && { night }) });
    return answer.explanation?.quality.implausible.includes('history');
  };
  const { history = '' } = await predict({ current_session: session(1), history: '', night: date(1) });
  t.equal(await said({ ...session(2), age: 36 }, history), false);
  t.equal(await said({ ...session(2), age: 36.1 }, history), true);
  t.equal(await said({ ...session(2), sex: 'F' }, history), true);
  t.equal(await said({ ...session(2), sex: null, age: null }, history), false);
  t.equal(await said({ ...session(2), sex: 'F' }, '', date(2)), false);
  t.equal(
    await said({ ...session(2), sex: 'F' }, history, date(1)),
    false,
    'it corrects what was sent before',
  );
});

interface Refused {
  readonly body: object;
  readonly found: readonly (readonly [loc: string, type: string])[];
}

t.test('a bad history, a bad night, and both kinds of past are refused at their place', async (t) => {
  const { history = '' } = await predict({ current_session: session(1), history: '' });
  const lists = { past_sessions: [{}], past_targets: [scoreRecord()] };
  const invalid = [['body.history', 'history_invalid']] as const;
  const noDate = [['body.night', 'date_type']] as const;
  const refused: Refused[] = [
    ...[1, true, {}, []].map((value) => ({
      body: { history: value },
      found: [['body.history', 'string_type'] as const],
    })),
    ...['acu1.', 'acu2.AAAA', ' ', history.slice(1), `${history} `, `${history}=`].map((value) => ({
      body: { history: value },
      found: invalid,
    })),
    ...[
      '2026-02-29',
      '2026-13-01',
      '2026-1-1',
      '1969-12-31',
      '2150-01-01',
      '',
      '2026-11-21T00:00:00Z',
      20_260_101,
    ].map((night) => ({ body: { history, night }, found: noDate })),
    { body: { history: '', night: 'yesterday' }, found: noDate },
    { body: { history: 'x', night: 'yesterday' }, found: [...invalid, ...noDate] },
    {
      body: { history, ...lists },
      found: [
        ['body.history', 'value_error'],
        ['body.past_sessions', 'value_error'],
        ['body.past_targets', 'value_error'],
      ],
    },
    {
      body: { history, past_target: lists.past_targets },
      found: [
        ['body.history', 'value_error'],
        ['body.past_target', 'value_error'],
      ],
    },
  ];
  for (const { body, found } of refused) {
    const text = JSON.stringify({ current_session: {}, ...body });
    const reply = await sendOn(connection, { headers, body: text });
    t.equal(reply.status, 422, text);
    const { detail } = JSON.parse(reply.body) as { detail: { loc: string[]; msg: string; type: string }[] };
    t.strictSame(
      detail.map(({ loc, type }) => [loc.join('.'), type]),
      found,
    );
    t.notOk(reply.body.includes(history.slice(5, 40)), 'nothing of it is repeated');
  }
});

t.test('what is absent, null or not beside a history changes nothing', async (t) => {
  const request = requestBody(2);
  const plain = await predict(request);
  t.notOk('history' in plain);
  for (const more of [{ history: null }, { history: null, night: 'x' }, { night: 5 }, { night: null }]) {
    const answer = await predict({ ...request, ...(more as object) });
    t.strictSame(lasting(answer), lasting(plain));
    t.notOk('history' in answer);
  }
  const { history = '' } = await predict({ current_session: session(1), history: '' });
  const bare = await predict({ current_session: session(2), history });
  for (const more of [{ past_sessions: [], past_targets: null }, { night: null }]) {
    t.strictSame(
      { ...(await predict({ current_session: session(2), history, ...more })), inference_time_ms: 0 },
      {
        ...bare,
        inference_time_ms: 0,
      },
    );
  }
});
