import { readFileSync, readdirSync } from 'node:fs';
import t from 'tap';
import { send } from '../fixtures/connection.js';
import { LONG_PROVIDERS, longRecording } from '../fixtures/longRecordings.js';
import { textOf } from '../fixtures/repository.js';
import { CLEAN, startServer, type RunningServer } from '../fixtures/server.js';
import { skipElsewhere as skip } from '../fixtures/stops.js';
import { until } from '../fixtures/until.js';

/** Recordings that a stranger sends to a running server: none ends it, or costs the next caller anything. */

const { oura } = JSON.parse(textOf('assets/try/recordings.json')) as Readonly<Record<string, object>>;
const SOUND = JSON.stringify({ current_session: { recording: oura } });
const COUNTS = [300_000, 524_289, 580_000, 600_000, 1_000_000, 1_900_000];

t.test('so many numbers from a demo key are read or refused, and the next recording is scored', async (t) => {
  const bodies = LONG_PROVIDERS.flatMap((provider) => COUNTS.map((count) => [provider, count] as const));
  const server = await startServer(t, { keys: bodies.map(() => ({ kind: 'demo' })) });
  for (const [index, [provider, count]] of bodies.entries()) {
    const key = server.keys[index + 1]?.key;
    const { status, body } = await server.predict(longRecording(provider, count), key);
    t.ok(status === 200 || status === 422, `${provider}, ${count}: ${status}`);
    if (count > 400_000) t.match(JSON.parse(body), { detail: [{ type: 'too_long', msg: /400000 values/ }] });
    t.equal((await server.predict(SOUND)).status, 200);
  }
  const origin = `http://127.0.0.1:${server.adminPort}`;
  const tried = await send(server.adminPort, {
    target: '/try/score',
    headers: { Host: `127.0.0.1:${server.adminPort}`, Origin: origin, 'Content-Type': 'application/json' },
    body: longRecording('oura', 520_000),
  });
  t.equal(tried.status, 422, 'and on the page /try');
  t.equal(await server.metric('acuity_recording_thread_restarts_total'), 0);
  t.strictSame(await server.stop(), CLEAN);
});

/** The server's children. */
function childrenOf({ pid }: RunningServer): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
}

t.test('a reader that is killed costs one recording, and one line of the log', { skip }, async (t) => {
  const server = await startServer(t);
  t.equal((await server.predict(SOUND)).status, 200);
  for (const reader of childrenOf(server)) process.kill(reader, 'SIGKILL');
  await until(() => server.output().includes('the reader of recordings is lost'));
  t.equal((await server.predict(SOUND)).status, 200);
  const lines = server.output().trim().split('\n');
  const told = lines.filter((line) => line.includes('reader of recordings'));
  t.match(JSON.parse(`[${told.join()}]`), [{ level: 'error', reason: 'it ended with SIGKILL' }]);
  t.strictSame(await server.stop(), CLEAN);
});

t.test('Ctrl-C in a terminal: the recording in flight is answered', { skip }, async (t) => {
  const server = await startServer(t, { under: ['setsid'], env: { ACUITY_HTTP_THREADS: '1' } });
  t.equal((await server.predict(SOUND)).status, 200);
  const readers = childrenOf(server);
  t.equal(readers.length, 1);
  for (const reader of readers) process.kill(reader, 'SIGSTOP');
  const inFlight = server.predict(SOUND);
  await until(async () => (await server.metric('acuity_recordings_pending')) === 1);
  process.kill(-server.pid, 'SIGINT'); // to the whole group
  await until(async () => (await server.get('/readyz')).status === 503);
  for (const reader of readers) process.kill(reader, 'SIGCONT');
  t.equal((await inFlight).status, 200);
  t.strictSame(await server.exited, CLEAN);
  await until(() => !readers.some(isAlive)); // what is left of it is the system's to take away
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
