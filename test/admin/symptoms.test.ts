import t from 'tap';
import { METRICS, PROCESS_METRICS } from '#acuity/contract/metrics.js';
import { VARIABLES } from '#acuity/config/variables.js';
import type { Point } from '#acuity/admin/timeSeries.js';
import { SYMPTOMS } from '#acuity/admin/symptoms.js';

const CALM: Point = {
  atMs: 0,
  served: 1000,
  refused: 0,
  p50Ms: 1,
  p99Ms: 5,
  p999Ms: 9,
  inFlight: 20,
  queued: 3,
  batchRows: 8,
  workersBusy: 0.5,
  loopsBusy: [0.4, 0.5],
  lagMs: 0.3,
  gc: 0.01,
  rssBytes: 1,
  connections: 64,
  faults: 0,
  refusals: {},
};
const IDLE: Point = { ...CALM, served: 0, p50Ms: NaN, p99Ms: NaN, p999Ms: NaN, batchRows: NaN };

function red(point: Partial<Point>, isReady = true): string[] {
  const recent = { points: [{ ...CALM, ...point }], isReady, deadlineMs: 1000 };
  return SYMPTOMS.filter(({ isRed }) => isRed?.(recent)).map(({ id }) => id);
}

t.test('nothing is red while all is well, idle, or just started', async (t) => {
  t.strictSame(red({}), []);
  t.strictSame(red(IDLE), []);
  const none = SYMPTOMS.filter(({ isRed }) => isRed?.({ points: [], isReady: true, deadlineMs: 1000 }));
  t.strictSame(none, []);
});

t.test('a key store that was not seen for a while is red', async (t) => {
  const at = (keyStoreAgeS: number): string[] =>
    SYMPTOMS.filter(({ isRed }) =>
      isRed?.({ points: [CALM], isReady: true, deadlineMs: 1000, keyStoreAgeS }),
    ).map(({ id }) => id);
  t.strictSame(at(1), []);
  t.strictSame(at(10), ['keyStore']);
});

const CASES: readonly [id: string, point: Partial<Point>][] = [
  ['queueFull', { refused: 1, refusals: { queueFull: 1 } }],
  ['deadline', { refused: 1, refusals: { deadline: 1 } }],
  ['loopBusy', { loopsBusy: [0.2, 0.95] }],
  ['loopBusy', { refused: 1, refusals: { loopLag: 1 } }],
  ['workersBusy', { workersBusy: 0.97 }],
  ['slow', { p99Ms: 700 }],
  ['bodiesFull', { refused: 1, refusals: { bodiesFull: 1 } }],
  ['faults', { faults: 1 }],
  ['faults', { refused: 1, refusals: { internal: 1 } }],
  ['keys', { refused: 150, refusals: { keyInvalid: 150 } }],
  ['limits', { refused: 150, refusals: { rateDaily: 150 } }],
  ['bodies', { refused: 150, refusals: { unprocessable: 150 } }],
];

for (const [id, point] of CASES) {
  t.test(`${id} is red when it shows: ${JSON.stringify(point)}`, async (t) => {
    t.strictSame(red(point), [id]);
  });
}

t.test('a caller’s mistake now and then is no symptom', async (t) => {
  t.strictSame(red({ refused: 3, refusals: { keyInvalid: 1, unprocessable: 1, rateBurst: 1 } }), []);
  t.strictSame(
    red({ ...IDLE, refused: 5, refusals: { keyInvalid: 5 } }),
    [],
    'nor where hardly anybody calls',
  );
});

t.test('a service that takes no request is red', async (t) => {
  t.strictSame(red({}, false), ['notReady']);
});

t.test('symptoms name metrics and variables that exist', async (t) => {
  const metrics: readonly string[] = [METRICS, PROCESS_METRICS].flatMap((catalogue) =>
    Object.values(catalogue).map(({ name }) => name),
  );
  const variables: readonly string[] = Object.values(VARIABLES).map(({ env }) => env);
  t.equal(new Set(SYMPTOMS.map(({ id }) => id)).size, SYMPTOMS.length);
  for (const symptom of SYMPTOMS) {
    t.ok(symptom.metrics.length > 0);
    for (const name of symptom.metrics) t.ok(metrics.includes(name), name);
    for (const name of symptom.remedy.match(/ACUITY_\w+/g) ?? []) t.ok(variables.includes(name), name);
  }
});
