import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REQUEST_EXAMPLES } from '#acuity/contract/openapiExamples.js';
import { leftBehind } from '../fixtures/promtool.js';
import { session } from '../fixtures/bodies.js';
import { send } from '../fixtures/connection.js';
import { cleanEnvironment, REPOSITORY, textOf } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';
import { loopsOf } from '../fixtures/stops.js';

/**
 * Callers on HTTP libraries that cut their requests into packets in ways of their own, each a program of test/foreign:
 * `PROGRAM PORT WAY FILE…` sends each file as the body of a request, all of them twice on one connection, and prints
 * `STATUS BODY` for each answer. Our own tools send head and body in one packet, which hides what a server does with
 * the others. Node's own are called by client/transport and the pages' examples, httpx by the Python client. Two are
 * clients that generators make of docs/openapi.json: they read requests into their types and print answers from them, so
 * a field that a type can't hold is missing.
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
  /** Shell commands that make it, in test/foreign. */
  readonly build?: string;
  /** A shell command that succeeds where the program can be made and run. */
  readonly probe: string;
}

const DOCUMENT = join(REPOSITORY, 'docs/openapi.json');
const SOURCES = join(REPOSITORY, 'test/foreign');
/** What compilers of other languages make, and `test/foreign/setup.sh` installs. */
const BUILT = join(REPOSITORY, '.build/foreign');
/** For a short life on a busy machine. */
const JAVA = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
/** Where clients are generated. */
const folder = t.testdir({ go: {}, java: {} });
/** Nothing is fetched: modules are those of `setup.sh`. The first build compiles the standard library too. */
const GO = {
  GOCACHE: join(BUILT, 'go'),
  GOMODCACHE: join(BUILT, 'go-modules'),
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  CGO_ENABLED: '0',
};
const JACKSON = join(BUILT, 'jackson');

const PROGRAMS: readonly Program[] = [
  {
    name: 'Python http.client',
    ways: WAYS,
    command: ['python3', join(SOURCES, 'client.py')],
    probe: 'python3 --version',
  },
  {
    name: 'curl',
    ways: ['plain', 'chunked', 'continued', 'cut'],
    command: ['bash', join(SOURCES, 'client.sh')],
    probe: 'curl --version',
  },
  {
    name: 'Java HttpClient',
    // Not `continued`: it writes `100-Continue`, which uWebSockets.js does not know (docs/HTTP-EDGES.md).
    ways: WAYS,
    command: [...JAVA, '-cp', BUILT, 'Client'],
    build: `javac -d ${BUILT} Client.java`,
    probe: 'javac -version',
  },
  {
    name: 'Go net/http',
    ways: [...WAYS, 'continued'],
    command: [join(BUILT, 'client')],
    build: `GO111MODULE=off go build -o ${BUILT}/client client.go`,
    probe: 'go version',
  },
  {
    name: 'generated for Go by oapi-codegen',
    ways: ['plain'],
    command: [join(folder, 'go/client')],
    build: `cp generated/* ${folder}/go && cd ${folder}/go &&
      ${BUILT}/oapi-codegen -generate types,client -package main -o acuity.gen.go ${DOCUMENT} && go build -o client .`,
    probe: `go version && test -x ${BUILT}/oapi-codegen`,
  },
  {
    name: 'generated for Java by openapi-generator',
    ways: ['plain'],
    command: [...JAVA, '-cp', `${folder}/java/classes:${JACKSON}/*`, 'GeneratedClient'],
    build: `${JAVA.join(' ')} -jar ${BUILT}/openapi-generator/openapi-generator-cli.jar generate \
        -g java --library native -i ${DOCUMENT} -o ${folder}/java &&
      javac -nowarn -d ${folder}/java/classes -cp '${JACKSON}/*' generated/GeneratedClient.java \
        $(find ${folder}/java/src/main/java -name '*.java')`,
    probe: `javac -version && test -d ${JACKSON} && test -d ${BUILT}/openapi-generator`,
  },
];

async function run(command: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
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
  ...Object.values(REQUEST_EXAMPLES).map(({ value }) => JSON.stringify(value)),
  night(8_000, 65 * 1024),
  night(36_000, 290 * 1024),
];

/** Without the time of the run, and without the empty lists that Java's class writes in the place of absent ones. */
function comparable(answer: string): unknown {
  const { inference_time_ms: _, ...rest } = JSON.parse(answer.slice(4)) as Record<string, unknown>;
  const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  const scores = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
  return [answer.slice(0, 4), scores];
}

const server = await startServer(t, { env: { ...loopsOf(2), ACUITY_LOG_LEVEL: 'fatal' } });
const expected: unknown[] = [];
const paths: string[] = [];
for (const [index, body] of BODIES.entries()) {
  const path = join(folder, `${index}.json`);
  writeFileSync(path, body);
  paths.push(path);
  const reply = await send(server.port, { headers: { 'X-API-Key': server.key }, body });
  expected.push(comparable(`${reply.status} ${Buffer.from(reply.body, 'latin1').toString()}`));
}
mkdirSync(BUILT, { recursive: true });

for (const { name, ways, command, build, probe } of PROGRAMS) {
  const can = spawnSync('bash', ['-c', probe], { stdio: 'ignore' }).status === 0;
  t.test(name, { skip: !can && `\`${probe}\` fails here (test/foreign/setup.sh)` }, async (t) => {
    if (build !== undefined) await run(['bash', '-c', build], GO);
    for (const way of ways) {
      const args = [...command, String(server.port), way, ...paths];
      const lines = (await run(args, server.known)).split('\n').slice(0, -1);
      t.strictSame(lines.map(comparable), way === 'cut' ? [] : [...expected, ...expected], way);
      t.equal(await leftBehind(server), undefined, `${way}: nothing is left behind`);
    }
  });
}

t.test('docs/CLIENTS.md shows lines of the generated clients’ programs', async (t) => {
  const page = textOf('docs/CLIENTS.md');
  for (const [language, file] of [
    ['go', 'client.go'],
    ['java', 'GeneratedClient.java'],
  ] as const) {
    const [, code = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
    const lines = textOf(`test/foreign/generated/${file}`).split('\n').map((line) => line.trim()); // prettier-ignore
    t.ok(code.split('\n').length > 5);
    for (const line of code.split('\n')) t.ok(lines.includes(line.trim()), line);
  }
});
