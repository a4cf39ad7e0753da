import t from 'tap';
import type { Adapted } from '#adapters/adapt.js';
import { PROVIDERS, type Recording, type RecordingProblem } from '#adapters/recording.js';
import { LABEL_FIELDS, SCORE_FIELDS } from '#rules/fields.js';
import type { Measurement, PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import type { PredictionResponse } from '#acuity/contract/response.js';
import { metricsOf, valueOf } from '../fixtures/promtool.js';
import { requestBody, scoreRecord, session } from '../fixtures/bodies.js';
import { Connection, sendOn, type Reply } from '../fixtures/connection.js';
import { textOf } from '../fixtures/repository.js';
import { CLEAN, startServer } from '../fixtures/server.js';
import { casesOf } from '../fixtures/sharedCases.js';
import { until } from '../fixtures/until.js';

/**
 * Nights as callers send them to a running server with the shipped network: with their past in lists or in one field,
 * measured, explained, and as providers recorded them. The connection holds each answer to the document.
 */

const server = await startServer(t, { env: { ACUITY_LOG_LEVEL: 'info', ACUITY_ACCESS_LOG_EVERY: '1' } });
const open = (): Promise<Connection> => Connection.open(server.port, t);
const connection = await open();

async function send(body: unknown, type = 'application/json', on = connection): Promise<Reply> {
  const headers = { 'X-API-Key': server.key, 'Content-Type': type };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await sendOn(on, { headers, body: text });
  return { ...reply, body: Buffer.from(reply.body, 'latin1').toString() };
}

async function predict(body: PredictionRequestBody): Promise<PredictionResponse> {
  const reply = await send(body);
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

function lists(steps: readonly Step[], answers: readonly PredictionResponse[], indices: readonly number[]) {
  const past_sessions = indices.flatMap((index) => steps[index]?.session ?? []);
  return { past_sessions, past_targets: indices.flatMap((index) => answers[index] ?? []).map(scoresOf) };
}

for (const { name, steps } of casesOf<{ readonly name: string; readonly steps: readonly Step[] }>(
  'histories',
)) {
  t.test(`by history and by lists: ${name}`, async (t) => {
    const answers: PredictionResponse[] = [];
    for (const [index, { session: current_session, night, from = index - 1, ...step }] of steps.entries()) {
      const isNew = step.lists !== undefined || from === null || from < 0;
      const body = { current_session, explain: index === 5 };
      const answer = await predict({
        ...body,
        history: isNew ? '' : (answers[from]?.history ?? 'none'),
        ...(night === undefined ? {} : { night }),
        ...(step.lists && lists(steps, answers, step.lists)),
      });
      const byLists = await predict({ ...body, ...lists(steps, answers, step.past) });
      t.strictSame(lasting(answer, 'history'), lasting(byLists), `step ${index}`);
      if (step.historyOf !== undefined) t.equal(answer.history, answers[step.historyOf]?.history);
      answers.push(answer);
    }
  });
}

t.test('the explanation reports a history of another person', async (t) => {
  const { history = '' } = await predict({ current_session: session(1), history: '', night: date(1) });
  for (const [changed, more, isOther] of [
    [{ age: 36 }, {}, false],
    [{ age: 36.1 }, {}, true],
    [{ sex: 'F' }, {}, true],
    [{ sex: null, age: null }, {}, false],
    [{ sex: 'F' }, { night: date(1) }, false], // it corrects what was sent before
    [{ sex: 'F' }, { night: date(62) }, true], // all sessions leave for the long run
    [{ sex: 'F' }, { night: date(182) }, true], // … or altogether
  ] as const) {
    const current_session = { ...session(2), ...changed };
    const { explanation } = await predict({ current_session, history, explain: true, ...more });
    t.equal(explanation?.quality.implausible.includes('history'), isOther, JSON.stringify(changed));
  }
});

t.test('explained and plain requests beside each other get the same scores', async (t) => {
  const connections = await Promise.all(Array.from({ length: 4 }, open));
  const ask = async (one: Connection, body: object): Promise<PredictionResponse> =>
    JSON.parse((await send(body, undefined, one)).body) as PredictionResponse;
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
  t.ok((await server.metric('acuity_run_seconds_total', { graph: 'explain' })) > 0);
});

t.test('a test moves its score and the composite; a raw result is answered as its percentile', async (t) => {
  const raw: Measurement[] = [{ test: 'pss10', answers: [2, 3, 1, 2, 1, 3, 2, 2, 1, 2], on: date(-1) }];
  const body = { current_session: session(1), night: date(0), history: '', explain: true };
  const plain = await predict(body);
  const answer = await predict({ ...body, measurements: raw });
  t.strictSame(answer.unmeasured, scoresOf(plain));
  t.not(answer.stress, plain.stress);
  for (const field of ['memory', 'reasoning', 'attention'] as const)
    t.equal(answer[field], plain[field], field);
  const { test, ...percentile } = answer.measured?.[0] ?? { test: 'nothing was measured' };
  t.equal(test, 'pss10');
  const measurements = [percentile] as Measurement[];
  t.strictSame(lasting(await predict({ ...body, measurements })), lasting(answer, 'measured'));
  t.match(answer.explanation?.scores.stress.text, /^Stress is \d+ \(\d+ without what was measured\)/);
  const again = await predict({ ...body, measurements: raw, history: answer.history ?? '' });
  t.strictSame(lasting(again), lasting(answer));
  const line = JSON.stringify({ ...body, measurements: raw });
  const list = await send(`${line}\n${line.replace('pss10', 'digit_symbol')}\n`, 'application/x-ndjson');
  const [first = '', second = ''] = list.body.split('\n');
  t.strictSame(lasting(JSON.parse(first) as PredictionResponse), lasting(answer));
  t.match(JSON.parse(second), { status: 422, detail: [{ loc: ['body', 'measurements', 0, 'answers'] }] });
});

/** Nights before the sixteenth have fewer than ten in the long run. */
const FIRST_USUAL = 16;
const HALF_LIFE_NIGHTS = 60;

const night = (hours: number, beats = 58): Session => ({
  ...session(3),
  HR_day_1h: [beats + 14],
  HR_night: [beats],
  sleepTimeSeconds: Math.round(hours * 3600),
  deepSleepSeconds: null,
  remSleepSeconds: null,
  lightSleepSeconds: null,
});

t.test('a day is held against typical, the last nights or the usual; all its numbers fit', async (t) => {
  // A person's nights, none like another.
  const nights = Array.from({ length: 24 }, (_, day) => night(7 + Math.sin(day), 58 + 3 * Math.cos(2 * day)));
  const day = nights.length - 1;
  const answers: PredictionResponse[] = [];
  for (const [index, current_session] of nights.entries()) {
    const history = answers.at(-1)?.history ?? '';
    answers.push(await predict({ current_session, history, night: date(index), explain: true }));
  }
  t.strictSame(
    answers.map(({ explanation }) => explanation?.against),
    nights.map((_, index) => (index === 0 ? 'typical' : index + 1 < FIRST_USUAL ? 'last nights' : 'usual')),
  );
  const longRun = nights.slice(0, day - 5);
  const mean = (of: (session: Session) => number | null | undefined): number => {
    const weights = longRun.map((_, index) => 0.5 ** ((longRun.length - 1 - index) / HALF_LIFE_NIGHTS));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return longRun.reduce((sum, one, index) => sum + (weights[index] ?? NaN) * (of(one) ?? NaN), 0) / total;
  };
  const hours = mean(({ sleepTimeSeconds }) => sleepTimeSeconds) / 3600;
  const heart = mean(({ HR_night }) => HR_night?.[0]);
  const usual = night(hours, heart);
  const past_sessions = nights.slice(day - 5, day);
  const past_targets = answers.slice(day - 5, day).map(scoresOf);
  const expected = await predict({ current_session: usual, past_sessions, past_targets, explain: true });
  t.equal(expected.explanation?.against, 'last nights', 'lists have no usual');
  const newest = answers[day];
  for (const field of SCORE_FIELDS) {
    const { reference = NaN, change = NaN, recent = NaN } = newest?.explanation?.scores[field] ?? {};
    // Seconds are whole, and the mean of efficiencies is not the efficiency of the means.
    t.ok(Math.abs(reference - expected[field]) < 0.1, `${field}: ${reference} and ${expected[field]}`);
    t.equal(Math.round(100 * (reference + change)), Math.round(100 * (newest?.[field] ?? NaN)));
    const ofLastNights = expected.explanation?.scores[field].reference ?? NaN;
    t.ok(Math.abs(recent - (ofLastNights - reference)) < 0.1, `${field}: recent ${recent}`);
  }
  const { history = '' } = newest ?? {};
  const gap = await predict({ current_session: night(4), history, night: date(day + 90), explain: true });
  t.match(gap.explanation, { against: 'usual', quality: { sessions: 0 } }, 'after weeks without a night');
  const late = await predict({ current_session: night(7), history, night: date(-60), explain: true });
  t.equal(late.explanation?.against, 'typical', 'a night older than the history');
  t.equal(late.history, history);
});

/** See packages/cases/README.md. */
interface RecordingCase {
  readonly name: string;
  readonly recording: Recording;
  readonly person?: Partial<Session>;
  readonly expect: Adapted | { readonly error: RecordingProblem };
}
const recordingsOf = (provider: string) => casesOf<RecordingCase>('adapters', provider);
const { oura: OURA } = JSON.parse(textOf('assets/try/recordings.json')) as { readonly oura: Recording };

/** The text of an answer without what two answers can't have in common. */
const same = (body: string): string =>
  body.replace(/"inference_time_ms":[\d.]+/, '').replace(/,"recording":\{.*\}\}$/, '}');
const told = (body: string): unknown => (JSON.parse(body) as { readonly recording?: unknown }).recording;
const firstFinding = ({ body }: Reply): unknown => (JSON.parse(body) as { detail: unknown[] }).detail[0];

t.test('a night of each provider gets the answer to its session, or its refusal', async (t) => {
  for (const provider of PROVIDERS) {
    const cases = recordingsOf(provider);
    const good = cases.find(({ expect }) => !('error' in expect));
    const bad = cases.find(({ expect }) => 'error' in expect);
    for (const { name, recording, person, expect } of [good ?? [], bad ?? []].flat()) {
      const answer = await send({ current_session: { ...person, recording } });
      if ('error' in expect) {
        const { path, type, sentence: msg } = expect.error;
        t.equal(answer.status, 422, name);
        const loc = ['body', 'current_session', 'recording', ...path];
        t.strictSame(firstFinding(answer), { loc, msg, type }, name);
        continue;
      }
      const { session: current_session, ...rest } = expect;
      t.equal(same(answer.body), same((await send({ current_session })).body), name);
      t.strictSame(told(answer.body), rest, name);
    }
  }
});

t.test('with a history, an explanation and measurements it is the same, byte for byte', async (t) => {
  const [first] = recordingsOf('oura');
  if (first === undefined || 'error' in first.expect) throw new Error('no case');
  const { session: current_session, night } = first.expect;
  const { history } = await predict({ current_session: session(3), history: '', night: '2026-02-28' });
  for (const more of [
    { history: '' },
    { history, explain: true, measurements: [{ score: 'attention', value: 71 }] },
    { history, night: '2026-03-01' },
    { history, night: null, unknown: { any: ['thing'] } },
    { past_sessions: [session(4)], past_targets: [scoreRecord(4)] },
  ]) {
    const answer = await send({ current_session: { ...first.person, recording: first.recording }, ...more });
    t.equal(answer.status, 200);
    const dated = { ...more, night: ('night' in more ? more.night : night) ?? night };
    const plain = await send({ current_session, ...dated });
    t.equal(same(answer.body), same(plain.body), Object.keys(more).join());
  }
});

t.test('where a recording may stand, and what may stand beside it', async (t) => {
  const current = (beside: object): object => ({ current_session: { recording: OURA, ...beside } });
  const past = { past_sessions: [{ recording: OURA }], past_targets: [scoreRecord()] };
  for (const [body, place, type] of [
    [current({ HR_night: [50] }), 'current_session.HR_night', 'value_error'],
    [current({ sleepTimeSeconds: [] }), 'current_session.sleepTimeSeconds', 'value_error'],
    [{ ...current({}), history: '', night: [] }, 'night', 'date_type'],
    [current({ recording: {} }), 'current_session.recording.provider', 'literal_error'],
    [{ ...current({}), ...past }, 'past_sessions.0.recording', 'value_error'],
    [{ ...current({}), explain: 1 }, 'explain', 'bool_type'],
  ] as const) {
    const answer = await send(body);
    t.equal(answer.status, 422, answer.body);
    const { loc, type: found } = firstFinding(answer) as { loc: string[]; type: string };
    t.strictSame([loc.slice(1).join('.'), found], [place, type]);
  }
  const escaped = JSON.stringify(current({})).replace('"rec', '"r\\u0065c');
  t.match((await send(escaped)).body, /"recording":\{"at":/, 'an escaped name is a name');
  const twice = `{"current_session":{"recording":${JSON.stringify(OURA)},"recording":null,"age":34}}`;
  t.notMatch((await send(twice)).body, /"recording"/, 'the last one counts');
  const broken = JSON.stringify(current({})).slice(0, -1);
  t.strictSame(JSON.parse((await send(broken)).body), { detail: `Malformed JSON at byte ${broken.length}` });
  const lines = `${JSON.stringify(current({}))}\n{"current_session":{"age":34}}`;
  const [first = '', second = ''] = (await send(lines, 'application/x-ndjson')).body.split('\n');
  const refused = { loc: ['body', 'current_session', 'recording'], msg: /acuity adapt/ };
  t.match(JSON.parse(first), { status: 422, detail: [refused] }, 'a line of a list is no place for it');
  t.match(second, 'attention');
});

t.test('metrics and log know the provider, and nothing of the content', async (t) => {
  const { headers } = await send({ current_session: { recording: { ...OURA, sleep: 'secret-marker' } } });
  const series = await metricsOf(server.adminPort);
  for (const provider of PROVIDERS)
    t.ok(valueOf(series, 'acuity_recordings_total', { provider, outcome: 'read' }) > 0, provider);
  t.ok(valueOf(series, 'acuity_recordings_total', { provider: 'oura', outcome: 'refused' }) > 0);
  t.ok(valueOf(series, 'acuity_recording_seconds_count') > 0);
  t.ok(valueOf(series, 'acuity_findings_total', { type: 'recording_invalid' }) > 0);
  const id = headers.get('x-request-id') ?? 'none';
  await until(() => server.output().includes(id));
  t.notMatch(server.output(), /secret-marker|bedtime/);
});

t.test('a stop answers the recordings that are under way', async (t) => {
  const connections = await Promise.all(Array.from({ length: 8 }, open));
  const replies = connections.map((one) => send({ current_session: { recording: OURA } }, undefined, one));
  t.equal((await Promise.race(replies)).status, 200); // the others wait for the one thread
  server.signal('SIGTERM');
  for (const { status } of await Promise.all(replies)) t.match(String(status), /200|503/);
  t.strictSame(await server.exited, CLEAN);
});
