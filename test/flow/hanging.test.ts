import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send } from '../fixtures/connection.js';
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
 * docs/OPERATIONS.md promises.
 */

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

const ask = (server: RunningServer, age: number): void => void predict(server, age).catch(() => undefined);

function secondSignal(server: RunningServer): void {
  server.signal('SIGTERM');
  server.signal('SIGINT');
}

const CASES: readonly Case[] = [
  {
    name: 'a drain that a hanging run outlasts, on a full disk',
    start: (t) =>
      onFullDisk((stdout) =>
        startToStop(t, 1, { stdout, nodeOptions: FAULTY, env: { [WORKER_PIPE]: makePipe(t) } }),
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
    start: async (t) => {
      const { reading, writing } = pipe(t);
      t.teardown(() => closeSync(reading));
      const env = { [WORKER_PIPE]: makePipe(t), ACUITY_HANG_MS: '500', ACUITY_ACCESS_LOG_EVERY: '1' };
      const server = await startToStop(t, 2, { stdout: writing, nodeOptions: FAULTY, env });
      closeSync(writing);
      return server;
    },
    before: floodWithLines,
    act: (server) => ask(server, BAD_AGES.hangs),
    exit: DEFECT,
  },
  {
    name: 'a defect, on a full disk',
    start: (t) => onFullDisk((stdout) => startToStop(t, 2, { stdout, ...troubled('defect') })),
    act: (server) => server.signal('SIGUSR2'),
    exit: DEFECT,
  },
  {
    name: 'a main event loop that hangs',
    start: (t) => startToStop(t, 2, troubled('loop hangs')),
    exit: KILLED,
  },
  {
    name: 'a file operation for which exit would wait for ever',
    start: (t) => startToStop(t, 1, troubled('pool hangs', { [PIPE_VARIABLE]: makePipe(t) })),
    before: (server) => predict(server),
    exit: KILLED,
  },
  {
    name: 'a second signal',
    start: (t) => startToStop(t, 2),
    before: (server) => predict(server),
    act: secondSignal,
    exit: isSecondSignal,
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

for (const loops of [1, 2]) {
  t.test(`a signal during the start: ${loops} event loops`, async (t) => {
    const env = { ...loopsOf(loops), [TROUBLE_VARIABLE]: 'signal at start' };
    const child = spawn(process.execPath, [...TROUBLED, join(REPOSITORY, 'dist/main.js'), 'serve'], {
      env: serverEnvironment(t, env),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    // Where the start takes long, the process ends by the signal itself.
    t.ok(code === 128 + 15 || signal === 'SIGTERM', `${code} ${signal}`);
    t.notMatch(output, '"listening"');
  });
}
