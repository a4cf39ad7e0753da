import fc from 'fast-check';
import t from 'tap';
import type { Person } from '#adapters/person.js';
import { fromIntervals, type IntervalsInput } from '#adapters/providers/intervals.js';
import type { Session } from '#adapters/session.js';
import { STAGES, type Stage } from '#adapters/sleep.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';

/** The session of samples, stages and a person; packages/cases/adapters has what a night is. */

const AT = Date.UTC(2025, 2, 1, 8);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EVENING = AT - 9 * HOUR_MS;

const iso = (ms: number): string => new Date(ms).toISOString();

/** One sample each minute, half an hour before the moment to score. */
function each(values: readonly (number | null)[]) {
  return values.map((value, minute) => ({ at: iso(AT - (30 - minute) * MINUTE_MS), value }));
}

/** Stages one after the other, in minutes, from the evening on. */
function stages(...parts: readonly (readonly [Stage, number])[]) {
  let at = EVENING;
  return parts.map(([stage, minutes]) => {
    const from = iso(at);
    at += minutes * MINUTE_MS;
    return { stage, from, to: iso(at) };
  });
}

const of = (input: IntervalsInput): Session => fromIntervals({ at: AT, ...input }).session;
const heart = (...values: (number | null)[]) => of({ heart_rate: each(values) });
const breath = (...values: number[]) => of({ respiratory_rate: each(values) });
/** Somebody, beside one reading. */
const person = (who: Person) => of({ heart_rate: each([60]), person: who });

const readRequest = createReader(DEFAULT_SERIES_LIMITS);
const isAccepted = (session: Session): boolean =>
  !isBodyProblem(readRequest(Buffer.from(JSON.stringify({ current_session: session }))));

t.test('samples go to the hour before and to the night, in any order of the input', async (t) => {
  const samples: readonly (readonly [ms: number, value: number])[] = [
    [AT, 75],
    [AT - HOUR_MS, 70],
    [AT - HOUR_MS - 1, 99],
    [AT + 1, 98],
    [EVENING + 4 * HOUR_MS, 55],
    [EVENING, 60],
    [EVENING, 61], // of two of one moment the later one counts
    [EVENING - 1, 97],
  ];
  const session = of({
    heart_rate: samples.map(([ms, value]) => ({ at: iso(ms), value })),
    stages: stages(['light', 240]),
  });
  t.strictSame(session.HR_day_1h, [70, 75]);
  t.strictSame(session.HR_night, [61, 55]);
  t.strictSame([session.RR_day_1h, session.RR_night], [[], []]);
});

t.test('stages become whole seconds, their sum and their shares', async (t) => {
  const night = stages(['light', 100], ['deep', 205], ['awake', 5], ['rem', 95]);
  t.match(of({ stages: night }), {
    deepSleepSeconds: 12_300,
    remSleepSeconds: 5_700,
    lightSleepSeconds: 6_000,
    awakeSleepSeconds: 300,
    sleepTimeSeconds: 24_000,
    deepPercentage: 0.5125,
    remPercentage: 0.2375,
    lightPercentage: 0.25,
  });
});

t.test('a date of birth gives the age at the moment', async (t) => {
  const born: readonly (readonly [Person['bornAt'] & {}, number])[] = [
    ['1991-02-20', 34],
    ['1991-03-20', 33],
    [new Date('1950-06-01'), 74],
    [Date.UTC(1950, 5, 1), 74],
  ];
  for (const [bornAt, age] of born) t.equal(person({ bornAt }).age, age);
});

t.test('a denser series than the service takes is thinned evenly', async (t) => {
  const dense = Array.from({ length: 3_600 * 5 }, (_, index) => ({
    at: iso(AT - index * 200),
    value: 60 + (index % 3),
  }));
  const session = of({ heart_rate: dense });
  t.equal(session.HR_day_1h?.length, 6_000);
  t.ok(isAccepted(session));
});

type Trap = readonly [name: string, make: () => unknown, message: RegExp];

const UNIT_TRAPS: readonly Trap[] = [
  ['beat intervals as heart rate', () => heart(812, 790, 805), /milliseconds: heart rate is 60,000 divided/],
  ['beats per second', () => heart(1.2, 1.1, 1.3), /beats per second/],
  ['breathing as heart rate', () => heart(14, 15, 14), /look like respiratory rate/],
  ['R-R intervals as breathing', () => breath(812, 790, 805), /"RR" means respiratory rate/],
  ['R-R intervals in seconds', () => breath(0.81, 0.79, 0.8), /R-R intervals in seconds/],
  ['heart rate as breathing', () => breath(88, 91, 90), /look like heart rate/],
  [
    'one series given for both',
    () => of({ heart_rate: each([58, 60, 61]), respiratory_rate: each([58, 60, 61]) }),
    /given for both, or swapped/,
  ],
  [
    'heart rate as breathing, where no heart rate is given',
    () => breath(...Array<number>(10).fill(58)),
    /heart rate in the place of respiratory rate/,
  ],
  [
    'a night of minutes',
    () => of({ at: EVENING + HOUR_MS, stages: stages(['deep', 2], ['rem', 2], ['light', 4]) }),
    /minutes or hours, not seconds/,
  ],
];

t.test('each unit trap is called by its name, and no value is repeated', async (t) => {
  for (const [name, make, message] of UNIT_TRAPS) {
    const error = t.throws(make, { name: 'UnitError', message }, name) as unknown as Error;
    t.notMatch(error.message, /81[02]|1\.2/, name);
  }
});

const backwards = { stage: 'deep', from: iso(EVENING + 1), to: iso(EVENING) };
const OTHER_TRAPS: readonly Trap[] = [
  ['seconds since 1970', () => of({ at: AT / 1000 }), /looks like seconds/],
  ['a local time', () => of({ at: '2025-03-01T08:00:00' }), /without an offset/],
  ['no time', () => of({ at: 'yesterdayZ' }), /expected a time/],
  ['a stage backwards', () => of({ stages: [backwards] }), /ends before it begins/],
  ['age and date of birth', () => person({ age: 34, bornAt: '1991-05-17' }), /not both/],
];

t.test('so is every other one', async (t) => {
  for (const [name, make, message] of OTHER_TRAPS) t.throws(make, { message }, name);
});

t.test('what is built, the service accepts', async () => {
  const series = (min: number, max: number) =>
    fc.array(
      fc.record({
        at: fc.integer({ min: 0, max: 600 }).map((minutes) => iso(AT - minutes * MINUTE_MS)),
        value: fc.double({ min, max, noNaN: true }),
      }),
    );
  const part = fc.tuple(fc.constantFrom(...STAGES), fc.integer({ min: 20, max: 60 }));
  fc.assert(
    fc.property(
      series(45, 200),
      series(3, 30),
      fc.array(part, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 0, max: 130 }),
      (hearts, breaths, parts, age) =>
        isAccepted(
          of({
            person: { age, heightCm: 170, weightKg: 70, sex: 'F' },
            heart_rate: [{ at: iso(AT), value: 60 }, ...hearts],
            respiratory_rate: breaths,
            stages: stages(...parts),
          }),
        ),
    ),
    { numRuns: 300 },
  );
});
