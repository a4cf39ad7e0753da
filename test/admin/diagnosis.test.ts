import t from 'tap';
import { VARIABLES } from '#acuity/config/variables.js';
import { METRICS, PROCESS_METRICS } from '#acuity/contract/metrics.js';
import { diagnose, type Diagnosis } from '#acuity/admin/diagnosis.js';
import type { Recent } from '#acuity/admin/measurements.js';
import { signWords } from '#acuity/admin/symptom.js';
import { SymptomLog } from '#acuity/admin/symptomLog.js';
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
  connectionsRefused: 0,
  heldBytes: 0,
  workersLost: 0,
  runsFailed: 0,
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
    keyStoreAgeS: 0.3,
    hasKeys: true,
    modelVersion: 'acuity-base/1.0.0',
    modelRefusal: undefined,
    ...more,
  };
}

const causes = ({ causes }: Diagnosis): string[] => causes.map(({ id, level }) => `${level} ${id}`);
const effects = ({ causes }: Diagnosis): string[] => causes[0]?.effects.map(({ id }) => id) ?? [];

t.test('nothing is amber while all is well, idle, or just started', async (t) => {
  t.match(diagnose(recent({})), {
    level: 'calm',
    sentence: 'All is well: 1,000/s scored, p99 5 ms, event loop 50 % busy, workers 50 %.',
  });
  t.match(diagnose(recent(IDLE)), {
    level: 'calm',
    sentence: 'All is well: no request in the last 5 seconds.',
  });
  t.match(diagnose({ ...recent({}), points: [] }), { level: 'calm' });
});

/** What was seen, the first sentence, and the causes in their order. */
const CASES: readonly {
  readonly name: string;
  readonly point?: Partial<Point>;
  readonly more?: Partial<Recent>;
  readonly says: string;
  readonly causes: readonly string[];
  readonly effects?: readonly string[];
}[] = [
  {
    name: 'a saturated loop explains the queue and the waiting',
    point: {
      loopsBusy: [0.3, 0.97],
      loopsOnCore: [0.3, 0.95],
      workersBusy: 0.05,
      p99Ms: 700,
      refusals: { queueFull: 100, deadline: 3, loopLag: 7 },
    },
    says: 'An event loop is the limit: 97 % busy, workers 5 %.',
    causes: ['red loopBusy'],
    effects: ['loopLate', 'queueFull', 'deadline', 'slow'],
  },
  {
    name: 'a loop that was late is not called busy',
    point: { loopsBusy: [0.13], loopsOnCore: [0.1], refusals: { loopLag: 2 } },
    says: 'An event loop was late (13 % busy): 10 requests refused in the last 5 seconds.',
    causes: ['red loopLate'],
  },
  {
    name: 'saturated workers explain the queue and the waiting',
    point: { workersBusy: 0.98, p99Ms: 600, inFlight: 2000, refusals: { queueFull: 40 } },
    says: 'The workers are the limit: 98 % busy, event loop 50 %.',
    causes: ['red workersBusy'],
    effects: ['queueFull', 'slow'],
  },
  {
    name: 'both at once are said at once',
    point: { loopsBusy: [0.96], loopsOnCore: [0.95], workersBusy: 0.95 },
    says: 'The event loop and the workers are the limit: 96 % and 95 % busy.',
    causes: ['red loopBusy', 'red workersBusy'],
  },
  {
    name: 'a loop that is kept from the cores is not the limit, the cores are',
    point: { loopsBusy: [0.99], loopsOnCore: [0.5], workersBusy: 0.95, refusals: { queueFull: 9 } },
    says: 'The cores are the limit: the event loop is busy 99 % of the time and has a core for 50 %.',
    causes: ['red coresFull'],
    effects: ['workersBusy', 'queueFull'],
  },
  {
    name: 'without the loop’s share of the cores, the other figures decide',
    point: { loopsBusy: [0.97], loopsOnCore: [NaN], workersBusy: 0.05 },
    says: 'The event loop is the limit: 97 % busy, workers 5 %.',
    causes: ['red loopBusy'],
  },
  {
    name: 'amber comes before red',
    point: { loopsBusy: [0.8], loopsOnCore: [0.8] },
    says: 'The event loop is near the limit: 80 % busy, workers 50 %.',
    causes: ['amber loopBusy'],
  },
  {
    name: 'a key over its rate',
    point: { served: 20, refused: 180, refusals: { rateBurst: 180 } },
    says: 'Callers exceed the limits of their keys: 90 % of the requests get 429, mostly for the rate.',
    causes: ['red limits'],
  },
  {
    name: 'a key that has used up its day, beside a lively service',
    point: { refused: 40, refusals: { rateDaily: 40 } },
    says: 'Callers exceed the limits of their keys: 4 % of the requests get 429, mostly for the daily quota.',
    causes: ['amber limits'],
  },
  {
    name: 'junk keys, and a loop that is busy with nothing else',
    point: { served: 10, loopsBusy: [0.97], loopsOnCore: [0.97], refusals: { keyInvalid: 9000 } },
    says: 'Keys are not valid: 99 % of the requests have an unknown, expired or revoked one.',
    causes: ['red keys'],
    effects: ['loopBusy'],
  },
  {
    name: 'junk keys beside a loop that is busy with honest requests',
    point: { served: 800, loopsBusy: [0.97], loopsOnCore: [0.97], refusals: { keyInvalid: 200 } },
    says: 'The event loop is the limit: 97 % busy, workers 50 %.',
    causes: ['red loopBusy', 'red keys'],
  },
  {
    name: 'a caller that forgets its key',
    point: { served: 345, refusals: { keyMissing: 30 } },
    says: 'Keys are missing: 8 % of the requests have none.',
    causes: ['amber keys'],
  },
  {
    name: 'a lost worker, and what waited for it',
    point: { workersLost: 1, p99Ms: 900 },
    says: '5 workers lost in the last 5 seconds.',
    causes: ['red faults'],
    effects: ['slow'],
  },
  {
    name: 'a refused model',
    more: { modelRefusal: 'golden scores differ' },
    says: 'A new model was refused: acuity-base/1.0.0 keeps serving.',
    causes: ['amber modelRefused'],
  },
  {
    name: 'a refused model while callers suffer from something else',
    more: { modelRefusal: 'golden scores differ' },
    point: { p99Ms: 700, stagesMs: [600, 0.1, 0.1, 0.2, 0.4, 0.1] },
    says: 'Requests are slow: p99 700 ms of 1,000 ms allowed; most of the time goes to the stage receive.',
    causes: ['red slow', 'amber modelRefused'],
  },
  {
    name: 'not ready',
    more: { isReady: false },
    says: 'Not ready: the service takes no request.',
    causes: ['red notReady'],
  },
  {
    name: 'not ready because a worker hangs',
    more: { isReady: false },
    point: { refusals: { hung: 12 } },
    says: 'A worker hangs: requests are refused until another process starts.',
    causes: ['red faults'],
    effects: ['notReady'],
  },
  {
    name: 'bodies that fill their memory',
    point: { heldBytes: 60 << 20 },
    says: 'Bodies fill their memory: 60 MiB held of 64 MiB, 0 requests refused in the last 5 seconds.',
    causes: ['amber bodiesFull'],
  },
  {
    name: 'connections beyond their number',
    point: { connectionsRefused: 2 },
    says: '10 new connections closed at once in the last 5 seconds: the limit of open connections is reached.',
    causes: ['red connectionsFull'],
  },
  {
    name: 'bodies that can’t be scored',
    point: { served: 850, refused: 150, refusals: { unprocessable: 150 } },
    says: 'Bodies can’t be scored: 15 % of the requests are refused for their content.',
    causes: ['red bodies'],
  },
];

t.test('the first sentence names the cause', async (t) => {
  for (const { name, point = {}, more, says, ...expected } of CASES) {
    const diagnosis = diagnose(recent(point, more));
    t.equal(diagnosis.sentence, says, name);
    t.strictSame(causes(diagnosis), expected.causes, name);
    t.strictSame(effects(diagnosis), expected.effects ?? [], `${name}: what follows`);
    t.ok(
      diagnosis.causes.every(({ evidence }) => evidence.length > 0),
      `${name}: with what made it so`,
    );
  }
});

t.test('the measured value is shown beside the threshold that it passed', async (t) => {
  const [cause] = diagnose(recent({ p99Ms: 300, stagesMs: [300, 0, 0, 0, 0, 0] })).causes;
  t.match(cause?.evidence, [{ what: 'p99', value: '300 ms', limit: 'amber from 250 ms' }]);
  const [busy] = diagnose(recent({ workersBusy: 0.93 })).causes;
  t.match(busy?.evidence, [{ what: 'workers busy', value: '93 %', limit: 'red from 90 %' }]);
  const [refused] = diagnose(recent({}, { modelRefusal: 'because' })).causes;
  t.match(refused?.evidence, [{ value: 'because', limit: '' }]);
});

t.test('a caller’s mistake now and then is no symptom', async (t) => {
  const now = { refused: 3, refusals: { keyInvalid: 1, unprocessable: 1, rateBurst: 1 } };
  t.equal(diagnose(recent(now)).level, 'calm');
  t.equal(
    diagnose(recent({ ...IDLE, refused: 3, refusals: { keyInvalid: 3 } })).level,
    'calm',
    'nor where hardly anybody calls',
  );
});

t.test('symptoms name metrics, variables and symptoms that exist', async (t) => {
  const metrics: readonly string[] = [METRICS, PROCESS_METRICS].flatMap((catalogue) =>
    Object.values(catalogue).map(({ name }) => name),
  );
  const variables: readonly string[] = Object.values(VARIABLES).map(({ env }) => env);
  const ids = SYMPTOMS.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length);
  for (const symptom of SYMPTOMS) {
    t.ok(symptom.metrics.length > 0);
    for (const name of symptom.metrics) t.ok(metrics.includes(name), name);
    const texts = [symptom.remedy, ...symptom.signs.map(signWords)].join(' ');
    for (const name of texts.match(/ACUITY_\w+/g) ?? []) t.ok(variables.includes(name), name);
    if (!('sentence' in symptom)) continue;
    for (const { point, more } of CASES) {
      for (const id of symptom.followsFrom?.(recent(point ?? {}, more)) ?? []) t.ok(ids.includes(id), id);
    }
  }
});

const SLOW = diagnose(recent({ p99Ms: 300 }));
const SLOWER = diagnose(recent({ p99Ms: 800 }));
const WELL = diagnose(recent({}));

t.test('the log keeps amber and red entries with their worst value', async (t) => {
  const log = new SymptomLog();
  for (const [second, diagnosis] of [WELL, SLOW, SLOWER, SLOW, WELL].entries()) {
    log.note(diagnosis, 1000 * second);
  }
  t.match(log.entries, [{ id: 'slow', level: 'red', beganMs: 1000, seenMs: 3000, isOver: true }]);
  t.match(log.entries[0]?.sentence, /p99 800 ms/);
  log.note(SLOW, 30_000);
  t.match(log.entries, [{ beganMs: 1000, seenMs: 30_000, isOver: false }], 'soon again: the same episode');
  log.note(WELL, 31_000);
  log.note(SLOW, 200_000);
  t.match(log.entries, [{ beganMs: 200_000, isOver: false }, { beganMs: 1000 }], 'newest first');
});

t.test('the log keeps a day, and no more than it may', async (t) => {
  const log = new SymptomLog();
  log.note(SLOW, 0);
  log.note(WELL, 24 * 3_600_000);
  t.equal(log.entries.length, 1);
  log.note(WELL, 24 * 3_600_000 + 1);
  t.equal(log.entries.length, 0);
  for (let minute = 0; minute < 1000; minute++) log.note(SLOW, minute * 61_000);
  t.equal(log.entries.length, 200);
});

t.test(
  'no valid key is amber, with the command; nothing of it where the store is out of reach',
  async (t) => {
    const none = diagnose(recent({}, { hasKeys: false }));
    t.strictSame([none.level, causes(none)], ['amber', ['amber noKeys']]);
    t.match(none.sentence, /"acuity keys issue/);
    const unseen = diagnose(recent({}, { hasKeys: false, keyStoreAgeS: 12 }));
    t.strictSame([causes(unseen), effects(unseen)], [['amber keyStore'], ['noKeys']]);
  },
);

t.test('one late request is amber, several are red; so is a p99 of one second, and of most', async (t) => {
  const levelOf = (...seconds: readonly Partial<Point>[]) =>
    diagnose(recent({}, { points: [{}, {}, {}, ...seconds].map((second) => ({ ...CALM, ...second })) }))
      .level;
  const late = (deadline: number): Partial<Point> => ({ refusals: { deadline } });
  t.strictSame([levelOf(late(1), {}), levelOf(late(4), late(1))], ['amber', 'red']);
  const slow = { p99Ms: 4_000 };
  t.strictSame([levelOf(slow, {}), diagnose(recent(slow)).level], ['amber', 'red']);
});

t.test(
  'a key store out of reach is amber while known keys go on, and the cause where none counts any longer',
  async (t) => {
    t.strictSame(causes(diagnose(recent({}, { keyStoreAgeS: 4 }))), []);
    const gone = diagnose(recent({}, { keyStoreAgeS: 12 }));
    t.strictSame(causes(gone), ['amber keyStore']);
    t.match(gone.sentence, /last seen 12 s ago: known keys go on/);
    const stale = diagnose(recent({}, { keyStoreAgeS: 86_400, isReady: false }));
    t.strictSame([causes(stale), effects(stale)], [['red keyStore'], ['notReady']]);
    t.match(stale.sentence, /1,440 min ago: no key counts/);
  },
);
