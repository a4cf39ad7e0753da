import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openStores } from '#acuity/auth/location.js';
import { issue, revoked } from '#acuity/auth/lifecycle.js';
import { FEATURES } from '#acuity/contract/features.js';
import { requestBody } from '../fixtures/bodies.js';
import { graphsOf, manifestOf, MODEL } from '../fixtures/model.js';
import { REDIS, startStore } from '../fixtures/redis.js';
import { cleanEnvironment, REPOSITORY, textOf } from '../fixtures/repository.js';
import { ended, type Ended } from '../fixtures/scripts.js';
import { startServer, type RunningServer } from '../fixtures/server.js';
import { until } from '../fixtures/until.js';

/** Backup and restore of keys, and a model of one's own: by the commands of the documents as they stand there. */

const STEP = /<!-- step: (\S+) -->\n```sh\n([^]*?)```\n/g;
const MODELS = textOf('docs/MODELS.md');
const STEPS = new Map(
  [...`${textOf('docs/OPERATIONS.md')}${MODELS}`.matchAll(STEP)].map(([, name = '', sh = '']) => [name, sh]),
);

/** `acuity` is this build. */
function run(command: string, cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const acuity = `acuity() { "${process.execPath}" "${join(REPOSITORY, 'dist/main.js')}" "$@"; }\nset -e\n`;
  return ended('bash', ['-c', acuity + command], {
    cwd,
    env: cleanEnvironment({ ACUITY_WORKERS: '1', ...env }),
  });
}

async function follow(t: Test, step: string, cwd: string, env = {}): Promise<string> {
  const { code, stdout, stderr } = await run(STEPS.get(step) ?? 'exit 9', cwd, env);
  t.equal(code, 0, `${step}: ${stderr}`);
  return stdout;
}

const answered = (server: RunningServer, key: string, wanted: number): Promise<void> =>
  until(async () => (await server.predict(undefined, key)).status === wanted);

t.test('the keys of a file', async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'data'));
  const location = `file:${join(folder, 'data/keys.json')}`;
  const { keys } = await openStores(location);
  const [before, after] = [issue({ kind: 'live' }, Date.now()), issue({ kind: 'live' }, Date.now())];
  await keys.insert(before.record);
  const server = await startServer(t, { env: { ACUITY_KEYS: location } });
  await follow(t, 'backup-file', folder);
  await keys.insert(after.record);
  await keys.amend(before.record.id, (record) => revoked(record, Date.now()));
  await answered(server, after.key, 200);
  await answered(server, before.key, 403);
  await follow(t, 'restore-file', folder);
  await answered(server, before.key, 200);
  await answered(server, after.key, 403);
  t.match(await follow(t, 'check-keys', folder, { ACUITY_KEYS: location }), before.record.id);
});

t.test('the keys of a shared store', { skip: REDIS.skip }, async (t) => {
  const store = await startStore(t);
  const stores = await openStores(store.url);
  const { record, key } = issue({ kind: 'live' }, Date.now());
  await stores.keys.insert(record);
  stores.close();
  const folder = t.testdir();
  await follow(t, 'backup-redis', folder, { STORE: store.url });
  await store.kill();
  await store.start(); // empty
  await follow(t, 'restore-redis', folder, { STORE: store.url });
  const server = await startServer(t, { env: { ACUITY_KEYS: store.url } });
  await answered(server, key, 200);
  t.match(await follow(t, 'check-keys', folder, { ACUITY_KEYS: store.url }), record.id);
  const later = await openStores(store.url);
  const other = issue({ kind: 'live' }, Date.now());
  await later.keys.insert(other.record);
  later.close();
  await answered(server, other.key, 200); // keys go on being issued
});

t.test('docs/MODELS.md, followed from the first line up to a bundle that serves', async (t) => {
  const folder = t.testdir();
  const requests = Array.from({ length: 6 }, (_, seed) => requestBody(seed % 3, seed + 1));
  writeFileSync(
    join(folder, 'sessions.ndjson'),
    requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
  );
  await follow(t, 'rows', folder);
  const [row = ''] = readFileSync(join(folder, 'rows.ndjson'), 'utf8').split('\n');
  const { session, past, targets, present } = JSON.parse(row) as Record<string, number[]>;
  const lengths = [session, past, targets, present].map((rows) => rows?.length);
  t.strictSame(lengths, [FEATURES.length, 5, 5, 5]);

  copyFileSync(graphsOf(MODEL).base, join(folder, 'alone.onnx'));
  copyFileSync(graphsOf(MODEL).history, join(folder, 'with-past.onnx'));
  writeFileSync(join(folder, 'MODEL_CARD.md'), '# my-network\n\nA copy.\n');
  writeFileSync(join(folder, 'training.json'), JSON.stringify({ sessions: requests.length }));
  const golden = requests.map((request, index) => ({ name: `request ${index}`, request }));
  writeFileSync(join(folder, 'requests.json'), JSON.stringify(golden));
  const { measured } = manifestOf(MODEL);
  writeFileSync(join(folder, 'measured.json'), JSON.stringify(measured));
  await follow(t, 'bundle', folder);
  t.strictSame(manifestOf(join(folder, 'my-network')).measured, measured);
  const checked = await follow(t, 'check', folder);
  t.match(checked, /ok {2}golden: \d cases/);
  t.match(checked, /no table to explain scores by: npm run model:build -- --explain FOLDER/);

  t.equal(STEPS.get('serve'), 'ACUITY_MODEL=my-network acuity serve\n');
  const server = await startServer(t, { env: { ACUITY_MODEL: join(folder, 'my-network') } });
  const answer = await server.predict(JSON.stringify(requests[1]));
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('x-model-version'), 'my-network/1.0.0');
});

t.test('the page lists the features as they are', async (t) => {
  const listed = [...MODELS.matchAll(/^\| (\d+) \| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \| .+ \|$/gm)];
  t.strictSame(
    listed.map(([, place, name, unit, centre, scale]) => [
      Number(place),
      name,
      unit,
      Number(centre),
      Number(scale),
    ]),
    FEATURES.flatMap(({ name, group, unit, centre, scale }, place) =>
      name === `${group}_known` ? [] : [[place, name, unit, centre, scale]],
    ),
  );
});

t.test('a bundle that can’t be made says why, in one line', async (t) => {
  const folder = t.testdir({
    'no.onnx': 'no graph',
    'other.onnx': 'another',
    'requests.json': '{}',
    'training.json': '[]',
  });
  const flags = '--base no.onnx --history other.onnx --out out --name n --version 1';
  const cases: readonly [command: string, reason: RegExp][] = [
    [`acuity model bundle ${flags.replace('other', 'none')}`, /none\.onnx/],
    ['echo nonsense | acuity model rows', /line 1 is no valid request/],
    [`acuity model bundle ${flags} --measured training.json`, /\/measured must be object/],
  ];
  for (const [command, reason] of cases) {
    const { code, stderr } = await run(command, folder);
    t.equal(code, 1, command);
    t.match(stderr, reason, command);
    t.equal(stderr.split('\n').filter((line) => line.startsWith('acuity model:')).length, 1, stderr);
  }
});
