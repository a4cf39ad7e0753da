import { copyFileSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { REQUEST_EXAMPLES } from '#acuity/contract/openapiExamples.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';

/**
 * Clients in Go and Java as generators make them of docs/openapi.json: generated, compiled, run. Requests are read into
 * their types and answers printed from them, so a field that a type can't hold is missing in the comparison.
 */

const DOCUMENT = join(REPOSITORY, 'docs/openapi.json');
const SOURCES = join(REPOSITORY, 'test/foreign/generated');
/** What `test/foreign/setup.sh` has put there. */
const TOOLS = join(REPOSITORY, '.build/foreign');
const OAPI_CODEGEN = join(TOOLS, 'oapi-codegen');
const OPENAPI_GENERATOR = join(TOOLS, 'openapi-generator/openapi-generator-cli.jar');
const JACKSON = join(TOOLS, 'jackson');
const GO_MODULES = join(TOOLS, 'go-modules');
/** For a short life on a busy machine. */
const JAVA_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

interface Generated {
  readonly name: string;
  /** Compilers and programs that run it, which the machine must have. */
  readonly commands: readonly string[];
  /** What it needs of `test/foreign/setup.sh`. */
  readonly needs: readonly string[];
  /** Generates and compiles in `folder`; the command that runs the client, without the address and the files. */
  make(t: Test, folder: string): Promise<readonly string[]>;
}

async function run(
  t: Test,
  [file = '', ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await ended(file, args, { cwd, env: cleanEnvironment(env) });
  if (code !== 0) t.fail(`${file} ended with ${code}`, { stdout, stderr });
  return stdout;
}

async function makeGo(t: Test, folder: string): Promise<readonly string[]> {
  for (const name of ['client.go', 'go.mod', 'go.sum']) copyFileSync(join(SOURCES, name), join(folder, name));
  const what = ['-generate', 'types,client', '-package', 'main', '-o', 'acuity.gen.go'];
  await run(t, [OAPI_CODEGEN, ...what, DOCUMENT], folder);
  const client = join(folder, 'client');
  await run(t, ['go', 'build', '-o', client, '.'], folder, {
    GOCACHE: join(TOOLS, 'go'),
    GOMODCACHE: GO_MODULES,
    GOPROXY: 'off', // nothing is fetched
    GOTOOLCHAIN: 'local',
    CGO_ENABLED: '0',
  });
  return [client];
}

async function makeJava(t: Test, folder: string): Promise<readonly string[]> {
  const what = ['generate', '-g', 'java', '--library', 'native', '-i', DOCUMENT, '-o', folder];
  await run(t, ['java', ...JAVA_OPTIONS, '-jar', OPENAPI_GENERATOR, ...what], folder);
  const sources = join(folder, 'src/main/java');
  const classes = join(folder, 'classes');
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.java'))
    .map((path) => join(sources, path));
  const client = join(SOURCES, 'GeneratedClient.java');
  await run(t, ['javac', '-nowarn', '-d', classes, '-cp', join(JACKSON, '*'), client, ...files], folder);
  return ['java', ...JAVA_OPTIONS, '-cp', `${classes}:${join(JACKSON, '*')}`, 'GeneratedClient'];
}

const GENERATED: readonly Generated[] = [
  { name: 'Go, oapi-codegen', commands: ['go'], needs: [OAPI_CODEGEN, GO_MODULES], make: makeGo },
  {
    name: 'Java, openapi-generator',
    commands: ['java', 'javac'],
    needs: [OPENAPI_GENERATOR, JACKSON],
    make: makeJava,
  },
];

const BODIES = Object.entries(REQUEST_EXAMPLES).map(([name, { value }]) => ({
  name,
  body: JSON.stringify(value),
}));

async function plainAnswer(t: Test, { port, key }: RunningServer, body: string): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': key };
  const answer = await fetch(`http://127.0.0.1:${port}/predict`, { method: 'POST', headers, body });
  t.equal(answer.status, 200);
  return answer.json();
}

/** Without the time of the run, and without the empty lists that Java's class writes in the place of absent ones. */
function comparable(answer: unknown): object {
  const { inference_time_ms: _, ...rest } = answer as Record<string, unknown>;
  const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => !isEmpty(value)));
}

function missing({ commands, needs }: Generated): string | false {
  const path = process.env['PATH'] ?? '';
  const absent = commands.find(
    (name) => !path.split(delimiter).some((folder) => existsSync(join(folder, name))),
  );
  if (absent !== undefined) return `there is no ${absent} here: it needs Go and Java`;
  return needs.every(existsSync) ? false : 'its generator is not here (test/foreign/setup.sh)';
}

for (const generated of GENERATED) {
  const { name, make } = generated;
  const skip = missing(generated);
  t.test(`${name}: the answers are those of a plain request`, { skip }, async (t) => {
    const folder = t.testdir();
    const command = await make(t, folder);
    const server = await startServer(t);
    mkdirSync(join(folder, 'requests'));
    const paths = BODIES.map(({ name, body }) => {
      const path = join(folder, 'requests', `${name}.json`);
      writeFileSync(path, body);
      return path;
    });
    const address = `http://127.0.0.1:${server.port}`;
    const output = await run(t, [...command, address, ...paths], folder, { ACUITY_API_KEY: server.key });
    const answers = output.trim().split('\n');
    for (const [index, { name, body }] of BODIES.entries()) {
      const plain = await plainAnswer(t, server, body);
      t.strictSame(comparable(JSON.parse(answers[index] ?? '{}')), comparable(plain), name);
    }
  });
}
