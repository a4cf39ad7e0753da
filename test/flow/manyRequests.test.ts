import t from 'tap';
import {
  AcuityClient,
  NodeTransport,
  type Incoming,
  type Outcome,
  type Outgoing,
  type PredictionRequestBody,
  type PredictManyOptions,
} from 'acuity/client';
import { startServer } from '../fixtures/server.js';

const requestOf = (number: number): PredictionRequestBody => ({
  current_session: { HR_night: [50 + (number % 30), 57, 58], age: 20 + (number % 60) },
});
const requestsOf = (count: number): PredictionRequestBody[] =>
  Array.from({ length: count }, (_, number) => requestOf(number));

t.test('lists of the client and the running service', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_BODY_MAX_BYTES: '200000', ACUITY_QUEUE_MAX: '256' },
    keys: [{ kind: 'demo', ratePerS: 10, dailyMax: null }],
  });
  const url = `http://127.0.0.1:${server.port}`;
  const attempts: number[] = [];
  class Told extends NodeTransport {
    override async send(request: Outgoing): Promise<Incoming> {
      const answer = await super.send(request);
      attempts.push(answer.status);
      return answer;
    }
  }

  async function scored(
    requests: readonly PredictionRequestBody[],
    options: PredictManyOptions = {},
    apiKey = server.key,
  ): Promise<Outcome<number>[]> {
    attempts.length = 0;
    const client = new AcuityClient({ url, apiKey, transport: new Told(32) });
    t.teardown(() => client.close());
    const outcomes: Outcome<number>[] = [];
    for await (const outcome of client.predictMany(requests, options)) outcomes.push(outcome);
    t.strictSame(
      outcomes.map(({ index }) => index),
      requests.map((_, index) => index),
    );
    return outcomes;
  }
  const statuses = (): Set<number> => new Set(attempts);
  const areAllScored = (outcomes: readonly Outcome<number>[]): boolean =>
    outcomes.every(({ error }) => error === undefined);

  await t.test('each request has the scores that it has alone', async (t) => {
    const outcomes = await scored(requestsOf(250));
    t.equal(attempts.length, 3);
    const client = new AcuityClient({ url, apiKey: server.key });
    t.teardown(() => client.close());
    for (const { index, prediction } of outcomes) {
      const { scores, modelVersion } = await client.predict(requestOf(index));
      t.strictSame([prediction?.scores, prediction?.modelVersion], [scores, modelVersion]);
    }
  });

  await t.test('a list that the queue can’t hold is split by the number in the refusal', async (t) => {
    t.ok(areAllScored(await scored(requestsOf(500), { listMax: 500 })));
    t.ok(statuses().has(422));
  });

  await t.test('a key with a small bucket gets smaller lists, and waits for Retry-After', async (t) => {
    const key = server.keys[1]?.key ?? '';
    t.ok(areAllScored(await scored(requestsOf(50), {}, key)));
    t.ok(statuses().has(422) && statuses().has(429));
  });
});
