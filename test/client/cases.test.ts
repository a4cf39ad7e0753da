import t, { type Test } from 'tap';
import { AcuityClient, type AcuityClientOptions } from '#acuity/client/client.js';
import type { Prediction } from '#acuity/client/answer.js';
import type {
  IgnoredMeasurement,
  PredictionRequestBody,
  ScoreRecord,
  Session,
} from '#acuity/client/contract.js';
import * as errors from '#acuity/client/errors.js';
import { slipsIn } from '#acuity/client/fieldNames.js';
import { History, memoryStorage } from '#acuity/client/history.js';
import { DEFAULT_RETRY, type RetryOptions } from '#acuity/client/retry.js';
import { NodeTransport, type Incoming, type Outgoing } from '#acuity/client/transport.js';
import {
  startScripted,
  type Reply,
  casesOf,
  checkHistories,
  clientTo,
  KEY,
  SCORES,
} from '../fixtures/sharedCases.js';
import { startServer } from '../fixtures/server.js';

const REQUEST: PredictionRequestBody = { current_session: { HR_night: [61.8731, 62, 63] } };
type Named = Readonly<Record<string, unknown>>;

/** Replies one after the other; one more than there are breaks the connection, and the case. */
function inTurn(replies: readonly Reply[]): () => Reply {
  const left = [...replies];
  return () => left.shift() ?? { broken: true };
}

interface Expected {
  readonly error?: string;
  readonly has?: string;
  readonly pausesMs?: readonly number[];
  /** The most that each attempt may tell the service to take. */
  readonly patienceMs?: readonly number[];
  readonly scores?: ScoreRecord;
  readonly modelVersion?: string;
  readonly inferenceTimeMs?: number;
  readonly unmeasured?: ScoreRecord;
  readonly measurementsIgnored?: readonly IgnoredMeasurement[];
}

async function checkOutcome(t: Test, client: AcuityClient, expected: Expected): Promise<void> {
  const { error, has = '', pausesMs: _, patienceMs: __, ...fields } = expected;
  const outcome: unknown = await client.predict(REQUEST).catch((caught: unknown) => caught);
  if (error === undefined) {
    t.match(outcome, fields);
    return;
  }
  t.ok(outcome instanceof errors.AcuityError);
  t.equal((outcome as Error).name, error);
  t.ok((outcome as Error).message.includes(has), `${(outcome as Error).message} has ${has}`);
  for (const [name, value] of Object.entries(fields))
    t.strictSame((outcome as unknown as Named)[name], value, name);
}

interface RetryCase {
  readonly name: string;
  readonly options?: Partial<RetryOptions> & Pick<AcuityClientOptions, 'timeoutMs' | 'deadlineMs'>;
  readonly replies: readonly Reply[];
  readonly expect: Expected & { readonly pausesMs: readonly number[] };
}

t.test('retries', async (t) => {
  for (const { name, options = {}, replies, expect } of casesOf<RetryCase>('retries')) {
    await t.test(name, async (t) => {
      const { url, received } = await startScripted(t, inTurn(replies));
      const { timeoutMs = 10_000, deadlineMs = 60_000, ...retry } = options;
      for (const name of Object.keys(retry)) t.ok(name in DEFAULT_RETRY, `there is an option ${name}`);
      const { client, pauses } = clientTo(t, url, { timeoutMs, deadlineMs, retry });
      await checkOutcome(t, client, expect);
      t.strictSame(pauses, expect.pausesMs);
      t.equal(received.length, expect.pausesMs.length + 1);
      const id = received[0]?.headers['x-request-id'];
      for (const [attempt, { path, headers, body }] of received.entries()) {
        t.strictSame([path, body], ['/predict', REQUEST]);
        t.match(headers, { 'x-api-key': KEY, 'content-type': 'application/json', 'x-request-id': id });
        const patienceMs = Number(headers['x-deadline-ms']);
        const mostMs = expect.patienceMs?.[attempt] ?? Math.min(timeoutMs, deadlineMs);
        t.ok(patienceMs > 0 && patienceMs <= mostMs, `${patienceMs} of ${mostMs} ms`);
        t.match(headers['user-agent'], /^acuity-client-ts\/\d+\.\d+\.\d+/);
      }
    });
  }
});

interface RefusalCase {
  readonly name: string;
  readonly reply: Reply;
  readonly expect: Expected;
}

t.test('refusals', async (t) => {
  for (const { name, reply, expect } of casesOf<RefusalCase>('refusals')) {
    await t.test(name, async (t) => {
      const { url } = await startScripted(t, () => reply);
      await checkOutcome(t, clientTo(t, url, { retry: { retries: 0 } }).client, expect);
    });
  }
});

t.test('histories', (t) => checkHistories(t, casesOf('history'), memoryStorage()));

const sessionNo = (number: number): Session => ({ HR_night: [60], sleepTimeSeconds: number });
const nightNo = (day: number): string => new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10);
const DAYS = Array.from({ length: 20 }, (_, day) => day);

/** A client that keeps what it was asked; its history is the nights, one after the other. */
function recordingClient() {
  const requests: PredictionRequestBody[] = [];
  return {
    requests,
    async predict(request: PredictionRequestBody): Promise<Prediction> {
      requests.push(request);
      await new Promise((resolve) => setImmediate(resolve));
      const { history, night } = request;
      const next = `${history || 'acu1.'} ${night}`;
      const about = { modelVersion: '1', requestId: 'r', inferenceTimeMs: 0, headers: {} };
      return { scores: SCORES, ...about, history: next };
    },
  };
}

t.test('calls for one person wait for each other, so that each is sent once', async (t) => {
  const client = recordingClient();
  const storage = memoryStorage();
  const history = new History(client, storage);
  await Promise.all(DAYS.map((day) => history.score('a', sessionNo(day), { night: nightNo(day) })));
  t.equal(client.requests.length, DAYS.length);
  t.equal(await storage.load('a'), ['acu1.', ...DAYS.map(nightNo)].join(' '));
  t.equal(await storage.load('b'), undefined);
});

t.test('five processes that score one person at once lose no night', async (t) => {
  const client = recordingClient();
  const storage = memoryStorage();
  const processes = Array.from({ length: 5 }, () => new History(client, storage));
  await Promise.all(
    DAYS.map((day) => processes[day % 5]?.score('a', sessionNo(day), { night: nightNo(day) })),
  );
  t.ok(client.requests.length > DAYS.length, 'some were scored again');
  const nights = String(await storage.load('a'))
    .split(' ')
    .slice(1);
  t.strictSame(nights.toSorted(), DAYS.map(nightNo));
});

t.test('a storage that fails, or says nothing, holds up no other call', async (t) => {
  const client = recordingClient();
  const full = { load: async () => undefined, save: () => Promise.reject(new Error('full')) };
  const history = new History(client, full);
  await t.rejects(history.score('a', sessionNo(1)), { message: 'full' });
  await t.rejects(history.score('a', sessionNo(1)), { message: 'full' });
  const mute = { load: async () => undefined, save: async () => undefined as unknown as boolean };
  await t.rejects(new History(client, mute).score('a', sessionNo(1)), { message: /gives true or false/ });
  t.equal(client.requests.length, 3);
});

interface SlipCase {
  readonly name: string;
  readonly request: PredictionRequestBody;
  readonly meant: readonly { readonly name: string; readonly meant: string }[];
}

t.test('slips', async (t) => {
  for (const { name, request, meant } of casesOf<SlipCase>('slips')) {
    const told = [...slipsIn(request)].map(({ path, meant }) => ({ name: path.split('.').at(-1), meant }));
    t.strictSame(told, meant, name);
  }
});

interface ServiceCase {
  readonly name: string;
  readonly request: PredictionRequestBody;
  readonly expect: { readonly scored?: true; readonly findings?: readonly Named[] };
}

t.test('the real service', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_QUEUE_MAX: '256' },
    keys: [{ kind: 'demo', ratePerS: 10, dailyMax: null }],
  });
  const url = `http://127.0.0.1:${server.port}`;
  const statuses = new Set<number>();
  class Told extends NodeTransport {
    override async send(request: Outgoing): Promise<Incoming> {
      const answer = await super.send(request);
      statuses.add(answer.status);
      return answer;
    }
  }
  const [client, slow = client] = server.keys.map(({ key }) => {
    const client = new AcuityClient({ url, apiKey: key, transport: new Told(32) });
    t.teardown(() => client.close());
    return client;
  });
  if (client === undefined || slow === undefined) throw new Error('two keys');
  for (const { name, request, expect } of casesOf<ServiceCase>('service')) {
    const outcome: unknown = await client.predict(request).catch((caught: unknown) => caught);
    if (expect.scored) t.match(outcome, { scores: { C_SCORE: Number }, modelVersion: /./ }, name);
    else {
      const { findings } = outcome as errors.InvalidRequestError;
      const found = findings.map(({ loc, type }) => ({ loc, type }));
      t.strictSame(found, expect.findings, name);
    }
  }
  // Lists beyond the queue are split by the number in the refusal; a small bucket gets smaller lists, and time.
  for (const [by, count, listMax, told] of [
    [client, 500, 500, 422],
    [slow, 25, 100, 429],
  ] as const) {
    const requests = Array.from({ length: count }, (_, age) => ({ current_session: { age: age % 90 } }));
    let expected = 0;
    for await (const { index, prediction } of by.predictMany(requests, { listMax })) {
      t.equal(index, expected++);
      if (prediction === undefined) t.fail(`no scores for ${index}`);
      if (index % 100 !== 7) continue;
      const { scores } = await client.predict(requests[index] ?? REQUEST);
      t.strictSame(prediction?.scores, scores, 'as alone');
    }
    t.equal(expected, count);
    t.ok(statuses.has(told));
  }
});
