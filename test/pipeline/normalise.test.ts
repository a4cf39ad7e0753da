import fc from 'fast-check';
import t from 'tap';
import { Sleep } from '#rules/sleep.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { normaliseSleep } from '#acuity/pipeline/normalise.js';
import { writeScalars, type SessionScalars } from '#acuity/records/write.js';

type Known = Partial<Record<keyof Sleep, number>>;

function normalised(scalars: SessionScalars): Known {
  const records = new Float64Array(2 * LAYOUT.RECORD_LENGTH);
  const sleep = new Sleep();
  writeScalars(scalars, records, LAYOUT.RECORD_LENGTH);
  normaliseSleep(records, LAYOUT.RECORD_LENGTH, sleep);
  return Object.fromEntries(Object.entries(sleep).filter(([, value]) => !Number.isNaN(value)));
}

const ALL = { deepS: 5400, remS: 6000, lightS: 14_700, sleepS: 26_100 };
const SHARES = { deepShare: 5400 / 26_100, remShare: 6000 / 26_100, lightShare: 14_700 / 26_100 };
const STAGES = { deepSleepSeconds: 5400, remSleepSeconds: 6000, lightSleepSeconds: 14_700 };

const cases: readonly { readonly name: string; readonly given: SessionScalars; readonly known: Known }[] = [
  { name: 'nothing', given: {}, known: {} },
  {
    name: 'nulls',
    given: { sleepTimeSeconds: null, deepSleepSeconds: null, deepPercentage: null },
    known: {},
  },
  { name: 'three stages', given: STAGES, known: { ...ALL, ...SHARES } },
  {
    name: 'three stages and a sleep time that counts awake time',
    given: { ...STAGES, sleepTimeSeconds: 27_900, awakeSleepSeconds: 1800 },
    known: { ...ALL, ...SHARES, awakeS: 1800 },
  },
  {
    name: 'three stages and shares that contradict them',
    given: { ...STAGES, deepPercentage: 90, remPercentage: 5, lightPercentage: 5 },
    known: { ...ALL, ...SHARES },
  },
  {
    name: 'three stages of nothing',
    given: { deepSleepSeconds: 0, remSleepSeconds: 0, lightSleepSeconds: 0, deepPercentage: 20 },
    known: { deepS: 0, remS: 0, lightS: 0, sleepS: 0 },
  },
  {
    name: 'fractions alone',
    given: { deepPercentage: 0.2, remPercentage: 0.25, lightPercentage: 0.55 },
    known: { deepShare: 0.2, remShare: 0.25, lightShare: 0.55 },
  },
  {
    name: 'percent points alone',
    given: { deepPercentage: 20, remPercentage: 25, lightPercentage: 55 },
    known: { deepShare: 0.2, remShare: 0.25, lightShare: 0.55 },
  },
  {
    name: 'fractions that sum to 1.05',
    given: { deepPercentage: 0.2, remPercentage: 0.25, lightPercentage: 0.6 },
    known: { deepShare: 0.2, remShare: 0.25, lightShare: 0.6 },
  },
  {
    name: 'shares of at most 1 are fractions, with any sum',
    given: { deepPercentage: 0.4, remPercentage: 0.3, lightPercentage: 0.4 },
    known: { deepShare: 0.4, remShare: 0.3, lightShare: 0.4 },
  },
  {
    name: 'one share above 1 among small ones: percent points',
    given: { deepPercentage: 0.5, remPercentage: 0.5, lightPercentage: 99 },
    known: { deepShare: 0.005, remShare: 0.005, lightShare: 0.99 },
  },
  {
    name: 'two fractions: the third share is what is left',
    given: { deepPercentage: 0.25, lightPercentage: 0.5 },
    known: { deepShare: 0.25, lightShare: 0.5, remShare: 0.25 },
  },
  {
    name: 'two shares above the whole leave no third',
    given: { deepPercentage: 60, lightPercentage: 50 },
    known: { deepShare: 0.6, lightShare: 0.5 },
  },
  { name: 'one fraction', given: { remPercentage: 1 }, known: { remShare: 1 } },
  {
    name: 'the total and two stages give the third',
    given: { sleepTimeSeconds: 26_100, deepSleepSeconds: 5400, remSleepSeconds: 6000 },
    known: { ...ALL, ...SHARES },
  },
  {
    name: 'a total below its stages leaves the third missing',
    given: { sleepTimeSeconds: 10_000, deepSleepSeconds: 5400, remSleepSeconds: 6000 },
    known: { sleepS: 10_000, deepS: 5400, remS: 6000, deepShare: 0.54, remShare: 0.6 },
  },
  {
    name: 'a share and the total give the stage',
    given: { sleepTimeSeconds: 20_000, deepPercentage: 25 },
    known: { sleepS: 20_000, deepShare: 0.25, deepS: 5000 },
  },
  {
    name: 'a stage and the total give the share',
    given: { sleepTimeSeconds: 20_000, remSleepSeconds: 5000 },
    known: { sleepS: 20_000, remS: 5000, remShare: 0.25 },
  },
  {
    name: 'a stage and its share give the total',
    given: { lightSleepSeconds: 12_000, lightPercentage: 0.5 },
    known: { lightS: 12_000, lightShare: 0.5, sleepS: 24_000 },
  },
  {
    name: 'the total and two shares give all three stages',
    given: { sleepTimeSeconds: 20_000, deepPercentage: 0.25, remPercentage: 0.25 },
    known: {
      sleepS: 20_000,
      deepShare: 0.25,
      remShare: 0.25,
      lightShare: 0.5,
      deepS: 5000,
      remS: 5000,
      lightS: 10_000,
    },
  },
  { name: 'awake time alone', given: { awakeSleepSeconds: 600 }, known: { awakeS: 600 } },
  { name: 'no sleep at all', given: { sleepTimeSeconds: 0 }, known: { sleepS: 0 } },
];

for (const { name, given, known } of cases) {
  t.test(name, async (t) => {
    const actual = normalised(given);
    t.strictSame(Object.keys(actual).toSorted(), Object.keys(known).toSorted());
    for (const [field, value] of Object.entries(known)) {
      const found = actual[field as keyof Sleep] ?? NaN;
      t.ok(Math.abs(found - value) <= 1e-9 * (1 + value), `${field} is ${found}, expected ${value}`);
    }
  });
}

const seconds = fc.option(fc.integer({ min: 0, max: 172_800 }));
const points = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));
const scalars = fc.record({
  sleepTimeSeconds: seconds,
  deepSleepSeconds: seconds,
  remSleepSeconds: seconds,
  lightSleepSeconds: seconds,
  awakeSleepSeconds: seconds,
  deepPercentage: points,
  remPercentage: points,
  lightPercentage: points,
});

t.test('nothing that is derived is negative or infinite', async (t) => {
  fc.assert(
    fc.property(scalars, (given) => {
      return Object.values(normalised(given)).every((value) => value >= 0 && value < Infinity);
    }),
  );
  t.pass();
});

t.test('fractions and percent points of one night mean the same', async (t) => {
  const share = fc.integer({ min: 1, max: 50 });
  const total = fc.option(fc.integer({ min: 1, max: 172_800 }));
  fc.assert(
    fc.property(share, share, total, (deep, rem, sleepTimeSeconds) => {
      const light = 100 - deep - rem;
      const inPoints = { deepPercentage: deep, remPercentage: rem, lightPercentage: light };
      const inFractions = {
        deepPercentage: deep / 100,
        remPercentage: rem / 100,
        lightPercentage: light / 100,
      };
      // A single percent point of each would be read as a fraction of one.
      fc.pre(Math.max(deep, rem, light) > 1);
      const one = normalised({ ...inPoints, sleepTimeSeconds });
      const other = normalised({ ...inFractions, sleepTimeSeconds });
      return Object.entries(one).every(([field, value]) => {
        return Math.abs(value - (other[field as keyof Sleep] ?? NaN)) <= 1e-9 * (1 + value);
      });
    }),
  );
  t.pass();
});

t.test('a night read before leaves no trace', async (t) => {
  const records = new Float64Array(LAYOUT.RECORD_LENGTH);
  const sleep = new Sleep();
  writeScalars({ ...STAGES, awakeSleepSeconds: 60 }, records, 0);
  normaliseSleep(records, 0, sleep);
  writeScalars({}, records, 0);
  normaliseSleep(records, 0, sleep);
  t.ok(Object.values(sleep).every(Number.isNaN));
});
