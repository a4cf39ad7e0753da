import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended, lacking } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';
import { listening } from '../fixtures/until.js';

const EXAMPLES = join(REPOSITORY, 'docs/examples');
const FOLDERS = [EXAMPLES, join(EXAMPLES, 'adapters')];
const PAGES = ['README.md', 'docs/API.md', 'docs/CLIENTS.md', 'docs/MEASURED.md', 'docs/ADAPTERS.md'];

t.test('the pages show the examples as they are', async (t) => {
  const files = new Map(
    FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => [name, folder] as const)),
  );
  const shown = new Set<string>();
  for (const page of PAGES) {
    const text = readFileSync(join(REPOSITORY, page), 'utf8');
    for (const [, name = '', code] of text.matchAll(/<!-- example: (\S+) -->\n```\w+\n([^]*?)```\n/g)) {
      shown.add(name);
      t.equal(code, readFileSync(join(files.get(name) ?? EXAMPLES, name), 'utf8'), `${name} in ${page}`);
    }
  }
  for (const name of ['backend.ts', 'predict.sh', 'score.js', 'oura.js']) t.ok(shown.has(name), name);
});

/** TypeScript as Node 20 can run it; beside the tests' own output, from where the package finds itself by name. */
function compiled(name: string): string {
  const { outputText } = ts.transpileModule(readFileSync(join(EXAMPLES, name), 'utf8'), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  const folder = join(REPOSITORY, '.build/examples');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name.replace(/\.ts$/, '.mjs'));
  writeFileSync(path, outputText);
  return path;
}

const SCORES = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'];
/** Programs that score once, and what they print. */
const PROGRAMS: readonly (readonly [command: string, file: string, printed: readonly (string | RegExp)[]])[] =
  [
    [process.execPath, 'score.js', SCORES],
    [process.execPath, 'adapters/oura.js', SCORES],
    [process.execPath, 'measured.js', [/stress: \d+(\.\d+)?, unmeasured: \d.* percentile: \d/]],
    ['bash', 'predict.sh', SCORES],
  ];
/** The programs of docs/CLIENTS.md: a morning, whose history they store. */
const CALLERS = [
  ['bash', 'morning.sh'],
  ['go', 'morning.go'],
  ['java', 'Morning.java'],
  ['python3', 'morning.py'],
  [process.execPath, 'morning.js'],
] as const;

t.test('each example runs as it is written', async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment(server.known);
  const run = async (command: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await ended(command, args, { env });
    t.strictSame([code, stderr], [0, ''], args.join(' '));
    return stdout;
  };

  for (const [command, file, printed] of PROGRAMS) {
    const text = await run(command, join(EXAMPLES, file));
    for (const part of printed) t.match(text, part, file);
  }

  await t.test('a backend, twice: the second time with history', async (t) => {
    const [script, folder] = [compiled('backend.ts'), join(t.testdir(), 'histories')];
    const first = JSON.parse(await run(process.execPath, script, folder)) as object;
    t.match(first, { person: 'person-1', modelVersion: /./ });
    t.strictSame(JSON.parse(await run(process.execPath, script, folder)), first);
    t.match(readFileSync(join(folder, 'person-1.txt'), 'utf8'), /^acu\d[.][\w-]+$/);
  });

  for (const [command, file] of CALLERS) {
    const skip = lacking(
      `${command} ${command === 'go' ? 'version' : '--version'}`,
      `there is no ${command}`,
    );
    await t.test(`a morning: ${file}`, { skip }, async (t) => {
      const stored = join(t.testdir(), 'person-1.history');
      const args = [...(command === 'go' ? ['run'] : []), join(EXAMPLES, 'callers', file), stored];
      const first = await run(command, ...args);
      t.match(first, /^2026-03-02\nStress is \d+, .* a typical day at this age and sex.*\n$/);
      t.equal(await run(command, ...args), first, 'the same night with the history of the first answer');
      t.match(readFileSync(stored, 'utf8'), /^acu\d[.][\w-]+$/);
    });
  }
});

t.test('a refusal before the answer does not end in the stored history', async (t) => {
  let requests = 0;
  const answers = [
    { status: 429, body: { detail: 'Rate limit exceeded' } },
    { status: 200, body: { history: 'acu1.x', recording: {}, explanation: { scores: { stress: {} } } } },
  ];
  const refusing = createServer((request, response) => {
    const { status, body } = answers[requests++] ?? { status: 500, body: {} };
    request.resume().once('end', () => response.writeHead(status).end(JSON.stringify(body)));
  });
  const ACUITY_URL = `http://127.0.0.1:${await listening(t, refusing)}`;
  const stored = join(t.testdir(), 'person-1.history');
  const env = cleanEnvironment({ ACUITY_URL, ACUITY_API_KEY: 'key' });
  const { code, stderr } = await ended('bash', [join(EXAMPLES, 'callers/morning.sh'), stored], { env });
  t.strictSame([code, readFileSync(stored, 'utf8')], [0, 'acu1.x'], stderr);
});
