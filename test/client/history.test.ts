import t from 'tap';
import type { Prediction } from '#acuity/client/answer.js';
import type { PredictionRequestBody, Session } from '#acuity/client/contract.js';
import { History, memoryStorage } from '#acuity/client/history.js';
import { SCORES } from '../fixtures/sharedCases.js';

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

t.test('a storage in memory takes only what follows on what it holds', async (t) => {
  const storage = memoryStorage();
  t.equal(await storage.save('a', 'one', undefined), true);
  t.equal(await storage.save('a', 'two', undefined), false);
  t.equal(await storage.save('a', 'two', 'one'), true);
  t.equal(await storage.save('a', undefined, 'one'), false);
  t.equal(await storage.load('a'), 'two');
  t.equal(await storage.save('a', undefined, 'two'), true);
  t.equal(await storage.load('a'), undefined);
});
