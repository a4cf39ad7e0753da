import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { requestBody } from '../fixtures/bodies.js';
import { Connection, sendOn } from '../fixtures/connection.js';
import { Feed } from '../fixtures/feed.js';
import { copyModel, manifestOf, replaceFile, turnLink } from '../fixtures/model.js';
import { startServer } from '../fixtures/server.js';

/** What goes wrong is provoked, one thing after the other; the dashboard's first sentence has to name it. */

const FAULTY = ['--import', new URL('../fixtures/faultyWorkers.js', import.meta.url).href];
/** Often enough for a symptom, seldom enough to keep nothing busy. */
const PAUSE_MS = 20;

interface Caller {
  readonly key: string;
  readonly body: string;
  readonly pauseMs?: number;
}

/** Sends one request after the other until what is returned is called. */
function calling(port: number, { key, body, pauseMs = 0 }: Caller): () => Promise<void> {
  const stop = new AbortController();
  const headers = { 'X-API-Key': key };
  const run = async (): Promise<void> => {
    const connection = await Connection.open(port);
    while (!stop.signal.aborted) {
      await sendOn(connection, { headers, body });
      if (pauseMs > 0) await pause(pauseMs);
    }
    connection.destroy();
  };
  const running = run();
  running.catch(() => undefined); // told when it is awaited
  return async () => {
    stop.abort();
    await running;
  };
}

const aged = (age: number): string => {
  const { current_session } = requestBody(0);
  return JSON.stringify({ current_session: { ...current_session, age } });
};

t.test('the first sentence names the provoked symptom', async (t) => {
  const folder = t.testdir({ good: {}, bad: {} });
  const [good, bad] = ['good', 'bad'].map((name) => copyModel(join(folder, name)));
  if (good === undefined || bad === undefined) throw new Error('two folders');
  replaceFile(bad, manifestOf(bad).graphs.base.file, 'no graph');
  const link = join(folder, 'served');
  symlinkSync(good, link);
  const server = await startServer(t, {
    nodeOptions: FAULTY,
    env: { ACUITY_LOG_LEVEL: 'fatal', ACUITY_MODEL: link },
  });
  const { port, key } = server;
  const feed = await Feed.open(server.adminPort);
  t.teardown(() => feed.close());

  /** Calls, and goes on until the sentence is said. */
  const provoke = async (name: string, says: RegExp, callers: readonly Caller[]): Promise<void> => {
    await t.test(name, async (t) => {
      const ends = callers.map((caller) => calling(port, caller));
      try {
        const { diagnosis } = await feed.until(({ diagnosis }) => says.test(diagnosis.sentence));
        t.match(diagnosis.level, /^(amber|red)$/, diagnosis.sentence);
        t.ok(diagnosis.causes.length > 0);
      } finally {
        await Promise.all(ends.map((end) => end()));
      }
    });
  };

  await provoke('junk keys', /^Keys are not valid: \d+ % of the requests/, [
    { key: 'sk_live_nonsense', body: aged(40), pauseMs: PAUSE_MS },
  ]);
  await provoke('a lost worker', /^\d+ workers? lost/, [{ key, body: aged(BAD_AGES.exits), pauseMs: 500 }]);
  await refuse(t, { link, bad, feed });
  await t.test('the log has kept every symptom', async (t) => {
    const late = await Feed.open(server.adminPort);
    t.teardown(() => late.close());
    const { log = [] } = await late.until(({ log }) => log !== undefined);
    const ids = log.map(({ id }) => id);
    for (const id of ['keys', 'faults', 'modelRefused']) t.ok(ids.includes(id), id);
  });
});

async function refuse(
  t: Test,
  { link, bad, feed }: { readonly link: string; readonly bad: string; readonly feed: Feed },
): Promise<void> {
  await t.test('a refused model', async (t) => {
    turnLink(link, bad);
    const { diagnosis } = await feed.until(({ diagnosis }) =>
      diagnosis.sentence.startsWith('A new model was'),
    );
    t.match(diagnosis.sentence, /^A new model was refused: \S+ keeps serving\.$/);
    t.equal(diagnosis.level, 'amber');
  });
}
