import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

const EXAMPLES = join(REPOSITORY, 'docs/examples');
const EXAMPLE_BLOCK = /<!-- example: (\S+) -->\n```\w+\n([^]*?)```\n/g;
const PYTHON_EXAMPLES = join(REPOSITORY, 'packages/client-python/examples');

/** The programs of docs/CLIENTS.md. */
const CALLERS = [
  ['bash', 'morning.sh'],
  ['go', 'morning.go'],
  ['java', 'Morning.java'],
  ['python3', 'morning.py'],
  [process.execPath, 'morning.js'],
] as const;

t.test('the documents show the examples as they are', async (t) => {
  const shown = new Set<string>();
  for (const document of ['README.md', 'docs/API.md', 'docs/CLIENTS.md', 'docs/MEASURED.md']) {
    for (const [, name = '', code] of readFileSync(join(REPOSITORY, document), 'utf8').matchAll(
      EXAMPLE_BLOCK,
    )) {
      shown.add(name);
      const folder = name === 'measured.py' ? PYTHON_EXAMPLES : EXAMPLES;
      t.equal(code, readFileSync(join(folder, name), 'utf8'), `${name} in ${document}`);
    }
  }
  t.strictSame([...shown].sort(), ['backend.ts', 'measured.js', 'measured.py', 'predict.sh', 'score.js']);
});

t.test('the examples have the types that the SDK has', async (t) => {
  const program = ts.createProgram(
    ['score.js', 'measured.js', 'backend.ts'].map((name) => join(EXAMPLES, name)),
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: ['node'],
      typeRoots: [join(REPOSITORY, 'node_modules/@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      allowJs: true,
      checkJs: true,
      skipLibCheck: true,
      noEmit: true,
    },
  );
  const mistakes = ts.getPreEmitDiagnostics(program).map(({ messageText, file }) => {
    return `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  t.strictSame(mistakes, []);
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

const exists = (command: string): boolean =>
  spawnSync(command, [command === 'go' ? 'version' : '--version']).status === 0;
const SCORE_FIELDS = ['C_SCORE', 'attention', 'memory', 'reasoning', 'stress', 'valence', 'arousal'];

t.test('each example runs as it is written', async (t) => {
  const server = await startServer(t);
  const env = cleanEnvironment({
    ACUITY_URL: `http://127.0.0.1:${server.port}`,
    ACUITY_API_KEY: server.key,
  });
  const run = async (t: Test, command: string, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await ended(command, args, { cwd: REPOSITORY, env });
    t.equal(code, 0, stderr);
    t.equal(stderr, '');
    return stdout;
  };

  await t.test('the ten lines', async (t) => {
    const printed = await run(t, process.execPath, join(EXAMPLES, 'score.js'));
    for (const field of SCORE_FIELDS) t.match(printed, new RegExp(`${field}: `));
  });

  await t.test('a measurement', async (t) => {
    const printed = await run(t, process.execPath, join(EXAMPLES, 'measured.js'));
    t.match(printed, /stress: \d+(\.\d+)?, unmeasured: \d.* percentile: \d/);
  });

  await t.test('a backend, twice: the second time with history', async (t) => {
    const [script, folder] = [compiled('backend.ts'), join(t.testdir(), 'histories')];
    const first = JSON.parse(await run(t, process.execPath, script, folder)) as object;
    t.match(first, { person: 'person-1', modelVersion: /./ });
    t.strictSame(JSON.parse(await run(t, process.execPath, script, folder)), first);
    t.match(readFileSync(join(folder, 'person-1.txt'), 'utf8'), /^acu1[.][\w-]+$/);
  });

  await t.test(
    'curl',
    { skip: !exists('curl') && 'there is no curl here (Debian: apt-get install curl)' },
    async (t) => {
      const printed = await run(t, 'bash', join(EXAMPLES, 'predict.sh'));
      t.strictSame(Object.keys(JSON.parse(printed) as object), [...SCORE_FIELDS, 'inference_time_ms']);
    },
  );

  for (const [command, file] of CALLERS) {
    await t.test(
      `a morning: ${file}`,
      { skip: !exists(command) && `there is no ${command} here` },
      async (t) => {
        const stored = join(t.testdir(), 'person-1.history');
        const args = command === 'go' ? ['run'] : [];
        const outputs: string[] = [];
        for (let morning = 0; morning < 2; morning++)
          outputs.push(await run(t, command, ...args, join(EXAMPLES, 'callers', file), stored));
        const [first = ''] = outputs;
        t.match(first, /^2026-03-02\nStress is \d+, .* a typical day at this age and sex.*\n$/);
        t.equal(outputs[1], first, 'the same night with the history of the first answer');
        t.match(readFileSync(stored, 'utf8'), /^acu1[.][\w-]+$/);
      },
    );
  }
});
