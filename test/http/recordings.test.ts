import t, { type Test } from 'tap';
import { systemClock } from '#acuity/base/clock.js';
import { HEAD_TOKENS, recordingTokens } from '#acuity/http/prices.js';
import type { RecordingQueueOptions } from '#acuity/http/recordings/recordingQueue.js';
import { Connection, send, sendOn } from '../fixtures/connection.js';
import { textOf } from '../fixtures/repository.js';
import { GOOD_KEY, answer, openLoop, recordingQueue } from '../fixtures/loop.js';
import { until } from '../fixtures/until.js';

/** Recordings at the door: what they cost, what is refused, and what becomes of them in their reader. */

/** A reader that starts on a busy machine takes longer than any that a caller would be given. */
const DEADLINE_MS = 30_000;
const headers = { 'X-API-Key': GOOD_KEY };

const { oura } = JSON.parse(textOf('assets/try/recordings.json')) as { readonly oura: object };

/** Its readers do what the name of a provider says. */
function scene(t: Test, queue: Partial<RecordingQueueOptions> = {}) {
  const recordings = recordingQueue(t, { deadlineMs: DEADLINE_MS, ...queue });
  const loop = openLoop(t, { recordings, deadlineMs: DEADLINE_MS });
  const post = (provider: string, beside = {}) => {
    const session = { recording: { provider, ...(provider === 'oura' ? oura : {}) }, ...beside };
    return send(loop.port, { headers, body: JSON.stringify({ current_session: session }) });
  };
  return { ...loop, recordings, post };
}

t.test('a recording is scored like its session, and the answer says what was read', async (t) => {
  const { post, scorer, spent, budget, lines } = scene(t);
  const reply = post('oura', { age: 34 });
  const handler = await scorer.next();
  t.equal(budget.heldBytes, 0, 'its body is in memory no longer');
  const latestMs = systemClock.monotonicMs() + DEADLINE_MS + 1;
  t.ok((handler.expiresMs ?? Infinity) < latestMs, 'the deadline holds for all of it');
  answer(handler);
  t.match((await reply).body, /"inference_time_ms":2,"recording":\{"at":"2026-\S+"left":\[\]\}\}$/);
  t.strictSame(spent, [recordingTokens(0) - HEAD_TOKENS]);
  t.equal(lines.at(-1)?.['recording'], 'oura');
});

t.test('what it costs is taken when it is handed over', async (t) => {
  t.strictSame([0, 2_048, 2_049, 4_194_304].map(recordingTokens), [6, 6, 7, 2_053]);
  const { post, scorer, spent } = scene(t);
  const reply = post('oura', { other: 'x'.repeat(100_000) });
  const handler = await scorer.next();
  // One with the head, one with the second block of 64 KiB, the rest now.
  t.strictSame(spent, [1, recordingTokens(101_000) - 2]);
  answer(handler);
  t.equal((await reply).status, 200);
});

t.test('beyond its places, a recording is refused', async (t) => {
  const { post, lines, recordings } = scene(t, { placesMax: 2 });
  void post('hang').catch(() => undefined);
  await until(() => recordings.pending === 1);
  const refused = await post('oura');
  t.equal(refused.status, 503);
  t.match(refused.headers.get('retry-after'), /\d/);
  t.equal(lines.at(-1)?.['cause'], 'recordingsOfKey');
});

t.test('one that takes its reader along is answered 500, and the next one scored', async (t) => {
  for (const provider of ['killed', 'fail']) {
    const { post, faults, scorer } = scene(t);
    t.equal((await post(provider)).status, 500);
    t.equal(faults.length, 1);
    const reply = post('oura');
    answer(await scorer.next());
    t.equal((await reply).status, 200);
  }
});

t.test('a caller that hangs up is not scored, and a stop waits for those that wait', async (t) => {
  const { recordings, port, post, predict, scorer } = scene(t);
  const connection = await Connection.open(port);
  const body = JSON.stringify({ current_session: { recording: { provider: 'oura' } } });
  void sendOn(connection, { headers, body }).catch(() => undefined);
  const other = post('oura');
  // Both wait for the reader to start.
  await until(() => recordings.pending === 2);
  connection.destroy();
  predict.drain();
  await recordings.drained();
  answer(await scorer.next());
  const { status, headers: answered } = await other;
  t.strictSame([status, answered.get('connection')], [200, 'close']);
});
