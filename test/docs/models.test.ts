import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FEATURES } from '#acuity/contract/features.js';
import { graphsOf, manifestOf, MODEL } from '../fixtures/model.js';
import { send } from '../fixtures/connection.js';
import { requestBody } from '../fixtures/bodies.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';

const PAGE = readFileSync(join(REPOSITORY, 'docs/MODELS.md'), 'utf8');
const STEP = /<!-- step: (\S+) -->\n```sh\n([^]*?)```\n/g;
const STEPS = new Map([...PAGE.matchAll(STEP)].map(([, name = '', command = '']) => [name, command]));
t.test('docs/MODELS.md, followed from the first line up to a bundle that serves', async (t) => {
  const folder = t.testdir();
  const run = runnerIn(folder);
  const requests = Array.from({ length: 6 }, (_, seed) => requestBody(seed % 3, seed + 1));
  writeFileSync(
    join(folder, 'sessions.ndjson'),
    requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
  );
  await run(t, 'rows');
  const [row = ''] = readFileSync(join(folder, 'rows.ndjson'), 'utf8').split('\n');
  const { session, past, targets, present } = JSON.parse(row) as Record<string, number[]>;
  t.strictSame(
    [session, past, targets, present].map((rows) => rows?.length),
    [FEATURES.length, 5, 5, 5],
  );

  copyFileSync(graphsOf(MODEL).base, join(folder, 'alone.onnx'));
  copyFileSync(graphsOf(MODEL).history, join(folder, 'with-past.onnx'));
  writeFileSync(join(folder, 'MODEL_CARD.md'), '# my-network\n\nA copy.\n');
  writeFileSync(join(folder, 'training.json'), JSON.stringify({ sessions: requests.length }));
  const golden = requests.map((request, index) => ({ name: `request ${index}`, request }));
  writeFileSync(join(folder, 'requests.json'), JSON.stringify(golden));
  const { measured } = manifestOf(MODEL);
  writeFileSync(join(folder, 'measured.json'), JSON.stringify(measured));
  await run(t, 'bundle');
  t.strictSame(manifestOf(join(folder, 'my-network')).measured, measured);
  t.match(await run(t, 'check'), /ok {2}golden: \d cases/);

  t.equal(STEPS.get('serve'), 'ACUITY_MODEL=my-network acuity serve\n');
  const server = await startServer(t, { env: { ACUITY_MODEL: join(folder, 'my-network') } });
  const body = JSON.stringify(requests[1]);
  const answer = await send(server.port, { headers: { 'X-API-Key': server.key }, body });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('x-model-version'), 'my-network/1.0.0');
});

t.test('the page lists the features as they are', async (t) => {
  const listed = [...PAGE.matchAll(/^\| (\d+) \| `(\w+)` \| (.+?) \| (.+?) \| (.+?) \| .+ \|$/gm)];
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
  const run = runnerIn(folder);
  const flags = '--base no.onnx --history other.onnx --out out --name n --version 1';
  const cases: readonly [command: string, reason: RegExp][] = [
    [`acuity model bundle ${flags.replace('other', 'none')}`, /none\.onnx/],
    ['echo nonsense | acuity model rows', /line 1 is no valid request/],
    [`acuity model bundle ${flags} --measured training.json`, /\/measured must be object/],
  ];
  for (const [command, reason] of cases) {
    const { code, stderr } = await run.command(command);
    t.equal(code, 1, command);
    t.match(stderr, reason, command);
    t.equal(stderr.split('\n').filter((line) => line.startsWith('acuity model:')).length, 1, stderr);
  }
});

/** Runs the page's commands as they stand, `acuity` being this build. */
function runnerIn(folder: string) {
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'acuity'),
    `#!/bin/sh\nexec '${process.execPath}' '${join(REPOSITORY, 'dist/main.js')}' "$@"\n`,
  );
  chmodSync(join(bin, 'acuity'), 0o755);
  const env = cleanEnvironment({ PATH: `${bin}:${process.env['PATH'] ?? ''}`, ACUITY_WORKERS: '1' });
  const command = (text: string, cwd = folder) => ended('sh', ['-c', text], { cwd, env });
  const run = async (t: Test, step: string, cwd = folder) => {
    const text = STEPS.get(step) ?? 'false';
    const { code, stdout, stderr } = await command(text, cwd);
    t.equal(code, 0, `${step}: ${stderr}`);
    return stdout;
  };
  return Object.assign(run, { command });
}
