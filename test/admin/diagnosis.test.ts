import t from 'tap';
import { VARIABLES } from '#acuity/config/variables.js';
import { METRICS } from '#acuity/contract/metrics.js';
import { diagnose, signWords, type Diagnosis } from '#acuity/admin/diagnosis.js';
import type { Recent } from '#acuity/admin/measurements.js';
import { PROCESS_METRICS } from '#acuity/admin/processMetrics.js';
import { SYMPTOMS } from '#acuity/admin/symptoms.js';
import type { Point } from '#acuity/admin/timeSeries.js';

const CALM: Point = {
  atMs: 0,
  served: 1000,
  refused: 0,
  p50Ms: 1,
  p99Ms: 5,
  p999Ms: 9,
  inFlight: 20,
  inFlightMost: 20,
  queued: 3,
  batchRows: 8,
  stagesMs: [0.2, 0.1, 0.1, 0.2, 0.4, 0.1],
  workersBusy: 0.5,
  loopsBusy: [0.4, 0.5],
  loopsOnCore: [0.4, 0.5],
  lagMs: 0.3,
  gc: 0.01,
  rssBytes: 1,
  connections: 64,
  heldBytes: 0,
  counted: {},
  refusals: {},
};
const NONE_MS = { p50Ms: NaN, p99Ms: NaN, p999Ms: NaN, batchRows: NaN, stagesMs: Array<number>(6).fill(NaN) };
const IDLE: Point = {
  ...CALM,
  ...NONE_MS,
  served: 0,
  loopsBusy: [0, 0],
  loopsOnCore: [0, 0],
  workersBusy: 0,
};

function recent(point: Partial<Point>, more: Partial<Recent> = {}): Recent {
  return {
    points: Array.from({ length: 5 }, () => ({ ...CALM, ...point })),
    isReady: true,
    deadlineMs: 1000,
    queueMax: 2048,
    bodiesMaxBytes: 64 << 20,
    keyStoreAgeMs: 300,
    hasKeys: true,
    modelRefusal: undefined,
    ...more,
  };
}

/** What shows, in its order: `red loopBusy, amber keys`. */
function said({ symptoms }: Diagnosis): string {
  return symptoms.map(({ id, level }) => `${level} ${id}`).join(', ');
}

t.test('nothing is amber while all is well, idle, or just started', async (t) => {
  const mistakes = { refused: 3, refusals: { keyInvalid: 1, unprocessable: 1, rateBurst: 1 } };
  for (const seen of [
    recent({}),
    recent(IDLE),
    { ...recent({}), points: [] },
    recent(mistakes),
    recent({ ...IDLE, refused: 3, refusals: { keyInvalid: 3 } }),
    recent({}, { keyStoreAgeMs: 4_000 }),
  ])
    t.match(diagnose(seen), { level: 'calm', symptoms: [] });
});

const loop = (busy: number, onCore = busy): Partial<Point> => ({
  loopsBusy: [0.1, busy],
  loopsOnCore: [0.1, onCore],
});
const MODEL = { modelRefusal: 'golden scores differ' };

/** What is wrong, with what was seen. */
const CASES: readonly (readonly [wrong: string, point: Partial<Point>, more?: Partial<Recent>])[] = [
  [
    'red loopBusy, red loopLate, red queueFull, red deadline, red slow',
    { ...loop(0.97), workersBusy: 0.05, p99Ms: 700, refusals: { queueFull: 100, deadline: 3, loopLag: 7 } },
  ],
  ['red loopLate', { ...loop(0.13), refusals: { loopLag: 2 } }],
  [
    'red workersBusy, red queueFull, red slow',
    { workersBusy: 0.98, p99Ms: 600, inFlight: 2000, refusals: { queueFull: 40 } },
  ],
  ['red loopBusy, red workersBusy', { ...loop(0.96), workersBusy: 0.95 }],
  [
    'red coresFull, red workersBusy, red queueFull',
    { ...loop(0.99, 0.5), workersBusy: 0.95, refusals: { queueFull: 9 } },
  ],
  // Without the loop's share of the cores, the other figures decide.
  ['red loopBusy', { ...loop(0.97, NaN), workersBusy: 0.05 }],
  ['amber loopBusy', loop(0.8)],
  ['red limits', { served: 20, refused: 180, refusals: { rateBurst: 180 } }],
  ['amber limits', { refused: 40, refusals: { rateDaily: 40 } }],
  ['red keys, red loopBusy', { served: 10, ...loop(0.97), refusals: { keyInvalid: 9000 } }],
  ['red keys, red loopBusy', { served: 800, ...loop(0.97), refusals: { keyInvalid: 200 } }],
  ['amber keys', { served: 345, refusals: { keyMissing: 30 } }],
  ['red faults, red slow', { counted: { workerRestarts: 1 }, p99Ms: 900 }],
  ['amber modelRefused', {}, MODEL],
  ['red slow, amber modelRefused', { p99Ms: 700, stagesMs: [600, 0.1, 0.1, 0.2, 0.4, 0.1] }, MODEL],
  ['red notReady', {}, { isReady: false }],
  ['red faults, red notReady', { refusals: { hung: 12 } }, { isReady: false }],
  ['amber bodiesFull', { heldBytes: 60 << 20 }],
  ['red connectionsFull', { counted: { connectionsRefused: 2 } }],
  ['red bodies', { served: 850, refused: 150, refusals: { unprocessable: 150 } }],
  ['amber noKeys', {}, { hasKeys: false }],
  ['amber keyStore, amber noKeys', {}, { hasKeys: false, keyStoreAgeMs: 12_000 }],
  ['amber keyStore', {}, { keyStoreAgeMs: 12_000 }],
  ['red notReady, amber keyStore', {}, { keyStoreAgeMs: 86_400_000, isReady: false }],
];

t.test('the worst comes first, of those alike the cause, each with what made it so', async (t) => {
  for (const [wrong, point, more] of CASES) {
    const diagnosis = diagnose(recent(point, more));
    t.equal(said(diagnosis), wrong);
    t.notMatch(diagnosis.sentence, /NaN|undefined|^All is well/, diagnosis.sentence);
    for (const { evidence } of diagnosis.symptoms) t.ok(evidence.length > 0, wrong);
  }
});

t.test('the measured value is shown beside the threshold that it passed', async (t) => {
  const [slow] = diagnose(recent({ p99Ms: 300 })).symptoms;
  t.match(slow?.evidence, [{ what: 'p99', value: '300 ms', limit: 'amber from 250 ms' }]);
  const [busy] = diagnose(recent({ workersBusy: 0.93 })).symptoms;
  t.match(busy?.evidence, [{ what: 'workers busy', value: '93 %', limit: 'red from 90 %' }]);
});

t.test('symptoms name metrics, variables and symptoms that exist', async (t) => {
  const metrics = new Set(
    [METRICS, PROCESS_METRICS].flatMap((all) => Object.values(all).map(({ name }) => name)),
  );
  const variables = new Set<string>(Object.values(VARIABLES).map(({ env }) => env));
  for (const symptom of SYMPTOMS) {
    t.ok(symptom.metrics.length > 0 && symptom.metrics.every((name) => metrics.has(name)), symptom.id);
    const texts = [symptom.remedy, ...symptom.signs.map(signWords)].join(' ');
    for (const name of texts.match(/ACUITY_\w+/g) ?? []) t.ok(variables.has(name), name);
  }
});

t.test('one late request is amber, several are red; so is a p99 of one second, and of most', async (t) => {
  const levelOf = (...seconds: readonly Partial<Point>[]) =>
    diagnose(recent({}, { points: [{}, {}, {}, ...seconds].map((second) => ({ ...CALM, ...second })) }))
      .level;
  const late = (deadline: number): Partial<Point> => ({ refusals: { deadline } });
  t.strictSame([levelOf(late(1), {}), levelOf(late(4), late(1))], ['amber', 'red']);
  const slow = { p99Ms: 4_000 };
  t.strictSame([levelOf(slow, {}), diagnose(recent(slow)).level], ['amber', 'red']);
});
