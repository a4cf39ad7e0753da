import t from 'tap';
import { Sleep } from '#rules/sleep.js';
import { LAYOUT } from '#acuity/records/layout.js';
import { normaliseSleep } from '#acuity/pipeline/normalise.js';
import { writeScalars, type SessionScalars } from '#acuity/records/places.js';

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

const TIMES = { deepSleepSeconds: 5400, remSleepSeconds: 6000, sleepTimeSeconds: 26_100 };
const shares = (deep?: number, rem?: number, light?: number): SessionScalars => ({
  ...(deep !== undefined && { deepPercentage: deep }),
  ...(rem !== undefined && { remPercentage: rem }),
  ...(light !== undefined && { lightPercentage: light }),
});
const THIRDS = { deepShare: 0.2, remShare: 0.25, lightShare: 0.55 };

const cases: readonly (readonly [name: string, given: SessionScalars, known: Known])[] = [
  ['nulls', { sleepTimeSeconds: null, deepSleepSeconds: null, deepPercentage: null }, {}],
  [
    'three stages, a time with awake time in it, and other shares',
    { ...STAGES, ...shares(90, 5, 5), sleepTimeSeconds: 27_900, awakeSleepSeconds: 1800 },
    { ...ALL, ...SHARES, awakeS: 1800 },
  ],
  [
    'three stages of nothing',
    { deepSleepSeconds: 0, remSleepSeconds: 0, lightSleepSeconds: 0, deepPercentage: 20 },
    { deepS: 0, remS: 0, lightS: 0, sleepS: 0 },
  ],
  ['fractions alone', shares(0.2, 0.25, 0.55), THIRDS],
  ['percent points alone', shares(20, 25, 55), THIRDS],
  [
    'shares of at most 1 are fractions, with any sum',
    shares(0.4, 0.3, 0.4),
    { deepShare: 0.4, remShare: 0.3, lightShare: 0.4 },
  ],
  [
    'one share above 1: percent points',
    shares(0.5, 0.5, 99),
    { deepShare: 0.005, remShare: 0.005, lightShare: 0.99 },
  ],
  [
    'two shares: the third is what is left',
    shares(0.25, undefined, 0.5),
    { deepShare: 0.25, lightShare: 0.5, remShare: 0.25 },
  ],
  [
    'two shares above the whole leave no third',
    shares(60, undefined, 50),
    { deepShare: 0.6, lightShare: 0.5 },
  ],
  ['one fraction', shares(undefined, 1), { remShare: 1 }],
  ['the total and two stages give the third', TIMES, { ...ALL, ...SHARES }],
  [
    'a total below its stages leaves the third missing',
    { ...TIMES, sleepTimeSeconds: 10_000 },
    { sleepS: 10_000, deepS: 5400, remS: 6000, deepShare: 0.54, remShare: 0.6 },
  ],
  [
    'a share and the total give the stage',
    { sleepTimeSeconds: 20_000, ...shares(25) },
    { sleepS: 20_000, deepShare: 0.25, deepS: 5000 },
  ],
  [
    'a stage and the total give the share',
    { sleepTimeSeconds: 20_000, remSleepSeconds: 5000 },
    { sleepS: 20_000, remS: 5000, remShare: 0.25 },
  ],
  [
    'a stage and its share give the total',
    { lightSleepSeconds: 12_000, lightPercentage: 0.5 },
    { lightS: 12_000, lightShare: 0.5, sleepS: 24_000 },
  ],
  [
    'the total and two shares give all',
    { sleepTimeSeconds: 20_000, ...shares(0.25, 0.25) },
    {
      sleepS: 20_000,
      deepShare: 0.25,
      remShare: 0.25,
      lightShare: 0.5,
      deepS: 5000,
      remS: 5000,
      lightS: 10_000,
    },
  ],
  ['awake time alone', { awakeSleepSeconds: 600 }, { awakeS: 600 }],
  ['no sleep at all', { sleepTimeSeconds: 0 }, { sleepS: 0 }],
];

t.test('what is known of a night follows from what is given', async (t) => {
  for (const [name, given, known] of cases) {
    const actual = normalised(given);
    t.strictSame(Object.keys(actual).toSorted(), Object.keys(known).toSorted(), name);
    for (const [field, value] of Object.entries(known)) {
      const found = actual[field as keyof Sleep] ?? NaN;
      t.ok(Math.abs(found - value) <= 1e-9 * (1 + value), `${name}: ${field} is ${found}, not ${value}`);
    }
  }
});
