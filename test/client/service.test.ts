import t from 'tap';
import {
  AcuityClient,
  History,
  InvalidRequestError,
  KeyRejectedError,
  memoryStorage,
  RateLimitedError,
  RequestTooLargeError,
  WrongAddressError,
  type RetryReport,
} from 'acuity/client';
import { startServer } from '../fixtures/server.js';

t.test('the client and the running service', async (t) => {
  const server = await startServer(t, {
    env: { ACUITY_BODY_MAX_BYTES: '100000' },
    keys: [
      { kind: 'demo', ratePerS: 1, dailyMax: null },
      { kind: 'demo', ratePerS: null, dailyMax: 1 },
    ],
  });
  const url = `http://127.0.0.1:${server.port}`;
  const [, slow, few] = server.keys;
  const clientWith = (apiKey: string, retries = 0): AcuityClient => {
    const client = new AcuityClient({ url, apiKey, retry: { retries } });
    t.teardown(() => client.close());
    return client;
  };
  const client = clientWith(server.key);

  await t.test('scores come with the model’s version and our id', async (t) => {
    const prediction = await client.predict({ current_session: {} }, { requestId: 'mine-1' });
    t.match(prediction, { requestId: 'mine-1', modelVersion: /./, scores: { valence: /High|Low/ } });
    t.strictSame(Object.keys(prediction.scores).length, 7);
  });

  await t.test('many at once share the pool', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 300 }, () => client.predict({ current_session: {} })),
    );
    t.equal(new Set(answers.map(({ requestId }) => requestId)).size, 300);
  });

  await t.test('refusals are told apart', async (t) => {
    await t.rejects(client.predict({ current_session: { age: 131 } }), InvalidRequestError);
    await t.rejects(
      clientWith(`sk_live_${'0'.repeat(38)}`).predict({ current_session: {} }),
      KeyRejectedError,
    );
    const elsewhere = new AcuityClient({ url: `${url}/v1`, apiKey: server.key });
    t.teardown(() => elsewhere.close());
    await t.rejects(elsewhere.predict({ current_session: {} }), WrongAddressError);
    const long = { current_session: { HR_night: Array.from({ length: 40_000 }, () => 61) } };
    await t.rejects(client.predict(long), RequestTooLargeError);
  });

  await t.test('a limit of the moment is waited for, a daily quota is not', async (t) => {
    const waits: RetryReport[] = [];
    const patient = new AcuityClient({
      url,
      apiKey: slow?.key ?? '',
      hooks: { onRetry: (wait) => void waits.push(wait) },
    });
    t.teardown(() => patient.close());
    for (let count = 0; count < 3; count++) await patient.predict({ current_session: {} });
    t.ok(waits.length > 0 && waits.every(({ status, pauseMs }) => status === 429 && pauseMs >= 1_000));
    const quota = clientWith(few?.key ?? '', 4);
    await quota.predict({ current_session: {} });
    await t.rejects(quota.predict({ current_session: {} }), RateLimitedError);
  });

  await t.test('a history of the service’s own scores is accepted', async (t) => {
    const history = new History(client, memoryStorage());
    for (let day = 1; day <= 7; day++) {
      const at = `2025-01-0${day}T07:00:00Z`;
      await history.score('a', at, { HR_night: [58 + day, 57, 56], age: 40, sex: 'F' });
    }
    t.equal((await history.entries('a')).length, 5);
  });
});
