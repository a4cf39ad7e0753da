import t from 'tap';
import {
  AcuityClient,
  History,
  HistoryInvalidError,
  InvalidRequestError,
  KeyRejectedError,
  memoryStorage,
  RateLimitedError,
  RequestTooLargeError,
  WrongAddressError,
  type RetryReport,
  type Session,
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

  await t.test('refusals are told apart', async (t) => {
    await t.rejects(client.predict({ current_session: { age: 131 } }), InvalidRequestError);
    await t.rejects(
      clientWith(`sk_live_${'0'.repeat(38)}`).predict({ current_session: {} }),
      KeyRejectedError,
      memoryStorage,
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
      onRetry: (wait) => void waits.push(wait),
    });
    t.teardown(() => patient.close());
    for (let count = 0; count < 3; count++) await patient.predict({ current_session: {} });
    t.ok(waits.length > 0 && waits.every(({ status, pauseMs }) => status === 429 && pauseMs >= 1_000));
    const quota = clientWith(few?.key ?? '', 4);
    await quota.predict({ current_session: {} });
    await t.rejects(quota.predict({ current_session: {} }), RateLimitedError);
  });

  const dateOf = (day: number): string => `2025-01-${String(day).padStart(2, '0')}`;
  const night = (day: number): Session => ({ HR_night: [58 + day, 57, 56], age: 40, sex: 'F' });
  const BAD: Session = { HR_night: [72, 71, 70], sleepTimeSeconds: 10_800, age: 40, sex: 'F' };
  const scoreNights = async (history: History, days: readonly number[]): Promise<void> => {
    for (const day of days) {
      await history.score('a', night(day), { night: dateOf(day) });
    }
  };

  await t.test('a bad night that is scored hourly for a day stays one night', async (t) => {
    const storage = memoryStorage();
    const history = new History(client, storage);
    await scoreNights(history, [1, 2, 3, 4, 5, 6]);
    const attention = new Set<number>();
    const stored = new Set<unknown>();
    for (let hour = 0; hour < 24; hour++) {
      attention.add((await history.score('a', BAD, { night: dateOf(7) })).scores.attention);
      stored.add(await storage.load('a'));
    }
    t.equal(attention.size, 1);
    t.equal(stored.size, 1);
  });

  await t.test('a night that comes late is judged against what was before it', async (t) => {
    const [storage, inOrder] = [memoryStorage(), memoryStorage()];
    await scoreNights(new History(client, storage), [1, 2, 4, 3]);
    await scoreNights(new History(client, inOrder), [1, 2, 3]);
    const [late, known] = [storage, inOrder].map((one) => new History(client, one));
    const next = (history: History | undefined, day: number) =>
      history?.score('a', night(day), { night: dateOf(3) });
    t.strictSame((await next(late, 3))?.scores, (await next(known, 3))?.scores);
  });

  await t.test('a damaged history is reported, and kept', async (t) => {
    const storage = memoryStorage();
    await scoreNights(new History(client, storage), [1]);
    const damaged = String(await storage.load('a')).replace(/.$/, '!');
    await storage.save('b', damaged, undefined);
    const history = new History(client, storage);
    const scoring = history.score('b', night(2), { night: dateOf(2) });
    await t.rejects(scoring, HistoryInvalidError);
    t.equal(await storage.load('b'), damaged);
    await history.forget('b');
    t.match(await history.score('b', night(2)), { history: /^acu1[.]/ });
  });
});
