import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { leftBehind } from '../fixtures/atRest.js';
import { session } from '../fixtures/bodies.js';
import { send } from '../fixtures/connection.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

/**
 * Callers on HTTP libraries that cut their requests into packets in ways of their own, each a program of test/foreign:
 * `PROGRAM PORT WAY FILE…` sends each file as the body of a request, all of them twice on one connection, and prints
 * `STATUS BODY` for each answer. Our own tools send head and body in one packet, which hides what a server does with
 * the others.
 */

/**
 * As the library does by itself; in four pieces with pauses, of known length or chunked; once the server has said
 * `100 Continue`; with the connection dropped in the middle of the body.
 */
type Way = 'plain' | 'pieces' | 'chunked' | 'continued' | 'cut';
const WAYS: readonly Way[] = ['plain', 'pieces', 'chunked', 'cut'];

interface Program {
  readonly name: string;
  readonly ways: readonly Way[];
  readonly command: readonly string[];
  /** Compiles it. */
  readonly build?: { readonly command: readonly string[]; readonly env?: Readonly<Record<string, string>> };
  /** A command that succeeds where the program can run. */
  readonly probe: readonly string[];
}

const SOURCES = join(REPOSITORY, 'test/foreign');
/** What compilers of other languages make, and `test/foreign/setup.sh` installs. */
const BUILT = join(REPOSITORY, '.build/foreign');
const NODE = join(REPOSITORY, '.build/test/foreign/node.js');
const PYTHON = [join(BUILT, 'python/bin/python'), 'python3'].find(existsSync) ?? 'python3';
const REQWEST = join(BUILT, 'rust/release/client');

const PROGRAMS: readonly Program[] = [
  ...['http.client', 'httpx', 'aiohttp'].map((library) => ({
    name: `Python ${library}`,
    ways: WAYS,
    command: [PYTHON, join(SOURCES, 'client.py'), library],
    probe: [PYTHON, '-c', `import ${library}`],
  })),
  {
    name: 'curl',
    ways: ['plain', 'chunked', 'continued', 'cut'],
    command: ['bash', join(SOURCES, 'client.sh')],
    probe: ['curl', '--version'],
  },
  {
    name: 'node:http',
    ways: [...WAYS, 'continued'],
    command: [process.execPath, NODE, 'http'],
    probe: [process.execPath, '--version'],
  },
  {
    name: 'fetch',
    ways: ['plain', 'chunked', 'cut'],
    command: [process.execPath, NODE, 'fetch'],
    probe: [process.execPath, '--version'],
  },
  {
    name: 'Java HttpClient',
    // Not `continued`: it writes `100-Continue`, which uWebSockets.js does not know (docs/HTTP-EDGES.md).
    ways: WAYS,
    command: ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', BUILT, 'Client'],
    build: { command: ['javac', '-d', BUILT, 'Client.java'] },
    probe: ['javac', '-version'],
  },
  {
    name: 'Go net/http',
    ways: [...WAYS, 'continued'],
    command: [join(BUILT, 'client')],
    // The standard library alone, from this machine: nothing is fetched. The first build compiles that too.
    build: {
      command: ['go', 'build', '-o', join(BUILT, 'client'), 'client.go'],
      env: {
        GOCACHE: join(BUILT, 'go'),
        GOPROXY: 'off',
        GOTOOLCHAIN: 'local',
        GO111MODULE: 'off',
        CGO_ENABLED: '0',
      },
    },
    probe: ['go', 'version'],
  },
  {
    name: 'Rust reqwest',
    ways: WAYS,
    command: [REQWEST],
    build: {
      command: [
        'cargo',
        'build',
        '--offline',
        ...'--release --manifest-path rust/Cargo.toml'.split(' '),
        '--target-dir',
        join(BUILT, 'rust'),
      ],
    },
    probe: ['test', '-x', REQWEST],
  },
];

const has = ([file = '', ...args]: readonly string[]): boolean =>
  spawnSync(file, args, { stdio: 'ignore' }).status === 0;

async function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const [file = '', ...args] = command;
  const { code, stdout, stderr } = await ended(file, args, { cwd: SOURCES, env: cleanEnvironment(env) });
  if (code !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
  return stdout;
}

/** A night of so many samples, filled up to at least `bytes` with white space. */
function night(samples: number, bytes: number): string {
  const series = (from: number, over: number): number[] =>
    Array.from({ length: samples }, (_, index) => from + ((index * 7) % over));
  const current = { ...session(), HR_night: series(52, 13), RR_night: series(11, 6) };
  return JSON.stringify({ current_session: current }).padEnd(bytes);
}
const BODIES = [
  readFileSync(join(REPOSITORY, 'docs/examples/request.json'), 'utf8'),
  night(8_000, 65 * 1024),
  night(36_000, 290 * 1024),
];
const untimed = (answer: string): string => answer.replace(/"inference_time_ms":[\d.]+/, '');

const server = await startServer(t, { env: { ...loopsOf(2), ACUITY_LOG_LEVEL: 'fatal' } });
const folder = t.testdir();
const expected: string[] = [];
const paths = BODIES.map((body, index) => {
  const path = join(folder, `${index}.json`);
  writeFileSync(path, body);
  return path;
});
for (const body of BODIES) {
  const { status, body: answer } = await send(server.port, { headers: { 'X-API-Key': server.key }, body });
  expected.push(untimed(`${status} ${answer}`));
}
mkdirSync(BUILT, { recursive: true });

for (const { name, ways, command, build, probe } of PROGRAMS) {
  const skip = !has(probe) && `\`${probe.join(' ')}\` fails here (test/foreign/setup.sh)`;
  t.test(name, { skip }, async (t) => {
    if (build !== undefined) await run(build.command, build.env);
    for (const way of ways) {
      const args = [...command, String(server.port), way, ...paths];
      const lines = (await run(args, { ACUITY_API_KEY: server.key })).split('\n').slice(0, -1);
      t.strictSame(lines.map(untimed), way === 'cut' ? [] : [...expected, ...expected], way);
      t.equal(await leftBehind(server), undefined, `${way}: nothing is left behind`);
    }
  });
}
