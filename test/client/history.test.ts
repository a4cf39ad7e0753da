import t from 'tap';
import type { Prediction } from '#acuity/client/answer.js';
import { AcuityClient } from '#acuity/client/client.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/client/contract.js';
import type { FormerEntry } from '#acuity/client/formerHistory.js';
import { History, memoryStorage } from '#acuity/client/history.js';

const DAY_MS = 86_400_000;
const NEW_YEAR = Date.UTC(2025, 0, 1, 7);
const SCORES: ScoreRecord = {
  C_SCORE: 50,
  attention: 50,
  memory: 50,
  reasoning: 50,
  stress: 50,
  valence: 'High',
  arousal: 'Low',
};

const sessionNo = (number: number): Session => ({ HR_night: [60], sleepTimeSeconds: number });
const nightNo = (day: number): string => new Date(NEW_YEAR + day * DAY_MS).toISOString().slice(0, 10);

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
      return { scores: SCORES, modelVersion: '1', requestId: 'r', inferenceTimeMs: 0, history: next };
    },
  };
}

t.test('calls for one person wait for each other, so that each is sent once', async (t) => {
  const client = recordingClient();
  const storage = memoryStorage();
  const history = new History(client, storage);
  const days = Array.from({ length: 20 }, (_, day) => day);
  await Promise.all(
    days.map((day) => history.score('a', NEW_YEAR + day * DAY_MS, sessionNo(day), { night: nightNo(day) })),
  );
  t.equal(client.requests.length, days.length);
  t.equal(await storage.load('a'), ['acu1.', ...days.map(nightNo)].join(' '));
  t.equal(await storage.load('b'), undefined);
});

t.test('five processes that score one person at once lose no night', async (t) => {
  const client = recordingClient();
  const storage = memoryStorage();
  const days = Array.from({ length: 20 }, (_, day) => day);
  const processes = Array.from({ length: 5 }, () => new History(client, storage));
  await Promise.all(
    days.map((day) =>
      processes[day % 5]?.score('a', NEW_YEAR + day * DAY_MS, sessionNo(day), { night: nightNo(day) }),
    ),
  );
  t.ok(client.requests.length > days.length, 'some were scored again');
  const nights = String(await storage.load('a'))
    .split(' ')
    .slice(1);
  t.strictSame(nights.toSorted(), days.map(nightNo));
});

t.test('a storage that gives the former list parsed is moved over, too', async (t) => {
  const client = recordingClient();
  const former: FormerEntry[] = [1, 2].map((day) => ({
    at: new Date(NEW_YEAR + day * DAY_MS).toISOString(),
    modelVersion: '1',
    session: sessionNo(day),
    scores: SCORES,
  }));
  let stored: unknown = former;
  const history = new History(client, {
    load: async () => former,
    save: async (_, next, previous) => {
      if (stored !== previous) return false;
      stored = next;
      return true;
    },
  });
  await history.score('a', NEW_YEAR + 3 * DAY_MS, sessionNo(3), { night: nightNo(3) });
  t.match(client.requests, [
    { history: '', past_sessions: [sessionNo(1), sessionNo(2)], past_targets: [SCORES, SCORES] },
  ]);
  t.equal(stored, `acu1. ${nightNo(3)}`);
});

t.test('a storage that fails, or is of the former kind, holds up no other call', async (t) => {
  const client = recordingClient();
  const full = { load: async () => undefined, save: () => Promise.reject(new Error('full')) };
  const history = new History(client, full);
  await t.rejects(history.score('a', NEW_YEAR, sessionNo(1)), { message: 'full' });
  await t.rejects(history.score('a', NEW_YEAR, sessionNo(1)), { message: 'full' });
  const former = { load: async () => undefined, save: async () => undefined as unknown as boolean };
  await t.rejects(new History(client, former).score('a', NEW_YEAR, sessionNo(1)), {
    message: /gives true or false/,
  });
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

t.test('a moment in seconds is refused before anything is sent', async (t) => {
  const client = recordingClient();
  const scoring = new History(client, memoryStorage()).score('a', NEW_YEAR / 1000, sessionNo(1));
  await t.rejects(scoring, { message: /looks like seconds/ });
  t.equal(client.requests.length, 0);
});

t.test('a request by itself is refused, too, where its night lies ahead', async (t) => {
  const client = new AcuityClient({ url: 'http://127.0.0.1:9', apiKey: `sk_live_${'a'.repeat(38)}` });
  t.teardown(() => client.close());
  const night = new Date(Date.now() + 2 * DAY_MS).toISOString().slice(0, 10);
  const ahead = client.predict({ current_session: {}, history: '', night });
  await t.rejects(ahead, { name: 'RangeError', message: /ahead of this machine's clock/ });
});
