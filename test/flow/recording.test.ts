import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Adapted } from '#adapters/adapt.js';
import { PROVIDERS, type Recording, type RecordingProblem } from '#adapters/recording.js';
import type { Session } from '#acuity/contract/request.js';
import { scoreRecord, session } from '../fixtures/bodies.js';
import { Connection, sendOn, type Reply } from '../fixtures/connection.js';
import { REPOSITORY } from '../fixtures/repository.js';
import { startServer } from '../fixtures/server.js';
import { casesOf } from '../fixtures/sharedCases.js';
import { until } from '../fixtures/until.js';

/** A running service that is sent nights as their providers sent them. */

/** See packages/cases/README.md. */
interface Case {
  readonly name: string;
  readonly recording: Recording;
  readonly person?: Partial<Session>;
  readonly expect: Adapted | { readonly error: RecordingProblem };
}

const EXAMPLES = JSON.parse(readFileSync(join(REPOSITORY, 'assets/try/recordings.json'), 'utf8')) as Readonly<
  Record<string, Recording>
>;
const OURA = EXAMPLES['oura'] ?? {};

const server = await startServer(t, {
  env: { ACUITY_LOG_LEVEL: 'info', ACUITY_ACCESS_LOG_EVERY: '1' },
  keys: [{ kind: 'live', ratePerS: 10, dailyMax: null }],
});
const connection = await Connection.open(server.port);
t.teardown(() => connection.destroy());

async function send(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await sendOn(connection, { headers: { 'X-API-Key': server.key, ...headers }, body: text });
  return { ...reply, body: Buffer.from(reply.body, 'latin1').toString() };
}

/** The text of an answer without what two answers can't have in common. */
const lasting = (body: string): string =>
  body.replace(/"inference_time_ms":[\d.]+/, '').replace(/,"recording":\{.*\}\}$/, '}');

const told = (body: string): unknown => (JSON.parse(body) as { readonly recording?: unknown }).recording;

const firstFinding = ({ body }: Reply): unknown => (JSON.parse(body) as { detail: unknown[] }).detail[0];

t.test('a night of each provider gets the answer to its session, or its refusal', async (t) => {
  for (const provider of PROVIDERS) {
    const cases = casesOf<Case>('adapters', provider);
    const [good, bad] = [
      cases.find(({ expect }) => !('error' in expect)),
      cases.find(({ expect }) => 'error' in expect),
    ];
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
      const bySession = await send({ current_session });
      t.equal(lasting(answer.body), lasting(bySession.body), name);
      t.strictSame(told(answer.body), rest, name);
    }
  }
});

t.test('with a history, an explanation and measurements it is the same, byte for byte', async (t) => {
  const [first] = casesOf<Case>('adapters', 'oura');
  if (first === undefined || 'error' in first.expect) throw new Error('no case');
  const { session: current_session, night } = first.expect;
  const beginning = await send({ current_session: session(3), history: '', night: '2026-02-28' });
  const { history } = JSON.parse(beginning.body) as { history: string };
  const measurements = [{ score: 'attention', value: 71 }];
  for (const more of [
    { history: '' },
    { history },
    { history, explain: true },
    { history, measurements },
    { history, night: '2026-03-01' },
    { history, night: null, unknown: { any: ['thing'] } },
    { past_sessions: [session(4)], past_targets: [scoreRecord(4)] },
  ]) {
    const recorded = { current_session: { ...first.person, recording: first.recording }, ...more };
    const dated = 'history' in more ? { night, ...more } : more;
    const plain = { current_session, ...dated, night: ('night' in dated ? dated.night : night) ?? night };
    const answer = await send(recorded);
    t.equal(answer.status, 200);
    t.equal(lasting(answer.body), lasting((await send(plain)).body), Object.keys(more).join());
    t.match(answer.body, /"recording":\{"at":/);
  }
});

t.test('where a recording may stand, and what may stand beside it', async (t) => {
  const current = (beside: object): object => ({ current_session: { recording: OURA, ...beside } });
  const past = { past_sessions: [{ recording: OURA }], past_targets: [scoreRecord()] };
  const at = 'current_session.recording';
  for (const [body, place, type] of [
    [current({ HR_night: [50] }), 'current_session.HR_night', 'value_error'],
    [current({ HR_night_imputed: [50] }), 'current_session.HR_night_imputed', 'value_error'],
    [current({ age: 200 }), 'current_session.age', 'less_than_equal'],
    [current({ recording: [] }), at, 'object_type'],
    [current({ recording: {} }), `${at}.provider`, 'literal_error'],
    [{ ...current({}), ...past }, 'past_sessions.0.recording', 'value_error'],
    [{ ...current({}), explain: 1 }, 'explain', 'bool_type'],
  ] as const) {
    const answer = await send(body);
    t.equal(answer.status, 422, answer.body);
    const { loc, type: found } = firstFinding(answer) as { loc: string[]; type: string };
    t.strictSame([loc.slice(1).join('.'), found], [place, type]);
  }
  for (const body of [
    { current_session: { recording: null, age: 34 } },
    current({ age: 34, HR_night: null, RR_night: [], other: { recording: 1 } }),
  ])
    t.equal((await send(body)).status, 200, JSON.stringify(Object.keys(body)));
  const escaped = JSON.stringify(current({})).replace('"rec', '"r\\u0065c');
  t.match((await send(escaped)).body, /"recording":\{"at":/, 'an escaped name is a name');
  const twice = `{"current_session":{"recording":${JSON.stringify(OURA)},"recording":null,"age":34}}`;
  t.notMatch((await send(twice)).body, /"recording"/, 'the last one counts');
  const broken = JSON.stringify(current({})).slice(0, -1);
  t.strictSame(JSON.parse((await send(broken)).body), { detail: `Malformed JSON at byte ${broken.length}` });
});

t.test('a line of a list is no place for a recording', async (t) => {
  const lines = [{ current_session: { recording: OURA } }, { current_session: { age: 34 } }];
  const { body } = await send(lines.map((line) => JSON.stringify(line)).join('\n'), {
    'Content-Type': 'application/x-ndjson',
  });
  const [first = '', second = ''] = body.split('\n');
  t.match(JSON.parse(first), {
    status: 422,
    detail: [{ loc: ['body', 'current_session', 'recording'], type: 'value_error', msg: /acuity adapt/ }],
  });
  t.match(second, 'attention');
});

t.test('metrics and log know the provider, and nothing of the content', async (t) => {
  await send({ current_session: { recording: { ...OURA, sleep: 'secret-marker' } } });
  const metrics = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
  for (const provider of PROVIDERS)
    t.match(metrics, new RegExp(`acuity_recordings_total\\{provider="${provider}",outcome="read"\\} [1-9]`));
  t.match(metrics, /acuity_recordings_total\{provider="oura",outcome="refused"\} [1-9]/);
  t.match(metrics, /acuity_recording_seconds_count [1-9]/);
  t.match(metrics, /acuity_findings_total\{type="recording_invalid"\} [1-9]/);
  await until(() => /"recording":"oura"/.test(server.output()));
  t.notMatch(server.output(), /secret-marker|bedtime/);
});

t.test('a stop answers the recordings that are under way', async (t) => {
  const body = JSON.stringify({ current_session: { recording: OURA } });
  const headers = { 'X-API-Key': server.key };
  const connections = await Promise.all(Array.from({ length: 8 }, () => Connection.open(server.port)));
  t.teardown(() => connections.forEach((one) => one.destroy()));
  const replies = connections.map((one) => sendOn(one, { headers, body }));
  t.equal((await Promise.race(replies)).status, 200); // the others wait for the one thread
  server.signal('SIGTERM');
  for (const { status } of await Promise.all(replies)) t.match(String(status), /200|503/);
  t.strictSame(await server.exited, { code: 0, signal: null });
});
