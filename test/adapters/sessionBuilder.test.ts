import fc from 'fast-check';
import t from 'tap';
import type { Person } from '#adapters/person.js';
import { SessionBuilder, type Sample } from '#adapters/sessionBuilder.js';
import type { Stage, StageDurations, StageInterval } from '#adapters/sleep.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import type { Session } from '#acuity/contract/request.js';
import { createReader, isBodyProblem } from '#acuity/reading/read.js';

const AT = Date.UTC(2025, 2, 1, 8);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const EVENING = AT - 9 * HOUR_MS;

/** One sample each minute from `fromMs` on. */
function each(values: readonly (number | null)[], fromMs = AT - 30 * MINUTE_MS): Sample[] {
  return values.map((value, minute) => ({ at: fromMs + minute * MINUTE_MS, value }));
}

/** Stages one after the other, in minutes, from the evening on. */
function stages(...parts: readonly (readonly [Stage, number])[]): StageInterval[] {
  let at = EVENING;
  return parts.map(([stage, minutes]) => {
    const from = at;
    at += minutes * MINUTE_MS;
    return { stage, from: new Date(from), to: new Date(at).toISOString() };
  });
}

const readRequest = createReader(DEFAULT_SERIES_LIMITS);
const isAccepted = (session: Session): boolean =>
  !isBodyProblem(readRequest(Buffer.from(JSON.stringify({ current_session: session }))));

t.test(
  'samples go to the hour before and to the night, oldest first, in any order of the input',
  async (t) => {
    const samples: Sample[] = [
      { at: AT, value: 75 },
      { at: new Date(AT - HOUR_MS), value: 70 },
      { at: new Date(AT - HOUR_MS - 1).toISOString(), value: 99 },
      { at: AT + 1, value: 98 },
      { at: EVENING + HOUR_MS, value: 55 },
      { at: EVENING, value: 60 },
      { at: EVENING - 1, value: 97 },
    ];
    const session = new SessionBuilder(AT)
      .heartRate(samples)
      .sleepStages(stages(['light', 60]))
      .build();
    t.strictSame(session.HR_day_1h, [70, 75]);
    t.strictSame(session.HR_night, [60, 55]);
    t.strictSame([session.RR_day_1h, session.RR_night], [[], []]);
  },
);

t.test('of two samples of one moment the later one given counts', async (t) => {
  const samples = [...each([60, 61, 62]), ...each([70, 71])];
  t.strictSame(new SessionBuilder(AT).heartRate(samples).build().HR_day_1h, [70, 71, 62]);
});

t.test('what is no reading is left out', async (t) => {
  const samples = [...each([0, -1, -2, 255, null, 61, NaN]), { at: 'never', value: undefined }];
  t.strictSame(new SessionBuilder(AT).heartRate(samples).build().HR_day_1h, [61]);
});

t.test('stages become whole seconds, their sum and their shares', async (t) => {
  const night = stages(['light', 10], ['deep', 20.5], ['awake', 5], ['rem', 9.5]);
  t.match(new SessionBuilder(AT).sleepStages(night).build(), {
    deepSleepSeconds: 1230,
    remSleepSeconds: 570,
    lightSleepSeconds: 600,
    awakeSleepSeconds: 300,
    sleepTimeSeconds: 2400,
    deepPercentage: 0.5125,
    remPercentage: 0.2375,
    lightPercentage: 0.25,
  });
});

t.test('minutes become seconds', async (t) => {
  const session = new SessionBuilder(AT).sleepMinutes({ deep: 84, rem: 96.5, light: 240, awake: 30 }).build();
  t.match(session, {
    deepSleepSeconds: 5040,
    remSleepSeconds: 5790,
    awakeSleepSeconds: 1800,
    sleepTimeSeconds: 25_230,
  });
});

t.test('without all three stages there is neither a sum nor a share', async (t) => {
  const session = new SessionBuilder(AT).sleepSeconds({ deep: 5_000, rem: 5_000 }).build();
  t.strictSame(Object.keys(session).slice(4), ['deepSleepSeconds', 'remSleepSeconds']);
});

t.test('a date of birth gives the age at the moment', async (t) => {
  const ageBorn = (bornAt: Person['bornAt'] & {}) => new SessionBuilder(AT).person({ bornAt }).build().age;
  t.equal(ageBorn('1991-02-20'), 34);
  t.equal(ageBorn('1991-03-20'), 33);
  t.equal(ageBorn(new Date('1950-06-01')), 74);
  t.equal(ageBorn(Date.UTC(1950, 5, 1)), 74);
});

t.test('a person goes in as given, what is not known stays out', async (t) => {
  const { age, height_cm, weight_kg, sex } = new SessionBuilder(AT)
    .person({ age: 34, heightCm: 178, weightKg: 74, sex: null })
    .build();
  t.strictSame({ age, height_cm, weight_kg, sex }, { age: 34, height_cm: 178, weight_kg: 74, sex: null });
  t.strictSame(Object.keys(new SessionBuilder(AT).person({}).build()), [
    'HR_day_1h',
    'RR_day_1h',
    'HR_night',
    'RR_night',
  ]);
});

t.test('a denser series than the service takes is thinned evenly', async (t) => {
  const dense = Array.from({ length: 3_600 * 5 }, (_, index) => ({
    at: AT - index * 200,
    value: 60 + (index % 3),
  }));
  const session = new SessionBuilder(AT).heartRate(dense).build();
  t.equal(session.HR_day_1h?.length, 6_000);
  t.ok(isAccepted(session));
});

interface Trap {
  readonly name: string;
  readonly make: () => unknown;
  readonly message: RegExp;
}

const heart = (...values: number[]) => new SessionBuilder(AT).heartRate(each(values));
const breath = (...values: number[]) => new SessionBuilder(AT).respiratoryRate(each(values));
const person = (who: Person) => new SessionBuilder(AT).person(who).build();
const minutes = (durations: StageDurations) => new SessionBuilder(AT).sleepMinutes(durations);

const UNIT_TRAPS: readonly Trap[] = [
  {
    name: 'beat intervals as heart rate',
    make: () => heart(812, 790, 805).build(),
    message: /milliseconds: heart rate is 60,000 divided/,
  },
  { name: 'beats per second', make: () => heart(1.2, 1.1, 1.3).build(), message: /beats per second/ },
  {
    name: 'breathing as heart rate',
    make: () => heart(14, 15, 14).build(),
    message: /look like respiratory rate/,
  },
  {
    name: 'R-R intervals as breathing',
    make: () => breath(812, 790, 805).build(),
    message: /"RR" means respiratory rate/,
  },
  {
    name: 'R-R intervals in seconds',
    make: () => breath(0.81, 0.79, 0.8).build(),
    message: /R-R intervals in seconds/,
  },
  {
    name: 'heart rate as breathing',
    make: () => breath(88, 91, 90).build(),
    message: /look like heart rate/,
  },
  {
    name: 'one series given for both',
    make: () =>
      heart(58, 60, 61)
        .respiratoryRate(each([58, 60, 61]))
        .build(),
    message: /given for both, or swapped/,
  },
  {
    name: 'heart rate as breathing, where no heart rate is given',
    make: () => breath(...Array<number>(10).fill(58)).build(),
    message: /heart rate in the place of respiratory rate/,
  },
  {
    name: 'a night of minutes',
    make: () => new SessionBuilder(AT).sleepStages(stages(['deep', 2], ['rem', 2], ['light', 4])).build(),
    message: /looks like minutes/,
  },
  { name: 'a year of birth as age', make: () => person({ age: 1988 }), message: /year of birth/ },
  { name: 'months as age', make: () => person({ age: 408 }), message: /in years/ },
  { name: 'metres', make: () => person({ heightCm: 1.78 }), message: /looks like metres/ },
  { name: 'feet', make: () => person({ heightCm: 5.9 }), message: /centimetres/ },
  { name: 'inches', make: () => person({ heightCm: 70, weightKg: 74 }), message: /inches, or in pounds/ },
  { name: 'grams', make: () => person({ weightKg: 74_000 }), message: /grams or pounds/ },
  {
    name: 'seconds as minutes',
    make: () => minutes({ deep: 5_000, rem: 5_000 }),
    message: /seconds, not minutes/,
  },
  {
    name: 'minutes as seconds',
    make: () => new SessionBuilder(AT).sleepSeconds({ deep: 84, light: 240 }),
    message: /minutes or hours, not seconds/,
  },
  {
    name: 'hours as seconds',
    make: () => new SessionBuilder(AT).sleepSeconds({ deep: 1.4, light: 4 }),
    message: /minutes or hours/,
  },
];

t.test('each unit trap is called by its name', async (t) => {
  for (const { name, make, message } of UNIT_TRAPS) t.throws(make, { name: 'UnitError', message }, name);
});

const [deepHour] = stages(['deep', 60]);

const OTHER_TRAPS: readonly Trap[] = [
  { name: 'seconds since 1970', make: () => new SessionBuilder(AT / 1000), message: /looks like seconds/ },
  {
    name: 'a local time',
    make: () => new SessionBuilder('2025-03-01T08:00:00'),
    message: /without an offset/,
  },
  { name: 'no time', make: () => new SessionBuilder('yesterdayZ'), message: /not a point in time/ },
  {
    name: 'overlapping stages',
    make: () => new SessionBuilder(AT).sleepStages([...stages(['deep', 60]), ...stages(['light', 30])]),
    message: /overlap/,
  },
  { name: 'no stages', make: () => new SessionBuilder(AT).sleepStages([]), message: /no sleep stage/ },
  {
    name: 'a stage backwards',
    make: () => new SessionBuilder(AT).sleepStages([{ stage: 'deep', from: AT, to: AT - 1 }]),
    message: /ends before it begins/,
  },
  {
    name: 'two nights',
    make: () =>
      new SessionBuilder(AT).sleepStages([
        ...(deepHour ? [deepHour] : []),
        { stage: 'rem', from: EVENING + 25 * HOUR_MS, to: EVENING + 26 * HOUR_MS },
      ]),
    message: /more than one night/,
  },
  {
    name: 'an unknown stage',
    make: () => new SessionBuilder(AT).sleepStages([{ stage: 'core' as Stage, from: EVENING, to: AT }]),
    message: /deep, rem, light, awake/,
  },
  {
    name: 'a night backwards',
    make: () => new SessionBuilder(AT).night(AT, EVENING),
    message: /ends before it begins/,
  },
  {
    name: 'a night to come',
    make: () => new SessionBuilder(AT).night(EVENING, AT + 1).build(),
    message: /ends after the moment/,
  },
  {
    name: 'the night before last',
    make: () => new SessionBuilder(AT).night(EVENING - 48 * HOUR_MS, AT - 48 * HOUR_MS).build(),
    message: /not the night before/,
  },
  { name: 'a negative duration', make: () => minutes({ deep: -1 }), message: /no positive number/ },
  {
    name: 'age and date of birth',
    make: () => person({ age: 34, bornAt: '1991-05-17' }),
    message: /not both/,
  },
  { name: 'another word for a sex', make: () => person({ sex: 'male' as 'M' }), message: /'M', 'F' or null/ },
];

t.test('so is every other one', async (t) => {
  for (const { name, make, message } of OTHER_TRAPS) t.throws(make, { message }, name);
});

t.test('no message holds a value that was given', async (t) => {
  for (const { name, make } of UNIT_TRAPS) {
    const { message } = t.throws(make) as unknown as Error;
    t.notMatch(message, /81[02]|74[_,]?000|1988|408|1\.78|5[_,]?000/, name);
  }
});

t.test('single artefacts pass: the service leaves them out by itself', async (t) => {
  t.strictSame(heart(60, 400, 61, 62).build().HR_day_1h, [60, 400, 61, 62]);
  t.strictSame(heart(400, 300).build().HR_day_1h, [400, 300]);
});

t.test('what is built, the service accepts', async (t) => {
  const series = (min: number, max: number) =>
    fc.array(
      fc.record({
        minutesAgo: fc.integer({ min: 0, max: 600 }),
        value: fc.double({ min, max, noNaN: true }),
      }),
    );
  const samples = (list: readonly { minutesAgo: number; value: number }[]): Sample[] =>
    list.map(({ minutesAgo, value }) => ({ at: AT - minutesAgo * MINUTE_MS, value }));
  fc.assert(
    fc.property(
      series(45, 200),
      series(3, 30),
      fc.array(
        fc.tuple(fc.constantFrom<Stage>('deep', 'rem', 'light', 'awake'), fc.integer({ min: 0, max: 60 })),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
      fc.integer({ min: 0, max: 130 }),
      (hearts, breaths, parts, age) => {
        const builder = new SessionBuilder(AT)
          .person({ age, heightCm: 170, weightKg: 70, sex: 'F' })
          .heartRate(samples(hearts))
          .respiratoryRate(samples(breaths))
          .sleepStages(stages(...parts));
        const minutes = parts.reduce((sum, [stage, length]) => sum + (stage === 'awake' ? 0 : length), 0);
        const isShort = minutes >= 2 && minutes <= 12;
        const hasBoth = ['deep', 'rem'].every((stage) =>
          parts.some(([of, length]) => of === stage && length > 0),
        );
        if (!isShort || !hasBoth) return isAccepted(builder.build());
        t.throws(() => builder.build(), { name: 'UnitError' });
        return true;
      },
    ),
    { numRuns: 300 },
  );
});
