import t from 'tap';
import type { Prediction } from '#acuity/client/answer.js';
import { History, memoryStorage, type HistoryEntry } from '#acuity/client/history.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { PredictionRequestBody, ScoreRecord, Session } from '#acuity/contract/request.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';

const DAY_MS = 86_400_000;
const NEW_YEAR = Date.UTC(2025, 0, 1, 7);

/** Scores that tell which session they were given for: `attention` is its sleep time over a thousand. */
function scoresOf(session: Session): ScoreRecord {
  const attention = (session.sleepTimeSeconds ?? 0) / 1000;
  return { C_SCORE: 50, attention, memory: 50, reasoning: 50, stress: 50, valence: 'High', arousal: 'Low' };
}

const sessionNo = (number: number): Session => ({ HR_night: [60], sleepTimeSeconds: number });

/** A client that keeps what it was asked. */
function recordingClient(modelVersion = '1') {
  const requests: PredictionRequestBody[] = [];
  return {
    requests,
    async predict(request: PredictionRequestBody): Promise<Prediction> {
      requests.push(request);
      await new Promise((resolve) => setImmediate(resolve));
      return { scores: scoresOf(request.current_session), modelVersion, requestId: 'r', inferenceTimeMs: 0 };
    },
  };
}

const numbersOf = ({ past_sessions }: PredictionRequestBody): unknown[] =>
  (past_sessions ?? []).map(({ sleepTimeSeconds }) => sleepTimeSeconds);

t.test('a first session has no history, the next has it', async (t) => {
  const client = recordingClient('model-7');
  const history = new History(client, memoryStorage());
  await history.score('a', NEW_YEAR, sessionNo(1));
  await history.score('a', NEW_YEAR + DAY_MS, sessionNo(2));
  t.strictSame(client.requests, [
    { current_session: sessionNo(1) },
    { current_session: sessionNo(2), past_sessions: [sessionNo(1)], past_targets: [scoresOf(sessionNo(1))] },
  ]);
  t.match(await history.entries('a'), [
    { at: '2025-01-01T07:00:00.000Z', modelVersion: 'model-7', session: sessionNo(1) },
    { at: '2025-01-02T07:00:00.000Z', scores: scoresOf(sessionNo(2)) },
  ]);
});

t.test('a year of a hundred people: never a mismatch, never more than five, oldest first', async (t) => {
  const people = 100;
  const readRequest = createReader(DEFAULT_SERIES_LIMITS);
  const sent = new Map<number, number[]>();
  let refused = 0;
  let mismatched = 0;
  let disordered = 0;
  const client = {
    async predict(request: PredictionRequestBody): Promise<Prediction> {
      const { current_session: session, past_sessions: past = [], past_targets: targets = [] } = request;
      if (isBodyProblem(readRequest(Buffer.from(JSON.stringify(request))))) refused++;
      // The number of a session tells person and day: person × 1000 + day.
      const number = session.sleepTimeSeconds ?? 0;
      const person = Math.floor(number / 1000);
      const before = sent.get(person) ?? [];
      const numbers = past?.map(({ sleepTimeSeconds }) => sleepTimeSeconds ?? -1) ?? [];
      const ofTargets = targets?.map(({ attention }) => Math.round(attention * 1000)) ?? [];
      if (JSON.stringify(numbers) !== JSON.stringify(ofTargets)) mismatched++;
      if (JSON.stringify(numbers) !== JSON.stringify(before.slice(-5))) disordered++;
      sent.set(person, [...before, number].slice(-5));
      return { scores: scoresOf(session), modelVersion: '1', requestId: 'r', inferenceTimeMs: 0 };
    },
  };
  const history = new History(client, memoryStorage());
  let scored = 0;
  for (let day = 0; day < 365; day++) {
    const today: Promise<unknown>[] = [];
    for (let person = 0; person < people; person++) {
      if ((person * 7 + day * 13) % 10 === 0) continue; // nobody wears a watch every night
      scored++;
      today.push(history.score(`person-${person}`, NEW_YEAR + day * DAY_MS, sessionNo(person * 1000 + day)));
    }
    await Promise.all(today);
  }
  t.equal(scored, 32_850);
  t.strictSame({ refused, mismatched, disordered }, { refused: 0, mismatched: 0, disordered: 0 });
});

t.test('calls for one person wait for each other, those for several do not', async (t) => {
  const client = recordingClient();
  const history = new History(client, memoryStorage());
  const days = [0, 1, 2, 3, 4, 5, 6];
  await Promise.all(days.map((day) => history.score('a', NEW_YEAR + day * DAY_MS, sessionNo(day))));
  t.strictSame(client.requests.map(numbersOf), [
    [],
    [0],
    [0, 1],
    [0, 1, 2],
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4],
    [1, 2, 3, 4, 5],
  ]);
  t.equal((await history.entries('b')).length, 0);
});

t.test('a session that is scored again replaces itself and is no history of its own', async (t) => {
  const client = recordingClient();
  const history = new History(client, memoryStorage());
  await history.score('a', NEW_YEAR, sessionNo(1));
  await history.score('a', new Date(NEW_YEAR), sessionNo(2));
  t.strictSame(client.requests.map(numbersOf), [[], []]);
  t.match(await history.entries('a'), [{ session: sessionNo(2) }]);
});

t.test('an older session that comes late sees only what was before it', async (t) => {
  const client = recordingClient();
  const history = new History(client, memoryStorage());
  for (const day of [1, 3, 2]) await history.score('a', NEW_YEAR + day * DAY_MS, sessionNo(day));
  t.strictSame(numbersOf(client.requests[2] ?? { current_session: {} }), [1]);
  t.strictSame(
    (await history.entries('a')).map(({ session }) => session.sleepTimeSeconds),
    [1, 2, 3],
  );
});

t.test('a storage that gives back too much, or in another order, does no harm', async (t) => {
  const client = recordingClient();
  const entries = [5, 1, 4, 2, 6, 3].map((day): HistoryEntry => ({
    at: new Date(NEW_YEAR + day * DAY_MS).toISOString(),
    modelVersion: '1',
    session: sessionNo(day),
    scores: scoresOf(sessionNo(day)),
  }));
  const history = new History(client, { load: async () => entries, save: async () => undefined });
  await history.score('a', NEW_YEAR + 9 * DAY_MS, sessionNo(9));
  t.strictSame(client.requests.map(numbersOf), [[2, 3, 4, 5, 6]]);
});

t.test('what could not be scored is not kept, and holds nobody up', async (t) => {
  const client = recordingClient();
  const storage = memoryStorage();
  const failing = new History({ predict: () => Promise.reject(new Error('no')) }, storage);
  await t.rejects(failing.score('a', NEW_YEAR, sessionNo(1)), { message: 'no' });
  await t.rejects(failing.score('a', NEW_YEAR, sessionNo(1)), { message: 'no' });
  t.strictSame(await new History(client, storage).entries('a'), []);
  const full = { load: async () => [], save: () => Promise.reject(new Error('full')) };
  await t.rejects(new History(client, full).score('a', NEW_YEAR, sessionNo(1)), { message: 'full' });
});

t.test('a person can be forgotten', async (t) => {
  const history = new History(recordingClient(), memoryStorage());
  await history.score('a', NEW_YEAR, sessionNo(1));
  await history.forget('a');
  t.strictSame(await history.entries('a'), []);
});

t.test('a moment in seconds is refused before anything is sent', async (t) => {
  const client = recordingClient();
  const scoring = new History(client, memoryStorage()).score('a', NEW_YEAR / 1000, sessionNo(1));
  await t.rejects(scoring, { message: /looks like seconds/ });
  t.equal(client.requests.length, 0);
});
