import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import t from 'tap';
import { AcuityClient, type AcuityClientOptions, type RetryReport } from '#acuity/client/client.js';
import { InvalidRequestError } from '#acuity/client/errors.js';
import { refuseBrowser } from '#acuity/client/checks.js';
import type { Incoming, Outgoing, Transport } from '#acuity/client/transport.js';
import type * as ours from '#acuity/client/contract.js';
import type { PredictionRequestBody } from '#acuity/client/contract.js';
import type { Finding } from '#acuity/contract/problems.js';
import type * as theirs from '#acuity/contract/request.js';
import { clientTo, KEY, SCORES, type Reply } from '../fixtures/sharedCases.js';

const SAMPLE = 61.8731;
const REQUEST = { current_session: { HR_night: [SAMPLE, 62, 63] } };

const OK: Reply = {
  status: 200,
  body: { ...SCORES, inference_time_ms: 0.2 },
  headers: { 'x-model-version': '7' },
};
const BUSY: Reply = { status: 503, body: { detail: 'Service overloaded' }, headers: { 'retry-after': '1' } };

/** A client whose network gives one reply after the other. */
function clientWith(replies: readonly (Reply | Error)[], options: Partial<AcuityClientOptions> = {}) {
  const sent: Outgoing[] = [];
  const left = [...replies];
  const transport: Transport = {
    close: async () => undefined,
    async send(request) {
      sent.push(request);
      const reply = left.shift();
      if (reply === undefined) throw new Error('one request more than expected');
      if (reply instanceof Error) throw reply;
      return answerOf(reply);
    },
  };
  return { ...clientTo(t, 'http://127.0.0.1:8080', { transport, ...options }), sent };
}

function answerOf({ status = 200, body, headers = {} }: Reply): Incoming {
  const bytes = Buffer.from(JSON.stringify(body ?? {}));
  return { status, headers, body: Readable.from([bytes]) };
}

function broken(code: string): Error {
  return Object.assign(new Error('broken'), { code });
}

t.test(
  'a copy has other options and the same connections, a key may be a function, headers one’s own',
  async (t) => {
    const keys = [KEY, `${KEY.slice(0, -1)}Y`];
    const apiKey = async (): Promise<string> => keys.shift() ?? '';
    const { client, sent } = clientWith([OK, OK, OK], { apiKey, headers: { 'X-Mine': 'a' } });
    const copy = client.withOptions({ headers: { 'X-Mine': 'b', 'X-API-Key': 'none' }, timeoutMs: 3000 });
    await client.predict(REQUEST);
    await copy.predict(REQUEST, { headers: { traceparent: 'c' } });
    t.strictSame(
      sent.map(({ headers }) => [headers['x-api-key'], headers['x-mine'], headers['traceparent']]),
      [
        [KEY, 'a', undefined],
        [`${KEY.slice(0, -1)}Y`, 'b', 'c'],
      ],
    );
    t.equal(sent[1]?.headers['x-deadline-ms'], '3000');
    await t.rejects(client.predict(REQUEST), { name: 'TypeError' }, 'a key that is none is not sent');
    t.equal(sent.length, 2);
    await copy.close();
    await t.rejects(async () => client.predict(REQUEST), /closed/);
  },
);

t.test('a 429 of one call holds no other', async (t) => {
  const limited = { status: 429, body: { detail: 'Rate limit exceeded' }, headers: { 'retry-after': '20' } };
  const { client, sent, pauses } = clientWith([limited, OK]);
  const refused = client.predict(REQUEST, { requestId: 'a', deadlineMs: 5_000 });
  await t.rejects(refused, { name: 'RateLimitedError', retryAfterS: 20 });
  t.strictSame((await client.predict(REQUEST, { requestId: 'b' })).scores, SCORES);
  t.strictSame([sent.map(({ headers }) => headers['x-request-id']), pauses], [['a', 'b'], []]);
});

t.test('a caller that gives up is given its own reason, in an attempt and in a pause', async (t) => {
  const close = async (): Promise<void> => undefined;
  const silent: Transport['send'] = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  const busy: Transport['send'] = async () => answerOf({ status: 503 });
  for (const [send, when] of [
    [silent, 'at once'],
    [busy, 'in a pause'],
  ] as const) {
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const onRetry = () => controller.abort(reason);
    const options = { url: 'http://localhost', apiKey: KEY, transport: { close, send }, onRetry };
    const client = new AcuityClient({ ...options, retry: { firstPauseMs: 10_000 } });
    const outcome = client.predict(REQUEST, { signal: controller.signal });
    if (when === 'at once') onRetry();
    await t.rejects(outcome, reason, when);
  }
});

t.test('a recording is passed on, and what was found in it handed out', async (t) => {
  const recording = { at: '2026-03-02T06:30:00Z', night: '2026-03-02', sleep: null, left: [] };
  const measured = [{ test: 'pss10', score: 'stress', value: 67.1, on: '2026-03-01' }];
  const { client, sent } = clientWith([{ ...OK, body: { ...(OK.body as object), recording, measured } }]);
  const request: PredictionRequestBody = {
    current_session: { recording: { provider: 'oura', sleep: { data: [] } }, age: 34 },
    history: '',
    measurements: [{ test: 'pss10', answers: [2, 3, 1, 2, 1, 3, 2, 2, 1, 2], on: '2026-03-01' }],
  };
  t.match(await client.predict(request), { recording, measured });
  t.strictSame(JSON.parse(sent[0]?.body ?? ''), request);
});

t.test('each retry is told before its pause, with nothing that is anybody’s', async (t) => {
  const retries: RetryReport[] = [];
  const onRetry = (report: RetryReport) => void retries.push(report);
  const { client } = clientWith([BUSY, broken('ECONNRESET'), OK], { onRetry });
  await client.predict(REQUEST, { requestId: 'r1' });
  t.match(retries, [
    { requestId: 'r1', attempt: 1, status: 503, pauseMs: 1_100 },
    { requestId: 'r1', attempt: 2, status: undefined },
  ]);
  const told = JSON.stringify(retries);
  t.notOk(told.includes(String(SAMPLE)) || told.includes(KEY));
});

t.test('neither the client nor an error shows the key or a sample', async (t) => {
  const { client } = clientWith([{ status: 403, body: { detail: 'Invalid or missing API key' } }]);
  const error: unknown = await client.predict(REQUEST).catch((caught: unknown) => caught);
  const shown = inspect([client, error], { depth: 9, showHidden: true }) + JSON.stringify([client, error]);
  t.notOk(shown.includes(KEY));
  t.notOk(shown.includes(String(SAMPLE)));
});

t.test('the address is the base address, and not in clear over a network', async (t) => {
  const { sent, client } = clientWith([OK], { url: 'https://api.example/scores/' });
  await client.predict(REQUEST);
  t.equal(sent[0]?.url, 'https://api.example/scores/predict');
  const allowed = 'http://127.0.0.1:1 http://localhost:1 http://[::1]:1 https://scores.example'.split(' ');
  for (const url of allowed) t.doesNotThrow(() => new AcuityClient({ url, apiKey: KEY }));
  const refused: Readonly<Record<string, RegExp>> = {
    'http://10.0.0.8:8080': /in clear/,
    'https://scores.example/predict': /without \/predict/,
    'ftp://scores.example': /http or https/,
    'scores.example': /http or https/,
    'https://me:secret@scores.example': /no user/,
  };
  for (const [url, message] of Object.entries(refused))
    t.throws(() => new AcuityClient({ url, apiKey: KEY }), { name: 'TypeError', message });
  t.doesNotThrow(() => new AcuityClient({ url: 'http://10.0.0.8', apiKey: KEY, allowPlainHttp: true }));
});

t.test('a key that was cut is refused before it is sent, and not shown', async (t) => {
  for (const apiKey of ['', 'sk_live_short', KEY.slice(0, -1), `${KEY}0`, KEY.replace('live', 'test')]) {
    const error = t.throws(() => new AcuityClient({ url: 'http://localhost', apiKey }), TypeError);
    if (apiKey !== '') t.notOk(inspect(error).includes(apiKey));
  }
  t.doesNotThrow(() => new AcuityClient({ url: 'http://localhost', apiKey: `${KEY}\n` }));
});

t.test('the environment gives address and key', async (t) => {
  t.doesNotThrow(() => AcuityClient.fromEnvironment({ ACUITY_URL: 'http://localhost', ACUITY_API_KEY: KEY }));
  t.throws(() => AcuityClient.fromEnvironment({ ACUITY_API_KEY: KEY }), /set ACUITY_URL/);
  t.throws(() => AcuityClient.fromEnvironment({ ACUITY_URL: 'http://localhost' }), /set ACUITY_API_KEY/);
});

t.test('a request id that the service would not take is refused', async (t) => {
  const { client } = clientWith([]);
  for (const requestId of ['', 'a b', 'ä', 'x'.repeat(129)])
    await t.rejects(client.predict(REQUEST, { requestId }), TypeError);
});

t.test('in a browser there is no client', async (t) => {
  for (const place of [{ document: {} }, { window: {} }, { importScripts: () => undefined }])
    t.throws(() => refuseBrowser(place), /belongs on a server/);
  t.doesNotThrow(() => refuseBrowser());
});

/** What the process is warned of while `work` runs. */
async function warningsDuring(work: () => Promise<unknown>): Promise<Error[]> {
  const heard: Error[] = [];
  const listener = (warning: Error): void => void heard.push(warning);
  process.on('warning', listener);
  await work();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listener);
  return heard;
}

const MISTYPED = { current_session: { HR_nigth: [SAMPLE], weightKg: 74 } } as PredictionRequestBody;

t.test('a mistyped field is warned of, once for each name, and sent all the same', async (t) => {
  const { client, sent } = clientWith([OK, OK]);
  const heard = await warningsDuring(async () => {
    await client.predict(MISTYPED);
    await client.predict(MISTYPED);
  });
  t.match(heard, [
    {
      name: 'AcuityWarning',
      code: 'ACUITY_UNKNOWN_FIELD',
      message:
        'current_session.HR_nigth is no field that the service knows: it is ignored. Did you mean HR_night?',
    },
    { message: /^current_session\.weightKg .* weight_kg\?$/ },
  ]);
  t.equal(heard.length, 2);
  t.ok(heard.every(({ message }) => !message.includes(String(SAMPLE)) && !message.includes('74')));
  t.equal(sent[0]?.body, JSON.stringify(MISTYPED));
});

t.test('what is no request is the service’s to refuse', async (t) => {
  const mistyped = { current_session: { deepSleepSeconds: '90' }, past_sessions: 7 };
  for (const request of [{}, { current_session: null }, mistyped]) {
    const { client, sent } = clientWith([{ status: 422, body: { detail: [] } }]);
    await t.rejects(client.predict(request as PredictionRequestBody), InvalidRequestError);
    t.equal(sent.length, 1);
  }
});

/** Compiles only where a value of the one type may stand for one of the other. */
type Fits<Wide, Narrow extends Wide> = Narrow extends Wide ? true : false;
void ([true, true, true, true, true, true, true] satisfies [
  Fits<Required<theirs.Session>, Required<ours.Session>>,
  Fits<Required<ours.Session>, Required<theirs.Session>>,
  Fits<theirs.ScoreRecord, ours.ScoreRecord>,
  Fits<ours.ScoreRecord, theirs.ScoreRecord>,
  Fits<theirs.PredictionRequestBody, ours.PredictionRequestBody>,
  Fits<ours.PredictionRequestBody, theirs.PredictionRequestBody>,
  Fits<ours.Finding, Finding>,
]);
