import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { cleanEnvironment, REPOSITORY, temporaryFolder, textOf } from '../fixtures/repository.js';
import { running } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { until } from '../fixtures/until.js';

/**
 * Every fenced command of the pages is run: here as it stands, page by page in one shell, or by the test that the
 * comment above it names (`example`, `step`, `run by`), or the comment says why no test runs it (`not run`).
 */

const REASONS = ['root rights', 'another machine', 'the internet', 'more than ten minutes'];
const MARKED_MAX = 30;
const COMMANDS = ['sh', 'js', 'ts', 'python', 'go', 'java', 'sql'];
const PAGES = [
  'README.md',
  ...readdirSync(join(REPOSITORY, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ...['bench', 'packages/client-ts', 'packages/client-python', 'examples/backend'].map(
    (folder) => `${folder}/README.md`,
  ),
];

interface Fence {
  readonly at: string;
  readonly page: string;
  readonly language: string;
  readonly code: string;
  /** Of the comment above it: what kind, and its text. */
  readonly mark: string | undefined;
  readonly what: string;
}

function fencesOf(page: string): Fence[] {
  const text = textOf(page);
  const found = text.matchAll(/(?:<!-- ([\w ]+): (.+) -->\n)?^ *```(\w*)\n([^]*?)^ *```$/gm);
  return [...found].flatMap(({ index, 1: mark, 2: what = '', 3: language = '', 4: code = '' }) =>
    COMMANDS.includes(language)
      ? [{ at: `${page}:${text.slice(0, index).split('\n').length}`, page, language, code, mark, what }]
      : [],
  );
}

const FENCES = PAGES.flatMap(fencesOf);
const HERE = FENCES.filter(({ mark }) => mark === undefined);

t.test('each is run by a test, or says why not', async (t) => {
  const RUNNERS: Readonly<Record<string, (fence: Fence) => void>> = {
    example: ({ at }) => t.match(textOf('test/docs/examples.test.ts'), `'${at.split(':')[0]}'`, at),
    step: ({ at, what }) => t.match(textOf('test/docs/steps.test.ts'), `'${what}'`, at),
    'run by': ({ at, what, page }) => t.match(textOf(what), page.replace(/^.*client-ts\//, ''), at),
    'not run': ({ at, what }) => t.ok(REASONS.includes(what), `${at}: ${what}`),
  };
  for (const fence of FENCES)
    if (fence.mark !== undefined) (RUNNERS[fence.mark] ?? (() => t.fail(fence.at)))(fence);
  const marked = FENCES.filter(({ mark }) => mark === 'not run');
  t.comment(`${FENCES.length - marked.length} run, ${HERE.length} of them here; ${marked.length} marked`);
  for (const { at, mark = 'here', what } of FENCES) t.comment(`${at} ${mark} ${what}`);
  t.ok(marked.length <= MARKED_MAX);
});

/** A clone as a newcomer has it, for what commands leave beside it; with the files that pages take for granted. */
async function cloneOf(t: Test): Promise<string> {
  const folder = temporaryFolder(t);
  for (const name of readdirSync(REPOSITORY))
    if (!['data', '.git'].includes(name)) symlinkSync(join(REPOSITORY, name), join(folder, name));
  mkdirSync(join(folder, 'lake'));
  const engine = await (await DuckDBInstance.create()).connect();
  const nights = `SELECT 'p' || p AS user_id, DATE '2026-03-01' + n::INTEGER AS night, 34 AS age, 'F' AS sex,
    [55 + p + n % 3, 57.5, 60 - n % 2] AS HR_night, 24000 + 300 * ((7 * n + p) % 9) AS "sleepTimeSeconds",
    300 + (5 * n + p) % 40 AS pvt_speed, (3 * n + p) % 5 AS tired, (n + p) % 2 = 0 AS mood
    FROM range(8) a(p), range(9) b(n)`;
  const out = (name: string) => join(folder, name).replaceAll("'", "''");
  await engine.run(`COPY (${nights}) TO '${out('lake/nights-0001.parquet')}'`);
  await engine.run(`COPY (SELECT * EXCLUDE (age, sex, HR_night, "sleepTimeSeconds"),
    {'age': age, 'sex': sex, 'HR_night': HR_night, 'sleepTimeSeconds': "sleepTimeSeconds"} AS current_session
    FROM (${nights})) TO '${out('nights.ndjson')}' (FORMAT json)`);
  engine.closeSync();
  const sleep = '<Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Watch"';
  const pulse = '<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min"';
  writeFileSync(
    join(folder, 'export.xml'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_GB">
 ${sleep} startDate="2026-03-01 23:00:00 +0100" endDate="2026-03-02 06:30:00 +0100" value="HKCategoryValueSleepAnalysisAsleepCore"/>
 ${pulse} startDate="2026-03-02 01:00:00 +0100" endDate="2026-03-02 01:00:00 +0100" value="55"/>\n</HealthData>\n`,
  );
  return folder;
}

/** README's own line makes the command; a refusal ends curl with an error, and the journal is the server's log. */
const BEFORE = `set -eo pipefail; shopt -s expand_aliases
${/^alias acuity=.*$/m.exec(textOf('README.md'))?.[0]}
curl() { case " $* " in *' -f'*|*' --fail'*) command curl "$@";; *) command curl --fail-with-body "$@";; esac; }
journalctl() { cat "$LOG"; }
`;
/** Its commands end with a server, which is well when it says that it listens. */
const IS_SERVER = /^[^#\n]*\b(npm start|serve)\b *(#.*)?$/m;

/** As one shell runs them after each other; a program gets a file of its own. */
function scriptOf(fences: readonly Fence[], clone: string): string {
  return fences
    .map(({ at, language, code }, place) => {
      if (language === 'sh') return `echo '${at}' >&3\n${code}`;
      const module = ts.transpileModule(code, { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } }); // prettier-ignore
      writeFileSync(join(clone, `program${place}.mjs`), module.outputText);
      return `echo '${at}' >&3\nnode program${place}.mjs\n`;
    })
    .join('');
}

/** Resolves with what went wrong, at which fence; with nothing if all is well. */
async function wrongIn(fences: readonly Fence[], clone: string, server: RunningServer): Promise<string> {
  const [first, other] = server.keys;
  const script = scriptOf(fences, clone)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${server.port}`)
    .replaceAll('127.0.0.1:9464', `127.0.0.1:${server.adminPort}`)
    .replaceAll(/file:(\/var\/lib\/acuity|\$PWD\/data)\/keys.json/g, server.keyLocation)
    .replaceAll('/opt/acuity/', `${clone}/`)
    .replaceAll(/sk_(demo|live)_…/g, first?.key ?? '')
    .replaceAll(/\bID\b/g, other?.id ?? '');
  const isServer = IS_SERVER.test(script);
  const log = join(clone, 'service.log');
  writeFileSync(log, server.output());
  const env = cleanEnvironment({
    LOG: log,
    ACUITY_WORKERS: '1',
    ...(isServer
      ? { ACUITY_PORT: '0', ACUITY_ADMIN_PORT: '0', ACUITY_KEYS: `file:${join(clone, 'new/keys.json')}` }
      : { ...server.known, ACUITY_KEYS: server.keyLocation }),
  });
  const command = ['bash', '-c', `exec 3>&2\n${BEFORE}${script}`];
  const { child, exited, says, output } = running(t, command, { cwd: clone, env, detached: isServer });
  if (isServer)
    await says(/\{"event":"listening"/).then(
      () => process.kill(-(child.pid ?? NaN), 'SIGTERM'),
      () => undefined,
    );
  const { code } = await exited;
  const isWell = isServer ? output().includes('"event":"listening"') : code === 0;
  return isWell ? '' : `${code}: ${output().slice(-1500)}`;
}

t.test('those of each page, pasted one after the other; a broken line among them is found', async (t) => {
  const clone = await cloneOf(t);
  const server = await startServer(t, { keys: [{ kind: 'live' }] });
  await server.predict('{}', 'sk_live_unknown');
  await until(() => server.output().includes('keyInvalid'));
  const shown = HERE.filter(({ language }) => language !== 'sql');
  for (const page of new Set(shown.map((fence) => fence.page))) {
    const fences = shown.filter((fence) => fence.page === page);
    const [servers, others] = [true, false].map((is) =>
      fences.filter(({ code }) => IS_SERVER.test(code) === is),
    );
    for (const fence of servers ?? []) t.equal(await wrongIn([fence], clone, server), '', fence.at);
    if (others?.length) t.equal(await wrongIn(others, clone, server), '', page);
    const planted = { ...fences[0], language: 'sh', code: 'acuity nonsense\n' } as Fence;
    t.match(await wrongIn([planted, ...(others ?? [])], clone, server), /nonsense/, `planted in ${page}`);
  }
});

t.test('the SQL of the pages runs', async (t) => {
  const engine = await (await DuckDBInstance.create()).connect();
  t.teardown(() => engine.closeSync());
  await engine.run('CREATE TABLE scores (person TEXT PRIMARY KEY, history TEXT)');
  const statements = FENCES.filter(({ language }) => language === 'sql').flatMap(
    ({ code }) => code.match(/^[A-Z][^;]*;/gm) ?? [],
  );
  t.ok(statements.length > 3);
  for (const statement of statements) {
    const prepared = await engine.prepare(statement);
    for (let place = 1; place <= prepared.parameterCount; place++)
      prepared.bindVarchar(place, `text ${place}`);
    await t.resolves(prepared.run(), statement);
  }
});
