import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { FEATURES } from '#acuity/contract/features.js';
import type { PredictionRequestBody } from '#acuity/contract/request.js';
import { solve } from '#training/cohort/numeric.js';
import { manifestOf, MODEL } from '../fixtures/model.js';
import { onnxModel, type GraphOrder, type Tensor } from '../fixtures/onnx.js';
import { cleanEnvironment, REPOSITORY } from '../fixtures/repository.js';
import { ended } from '../fixtures/scripts.js';
import { startServer } from '../fixtures/server.js';
import { seededRandom } from '#acuity/base/random.js';
import { session } from '../fixtures/bodies.js';

const PAGE = readFileSync(join(REPOSITORY, 'docs/MODELS.md'), 'utf8');
const STEP = /<!-- step: (\S+) -->\n```sh\n([^]*?)```\n/g;
const STEPS = new Map([...PAGE.matchAll(STEP)].map(([, name = '', command = '']) => [name, command]));
const WIDTH = FEATURES.length;
const OUTPUTS = 7;
const SESSIONS = 60;
const random = seededRandom(8);

interface Row {
  readonly session: readonly number[];
  readonly past: readonly (readonly number[])[];
  readonly targets: readonly (readonly number[])[];
  readonly present: readonly number[];
}

t.test('docs/MODELS.md, followed from the first line to the last by a network of another make', async (t) => {
  t.strictSame([...STEPS.keys()], ['rows', 'bundle', 'check', 'serve', 'evaluate']);
  const folder = t.testdir();
  const run = runnerIn(folder);
  const requests = Array.from({ length: SESSIONS }, (_, index) => requestNo(index));
  writeFileSync(
    join(folder, 'sessions.ndjson'),
    requests.map((request) => `${JSON.stringify(request)}\n`).join(''),
  );
  await run(t, 'rows');
  const rows = readFileSync(join(folder, 'rows.ndjson'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Row); // prettier-ignore
  t.equal(rows.length, SESSIONS);
  const wishes = rows.map((_, index) => wishFor(requests[index]));

  writeFileSync(join(folder, 'alone.onnx'), onnxModel(linear(fit(rows.map(aloneOf), wishes), ['session'])));
  writeFileSync(
    join(folder, 'with-past.onnx'),
    onnxModel(linear(fit(rows.map(withPastOf), wishes), PAST_INPUTS)),
  );
  writeFileSync(join(folder, 'MODEL_CARD.md'), '# my-network\n\nFitted to wishes.\n');
  writeFileSync(join(folder, 'training.json'), JSON.stringify({ sessions: SESSIONS }));
  const golden = requests.slice(0, 6).map((request, index) => ({ name: `request ${index}`, request }));
  writeFileSync(join(folder, 'requests.json'), JSON.stringify(golden));
  const { measured } = manifestOf(MODEL);
  writeFileSync(join(folder, 'measured.json'), JSON.stringify(measured));
  await run(t, 'bundle');
  t.strictSame(manifestOf(join(folder, 'my-network')).measured, measured);
  t.match(await run(t, 'check'), /ok {2}golden: \d cases/);

  const server = await startServer(t, { env: { ACUITY_MODEL: join(folder, 'my-network') } });
  t.equal(STEPS.get('serve'), 'ACUITY_MODEL=my-network acuity serve\n');
  const answer = await fetch(`http://127.0.0.1:${server.port}/predict`, {
    method: 'POST',
    headers: { 'X-API-Key': server.key, 'Content-Type': 'application/json' },
    body: JSON.stringify(requests[1]),
  });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('x-model-version'), 'my-network/1.0.0');
  const { attention } = (await answer.json()) as { attention: number };
  t.ok(Math.abs(attention - 100 * sigmoid(wishes[1]?.[1] ?? NaN)) < 15, 'it says what it was fitted to');
  const metrics = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
  t.match(metrics, 'acuity_model_info{version="my-network/1.0.0"} 1');

  t.match(
    await run(t, 'evaluate', REPOSITORY, [['my-network', join(folder, 'my-network')]]),
    / 3 {2}History/,
  );
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
  const folder = t.testdir({ 'no.onnx': 'no graph', 'requests.json': '{}', 'training.json': '[]' });
  const run = runnerIn(folder);
  const flags = '--base no.onnx --history other.onnx --out out --name n --version 1';
  const cases: readonly [command: string, reason: RegExp][] = [
    [`acuity model bundle ${flags}`, /other\.onnx/],
    [`acuity model bundle ${flags.replace('other', 'no')}`, /names of their own/],
    ['echo nonsense | acuity model rows', /line 1 is no valid request/],
    [
      'cp no.onnx other.onnx && acuity model bundle ' + flags.replace('--name n', "--name 'two words'"),
      /name/,
    ],
    [`acuity model bundle ${flags} --golden requests.json`, /requests\.json is not/],
    [`acuity model bundle ${flags} --training training.json`, /training\.json holds no JSON object/],
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
  const run = async (t: Test, step: string, cwd = folder, replaced: readonly [string, string][] = []) => {
    const text = replaced.reduce((all, [from, to]) => all.replace(from, to), STEPS.get(step) ?? 'false');
    const { code, stdout, stderr } = await command(text, cwd);
    t.equal(code, 0, `${step}: ${stderr}`);
    return stdout;
  };
  return Object.assign(run, { command });
}

/** A request of a made-up person; every second one has history. */
function requestNo(index: number): PredictionRequestBody {
  const age = Math.round(20 + 60 * random());
  const current_session = { ...session(index + 1), age, sex: index % 3 === 0 ? null : ('F' as const) };
  if (index % 2 === 0) return { current_session };
  const count = 1 + (index % 5);
  const record = { C_SCORE: 50, attention: 40 + 20 * random(), memory: 50, reasoning: 50, stress: 50 };
  return {
    current_session,
    past_sessions: Array.from({ length: count }, (_, past) => ({ ...session(index + past), age })),
    past_targets: Array.from({ length: count }, () => ({ ...record, valence: 'High', arousal: 'Low' })),
  };
}

/** What the other network is to say, as logits: nonsense that a linear network can learn. */
function wishFor(request: PredictionRequestBody | undefined): number[] {
  const old = ((request?.current_session.age ?? 45) - 45) / 30;
  return [-old, -old, -old / 2, 0.1, old / 2, 0.3, -0.3];
}

const PAST_INPUTS = ['session', 'past', 'targets', 'present'] as const;
const aloneOf = ({ session }: Row): number[] => [...session];
/** Sums over all five places, and how many of them hold a session. */
const withPastOf = ({ session, past, targets, present }: Row): number[] => [
  ...session,
  ...sumOf(past),
  ...sumOf(targets),
  present.reduce((sum, value) => sum + value, 0),
];

function sumOf(rows: readonly (readonly number[])[]): number[] {
  const [first = []] = rows;
  return first.map((_, at) => rows.reduce((sum, row) => sum + (row[at] ?? 0), 0));
}

interface Weights {
  /** [inputs, OUTPUTS] */
  readonly matrix: readonly number[];
  readonly inputs: number;
  readonly bias: readonly number[];
}

/** Ridge regression, an output at a time; the bias is the mean. */
function fit(rows: readonly (readonly number[])[], wishes: readonly (readonly number[])[]): Weights {
  const inputs = rows[0]?.length ?? 0;
  const normal = new Float64Array(inputs * inputs);
  for (const row of rows) {
    for (let i = 0; i < inputs; i++) {
      for (let j = 0; j < inputs; j++) normal[i * inputs + j] = (normal[i * inputs + j] ?? 0) + (row[i] ?? 0) * (row[j] ?? 0); // prettier-ignore
    }
  }
  for (let i = 0; i < inputs; i++) normal[i * inputs + i] = (normal[i * inputs + i] ?? 0) + 0.5;
  const bias = sumOf(wishes).map((sum) => sum / wishes.length);
  const columns = bias.map((centre, output) => {
    const right = new Float64Array(inputs);
    rows.forEach((row, at) =>
      row.forEach(
        (value, i) => (right[i] = (right[i] ?? 0) + value * ((wishes[at]?.[output] ?? 0) - centre)),
      ),
    );
    return solve(normal, right);
  });
  const matrix = Array.from({ length: inputs * OUTPUTS }, (_, at) => columns[at % OUTPUTS]?.[Math.floor(at / OUTPUTS)] ?? 0); // prettier-ignore
  return { matrix, inputs, bias };
}

/** A linear network with a sigmoid, in other operators than the shipped one has. */
function linear({ matrix, inputs, bias }: Weights, from: readonly string[]): GraphOrder {
  const hasPast = from.length > 1;
  const scale: Tensor = { name: 'scale', dims: [OUTPUTS], values: [100, 100, 100, 100, 100, 1, 1] };
  const reduce = hasPast
    ? [
        { op: 'ReduceSum', inputs: ['past', 'axes'], output: 'pastSum', attributes: { keepdims: 0 } },
        { op: 'ReduceSum', inputs: ['targets', 'axes'], output: 'targetSum', attributes: { keepdims: 0 } },
        { op: 'ReduceSum', inputs: ['present', 'axes'], output: 'count', attributes: { keepdims: 1 } },
        {
          op: 'Concat',
          inputs: ['session', 'pastSum', 'targetSum', 'count'],
          output: 'row',
          attributes: { axis: 1 },
        },
      ]
    : [];
  const dims: Readonly<Record<string, readonly number[]>> = {
    session: [WIDTH],
    past: [5, WIDTH],
    targets: [5, OUTPUTS],
    present: [5],
  };
  return {
    nodes: [
      ...reduce,
      { op: 'MatMul', inputs: [hasPast ? 'row' : 'session', 'matrix'], output: 'product' },
      { op: 'Add', inputs: ['product', 'bias'], output: 'logits' },
      { op: 'Sigmoid', inputs: ['logits'], output: 'share' },
      { op: 'Mul', inputs: ['share', 'scale'], output: 'scores' },
    ],
    constants: [
      { name: 'matrix', dims: [inputs, OUTPUTS], values: matrix },
      { name: 'bias', dims: [OUTPUTS], values: bias },
      scale,
      ...(hasPast ? [{ name: 'axes', dims: [1], values: [1] }] : []),
    ],
    inputs: from.map((name) => ({ name, dims: dims[name] ?? [] })),
    output: { name: 'scores', dims: [OUTPUTS] },
  };
}

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value));
}
