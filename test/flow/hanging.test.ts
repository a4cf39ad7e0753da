import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send } from '../fixtures/connection.js';
import { runServer, type Exit, type RunningServer, type ServerOptions } from '../fixtures/server.js';
import {
  endOf,
  FAULTY,
  floodWithLines,
  loopsOf,
  makePipe,
  pipe,
  predict,
  skipElsewhere,
  SLOW_THREADS,
  startToStop,
  terminate,
  troubled,
} from '../fixtures/stops.js';
import { PIPE_VARIABLE } from '../fixtures/troubles.js';

/*
 * Odd stops: nothing holds them up for long. Even if something hangs, the process has ended at the latest two seconds
 * after the drain, with the exit code that docs/OPERATIONS.md promises.
 */

const CLEAN: Exit = { code: 0, signal: null };
const DEFECT: Exit = { code: 70, signal: null };
const KILLED: Exit = { code: null, signal: 'SIGKILL' };
/** By the second signal, SIGTERM or SIGINT; shells show the same code for a process that a signal ended. */
const isSecondSignal = ({ code, signal }: Exit): boolean =>
  [128 + 15, 128 + 2].includes(code ?? 0) || ['SIGTERM', 'SIGINT'].includes(signal ?? '');

interface Case {
  readonly name: string;
  start(t: Test): Promise<RunningServer>;
  before?(server: RunningServer): Promise<unknown>;
  act?(server: RunningServer): void;
  readonly exit: Exit | ((exit: Exit) => boolean);
}

async function onFullDisk(start: (stdout: number) => Promise<RunningServer>): Promise<RunningServer> {
  const full = openSync('/dev/full', 'w');
  const server = await start(full);
  closeSync(full);
  return server;
}

/** Its log goes into a pipe that is not read, or whose reader has gone. */
async function onPipe(
  t: Test,
  loops: number,
  hasReader: boolean,
  options: ServerOptions = {},
): Promise<RunningServer> {
  const { reading, writing } = pipe(t);
  const env = { ACUITY_ACCESS_LOG_EVERY: '1', ...options.env };
  const server = await startToStop(t, loops, { ...options, stdout: writing, env });
  closeSync(writing);
  if (hasReader) t.teardown(() => closeSync(reading));
  else closeSync(reading);
  return server;
}

const ask = (server: RunningServer, age: number): void => void predict(server, age).catch(() => undefined);

function secondSignal(server: RunningServer): void {
  server.signal('SIGTERM');
  server.signal('SIGINT');
}

const CASES: readonly Case[] = [
  {
    name: 'a log whose reader has gone',
    start: (t) => onPipe(t, 2, false),
    before: (server) => predict(server),
    exit: CLEAN,
  },
  {
    name: 'a log whose reader reads no more, and a flood of lines',
    start: (t) => onPipe(t, 1, true),
    before: floodWithLines,
    exit: CLEAN,
  },
  {
    name: 'threads that start slowly, on a full disk, and the workers of another model that start',
    start: (t) => onFullDisk((stdout) => startToStop(t, 2, { stdout, nodeOptions: SLOW_THREADS })),
    before: async (server) => {
      server.signal('SIGHUP');
      await predict(server);
    },
    exit: CLEAN,
  },
  {
    name: 'a drain that a hanging run outlasts, on a full disk',
    start: (t) =>
      onFullDisk((stdout) =>
        startToStop(t, 1, { stdout, nodeOptions: FAULTY, env: { [PIPE_VARIABLE]: makePipe(t) } }),
      ),
    before: async (server) => {
      ask(server, BAD_AGES.hangs);
      // Two requests and their answers later, the worker has the first one.
      await send(server.port, { target: '/other' });
      await send(server.port, { target: '/other' });
    },
    exit: DEFECT,
  },
  {
    name: 'a worker that hangs, and a log without a reader',
    start: (t) => {
      const env = { [PIPE_VARIABLE]: makePipe(t), ACUITY_HANG_MS: '500' };
      return onPipe(t, 2, true, { nodeOptions: FAULTY, env });
    },
    before: floodWithLines,
    act: (server) => ask(server, BAD_AGES.hangs),
    exit: DEFECT,
  },
  {
    name: 'a defect, on a full disk',
    start: (t) => onFullDisk((stdout) => startToStop(t, 2, { stdout, nodeOptions: troubled('defect') })),
    act: (server) => server.signal('SIGUSR2'),
    exit: DEFECT,
  },
  {
    name: 'a main event loop that hangs',
    start: (t) => startToStop(t, 2, { nodeOptions: troubled('loop-hangs') }),
    exit: KILLED,
  },
  {
    name: 'a file operation for which exit would wait for ever',
    start: (t) =>
      startToStop(t, 1, { nodeOptions: troubled('pool-hangs'), env: { [PIPE_VARIABLE]: makePipe(t) } }),
    before: (server) => predict(server),
    exit: KILLED,
  },
  {
    name: 'a second signal while the workers of another model start',
    start: (t) => startToStop(t, 2, { nodeOptions: SLOW_THREADS }),
    before: async (server) => {
      server.signal('SIGHUP');
      await predict(server);
    },
    act: secondSignal,
    exit: isSecondSignal,
  },
];

for (const { name, start, before, act, exit } of CASES) {
  t.test(name, { skip: skipElsewhere }, async (t) => {
    const server = await start(t);
    await before?.(server);
    const ended = await endOf(server, act === undefined ? terminate(server) : () => act(server));
    if (typeof exit === 'function') t.ok(exit(ended), JSON.stringify(ended));
    else t.strictSame(ended, exit);
  });
}

t.test('a signal during the start', async (t) => {
  const keys = { ACUITY_KEYS: `file:${join(t.testdir(), 'keys.json')}` };
  const server = runServer({
    nodeOptions: troubled('signal-at-start'),
    env: { ...keys, ...loopsOf(2) },
  });
  const { code, signal } = await server.exited;
  // Where the start takes long, the process ends by the signal itself.
  t.ok(code === 128 + 15 || signal === 'SIGTERM', `${code} ${signal}`);
  t.notMatch(server.output(), '"listening"');
});
