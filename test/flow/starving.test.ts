import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { running } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';
import { FAULTY, loopsOf, makePipe, skipElsewhere } from '../fixtures/stops.js';
import { PIPE_VARIABLE } from '../fixtures/troubles.js';
import { until } from '../fixtures/until.js';

/** Threads that starve beside busy processes, and among them one that really hangs. */

const HANG_MS = 1_000;
const BUSY = 12;
/** Long enough for a thread that starves to count as hung, if its waits counted. */
const STARVE_MS = 4 * HANG_MS;

/** It ends by itself too: this process may be killed. */
const BUSILY = 'for (const endMs = Date.now() + 90_000; Date.now() < endMs; );';

function keepMachineBusy(t: Test, processes: number): void {
  for (let busy = 0; busy < processes; busy++) running(t, [process.execPath, '-e', BUSILY]);
}

const bodyOf = (age: number, explain = false): string =>
  JSON.stringify({ current_session: { age }, explain });

for (const busy of [0, BUSY]) {
  for (const [kind, state] of [
    ['hangs', 'S'],
    ['loops', 'R'],
  ] as const) {
    const name = `a worker that ${kind} is found, beside ${busy} busy processes and a worker that starves`;
    t.test(name, { skip: skipElsewhere }, async (t) => {
      const server = await startServer(t, {
        nodeOptions: FAULTY,
        env: { [PIPE_VARIABLE]: makePipe(t), ACUITY_HANG_MS: String(HANG_MS), ...loopsOf(1) },
      });
      const ask = (body: string): Promise<unknown> => server.predict(body).catch(() => undefined);
      await ask(bodyOf(40, true)); // the worker for explanations has the lowest priority
      keepMachineBusy(t, busy);
      const explained = Array.from({ length: 20 }, async () => {
        while (!server.output().includes('"fatal"')) await Promise.all([ask(bodyOf(41, true)), pause(5)]);
      });
      await pause(STARVE_MS);
      t.notMatch(server.output(), '"fatal"', 'what starves does not hang');
      const startedMs = performance.now();
      void ask(bodyOf(BAD_AGES[kind]));
      await until(() => server.output().includes('a worker hangs'));
      t.comment(`found after ${Math.round(performance.now() - startedMs)} ms`);
      const exit = await server.exited;
      // A process that starves, beside processes of others too, may not come to its end in time, and is killed.
      const starves = busy > 0 || Number(loadavg()[0]) > BUSY;
      t.ok(exit.code === 70 || (starves && exit.signal === 'SIGKILL'), JSON.stringify(exit));
      t.comment(`gone after ${Math.round(performance.now() - startedMs)} ms`);
      await Promise.all(explained);
      const line = /\{.*a worker hangs.*/.exec(server.output())?.[0] ?? '{}';
      t.comment(line);
      t.match(JSON.parse(line), { thread: /^worker 1 for scores, \/proc\//, state, hangMs: HANG_MS });
    });
  }
}
