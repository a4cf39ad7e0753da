import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { BAD_AGES } from '../fixtures/ages.js';
import { send, sendMany } from '../fixtures/connection.js';
import type { Exit } from '../fixtures/scripts.js';
import { CLEAN, runServer, startServer, type RunningServer } from '../fixtures/server.js';
import { loopsOf, makePipe, skipElsewhere, troubled } from '../fixtures/stops.js';
import { PIPE_VARIABLE, TOILED, type Trouble } from '../fixtures/troubles.js';

/*
 * Odd stops: nothing holds them up for long. Even if something hangs, the process has ended at the latest two seconds
 * after the drain, with the exit code that docs/OPERATIONS.md promises.
 */

const DEFECT: Exit = { code: 70, signal: null };
const KILLED: Exit = { code: null, signal: 'SIGKILL' };
/** By the second signal, SIGTERM or SIGINT; shells show the same code for a process that a signal ended. */
const isSecondSignal = ({ code, signal }: Exit): boolean =>
  [128 + 15, 128 + 2].includes(code ?? 0) || ['SIGTERM', 'SIGINT'].includes(signal ?? '');

interface Case {
  readonly loops: 1 | 2;
  /** Its log goes to a full disk, or into a pipe that is not read, or whose reader has gone. */
  readonly log?: 'full' | 'unread' | 'gone';
  readonly trouble?: Trouble;
  readonly env?: Readonly<Record<string, string>>;
  before?(server: RunningServer): Promise<unknown>;
  act?(server: RunningServer): void;
  readonly exit: Exit | ((exit: Exit) => boolean);
}

async function start(t: Test, { loops, log, trouble, env }: Case): Promise<RunningServer> {
  const bounded = { ACUITY_DRAIN_MS: '5000', ACUITY_ACCESS_LOG_EVERY: '1', ...loopsOf(loops) };
  const options = {
    nodeOptions: trouble === undefined ? [] : troubled(trouble),
    env: { ...bounded, [PIPE_VARIABLE]: makePipe(t), ...env },
  };
  if (log === undefined) return startServer(t, options);
  const pipe = makePipe(t);
  // Without O_NONBLOCK it would wait for somebody who writes.
  const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const stdout = openSync(log === 'full' ? '/dev/full' : pipe, 'w');
  const server = await startServer(t, { ...options, stdout });
  closeSync(stdout);
  if (log === 'gone') closeSync(reading);
  else t.teardown(() => closeSync(reading));
  return server;
}

const predict = (server: RunningServer): Promise<unknown> => server.predict();
const ask = (server: RunningServer, age: number): void =>
  void server.predict(JSON.stringify({ current_session: { age } })).catch(() => undefined);

/** More lines than a pipe holds. */
async function flood({ port, key }: RunningServer): Promise<void> {
  const headers = { 'X-API-Key': key, 'X-Request-Id': 'x'.repeat(128) };
  await sendMany(port, { headers, body: '{"current_session":{}}' }, 800);
}

async function openAnotherModel(server: RunningServer): Promise<void> {
  server.signal('SIGHUP');
  await server.predict();
}

const askWhatHangs = (server: RunningServer): Promise<void> => askAtOnce(server, BAD_AGES.hangs);

async function askAtOnce(server: RunningServer, age: number): Promise<void> {
  ask(server, age);
  // Two requests and their answers later, the worker has the first one.
  for (let other = 0; other < 2; other++) await send(server.port, { target: '/other' });
}

/** No thread of Node starts with less. */
const SLACK_BYTES = 16 * 1024 * 1024;

function leaveNoAddressSpace(pid: number): void {
  const [, used] = /VmSize:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const bytes = Number(used) * 1024 + SLACK_BYTES;
  execFileSync('prlimit', ['--pid', String(pid), `--as=${bytes}`]);
}

function secondSignal(server: RunningServer): void {
  server.signal('SIGTERM');
  server.signal('SIGINT');
}

const CASES: Readonly<Record<string, Case>> = {
  'a log whose reader has gone': { loops: 2, log: 'gone', before: predict, exit: CLEAN },
  'a log whose reader reads no more, and a flood': { loops: 1, log: 'unread', before: flood, exit: CLEAN },
  'threads that start slowly, on a full disk, and the workers of another model that start': {
    loops: 2,
    log: 'full',
    trouble: 'slow-threads',
    before: openAnotherModel,
    exit: CLEAN,
  },
  'a drain that a hanging run outlasts, on a full disk': {
    loops: 1,
    log: 'full',
    trouble: 'faulty-workers',
    before: askWhatHangs,
    exit: DEFECT,
  },
  'a worker that hangs, and a log without a reader': {
    loops: 2,
    log: 'unread',
    trouble: 'faulty-workers',
    env: { ACUITY_HANG_MS: '500' },
    before: flood,
    act: (server) => ask(server, BAD_AGES.hangs),
    exit: DEFECT,
  },
  'a defect, on a full disk': {
    loops: 2,
    log: 'full',
    trouble: 'defect',
    act: (server) => server.signal('SIGUSR2'),
    exit: DEFECT,
  },
  'a defect of an event loop on a thread of its own': {
    loops: 2,
    trouble: 'defective-loops',
    before: predict,
    act: (server) => server.signal('SIGUSR2'),
    exit: DEFECT,
  },
  'no address space for another thread': {
    loops: 1,
    before: async ({ pid }) => leaveNoAddressSpace(pid),
    exit: CLEAN,
  },
  'a main event loop that hangs, and no address space for another thread': {
    loops: 2,
    trouble: 'loop-hangs',
    before: async ({ pid }) => leaveNoAddressSpace(pid),
    exit: KILLED,
  },
  'a main event loop that hangs': { loops: 2, trouble: 'loop-hangs', exit: KILLED },
  'a file operation for which exit would wait for ever': {
    loops: 1,
    trouble: 'pool-hangs',
    before: predict,
    exit: KILLED,
  },
  'a second signal while the workers of another model start': {
    loops: 2,
    trouble: 'slow-threads',
    before: openAnotherModel,
    act: secondSignal,
    exit: isSecondSignal,
  },
};

t.jobs = 3; // they mostly wait
for (const [name, one] of Object.entries(CASES)) {
  const { before, act, exit } = one;
  t.test(name, { skip: skipElsewhere }, async (t) => {
    const server = await start(t, one);
    await before?.(server);
    if (act === undefined) server.signal('SIGTERM');
    else act(server);
    const ended = await server.exited; // a stop without a bound never ends, and the test with it
    if (typeof exit === 'function') t.ok(exit(ended), JSON.stringify(ended));
    else t.strictSame(ended, exit);
  });
}

t.test('the process ends after a run that is under way', { skip: skipElsewhere }, async (t) => {
  const server = await start(t, { loops: 2, trouble: 'faulty-workers', exit: isSecondSignal });
  await askAtOnce(server, BAD_AGES.toils);
  secondSignal(server);
  t.ok(isSecondSignal(await server.exited));
  t.match(server.output(), TOILED);
});

for (const trouble of ['signal-at-first', 'signal-at-start'] as const)
  t.test(`a signal during the start (${trouble})`, async (t) => {
    const keys = { ACUITY_KEYS: `file:${join(t.testdir(), 'keys.json')}` };
    const server = runServer(t, { nodeOptions: troubled(trouble), env: { ...keys, ...loopsOf(2) } });
    t.strictSame(await server.exited, { code: 128 + 15, signal: null });
    t.notMatch(server.output(), '"listening"');
    t.equal(server.output().includes('leaving at once'), trouble === 'signal-at-start');
  });
