import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { Connection, send, sendOn } from '../fixtures/connection.js';
import { PIPE_VARIABLE as WORKER_PIPE } from '../fixtures/faultyWorkers.js';
import { REPOSITORY } from '../fixtures/repository.js';
import type { Exit, RunningServer } from '../fixtures/server.js';
import {
  endOf,
  FAULTY,
  floodWithLines,
  loopsOf,
  makePipe,
  pipe,
  predict,
  serverEnvironment,
  skipElsewhere,
  SLOW_THREADS,
  startToStop,
  terminate,
  TROUBLED,
  troubled,
} from '../fixtures/stops.js';
import { PIPE_VARIABLE, TROUBLE_VARIABLE } from '../fixtures/troubles.js';

/*
 * Even if something hangs, the process has ended at the latest two seconds after the drain, with the exit code that
 * docs/operations/stop.md promises.
 */

const skip = skipElsewhere;

t.test('a drain that a hanging run outlasts, on a full disk', { skip }, async (t) => {
  const full = openSync('/dev/full', 'w');
  const env = { [WORKER_PIPE]: makePipe(t) };
  const server = await startToStop(t, 1, { stdout: full, nodeOptions: FAULTY, env });
  closeSync(full);
  const hung = predict(server, BAD_AGES.hangs).catch((error: unknown) => error);
  // Two requests and their answers later, the worker has the first one.
  await send(server.port, { target: '/other' });
  await send(server.port, { target: '/other' });
  t.strictSame(await endOf(t, server, terminate(server)), { code: 70, signal: null });
  t.ok((await hung) instanceof Error);
});

t.test('a worker that hangs, and a log without a reader', { skip }, async (t) => {
  const { reading, writing } = pipe(t);
  const env = { [WORKER_PIPE]: makePipe(t), ACUITY_HANG_MS: '500', ACUITY_ACCESS_LOG_EVERY: '1' };
  const server = await startToStop(t, 2, { stdout: writing, nodeOptions: FAULTY, env });
  closeSync(writing);
  await floodWithLines(server);
  const hang = (): void => void predict(server, BAD_AGES.hangs).catch(() => undefined);
  t.strictSame(await endOf(t, server, hang), { code: 70, signal: null });
  closeSync(reading);
});

t.test('a defect, on a full disk', { skip }, async (t) => {
  const full = openSync('/dev/full', 'w');
  const server = await startToStop(t, 2, { stdout: full, ...troubled('defect') });
  closeSync(full);
  const act = (): void => server.signal('SIGUSR2');
  t.strictSame(await endOf(t, server, act), { code: 70, signal: null });
});

t.test('a main event loop that hangs is killed', async (t) => {
  const server = await startToStop(t, 2, troubled('loop hangs'));
  t.strictSame(await endOf(t, server, terminate(server)), { code: null, signal: 'SIGKILL' });
});

t.test('a file operation for which exit would wait for ever', { skip }, async (t) => {
  const server = await startToStop(t, 1, troubled('pool hangs', { [PIPE_VARIABLE]: makePipe(t) }));
  t.equal(await predict(server), 200);
  t.strictSame(await endOf(t, server, terminate(server)), { code: null, signal: 'SIGKILL' });
});

t.test('a second signal under load', async (t) => {
  const server = await startToStop(t, 2, { env: { ACUITY_ACCESS_LOG_EVERY: '10' } });
  const load = Array.from({ length: 16 }, () => hammer(server));
  while (!server.output().includes('"request served"')) await send(server.port, { target: '/other' });
  const exit = await endOf(t, server, () => {
    server.signal('SIGTERM');
    server.signal('SIGINT');
  });
  // Either may be the second one.
  t.ok(exit.code === 128 + 15 || exit.code === 128 + 2, JSON.stringify(exit));
  await Promise.all(load);
});

for (const loops of [1, 2]) {
  t.test(`a second signal while the workers of another model start: ${loops} event loops`, async (t) => {
    const server = await startToStop(t, loops, { nodeOptions: SLOW_THREADS });
    server.signal('SIGHUP');
    // They are being made by then, on any machine that is not too busy for that.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const exit = await endOf(t, server, () => {
      server.signal('SIGTERM');
      server.signal('SIGINT');
    });
    // Where they take long, the process ends by the signal itself: shells show the same code.
    const [code, signal] = [exit.code ?? 0, exit.signal ?? ''];
    t.ok([128 + 15, 128 + 2].includes(code) || ['SIGTERM', 'SIGINT'].includes(signal), JSON.stringify(exit));
  });
}

/** Asks without pause until the connection ends. */
async function hammer({ port, key }: RunningServer): Promise<void> {
  const connection = await Connection.open(port);
  const asked = { headers: { 'X-API-Key': key }, body: '{"current_session":{}}' };
  try {
    for (;;) await sendOn(connection, asked);
  } catch {
    connection.destroy(); // the server has left
  }
}

for (const loops of [1, 2]) {
  t.test(`a signal during the start: ${loops} event loops`, async (t) => {
    const { output, exited } = startAlone(t, { ...loopsOf(loops), [TROUBLE_VARIABLE]: 'signal at start' });
    const exit = await exited;
    // Where the start takes long, the process ends by the signal itself: shells show the same code.
    t.ok(exit.code === 128 + 15 || exit.signal === 'SIGTERM', JSON.stringify(exit));
    t.notMatch(output(), '"listening"');
  });
}

function startAlone(t: Test, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [...TROUBLED, join(REPOSITORY, 'dist/main.js'), 'serve'], {
    env: serverEnvironment(t, env),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Exit);
  return { output: () => text, exited };
}
