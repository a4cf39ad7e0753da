import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import { Compile } from 'typebox/compile';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { PredictionResponseSchema, type PredictionResponse } from '#acuity/contract/response.js';
import { session } from '../fixtures/bodies.js';
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
