import t from 'tap';
import type { Person } from '#adapters/person.js';
import { fromPolar } from '#adapters/providers/polar.js';
import { fromWithings } from '#adapters/providers/withings.js';
import { fromIntervals, type IntervalsInput } from '#adapters/providers/intervals.js';
import type { Session } from '#adapters/session.js';
import { DEFAULT_SERIES_LIMITS } from '#rules/fields.js';
import { createReader, isBodyProblem } from '#acuity/read/read.js';

/** What only code can give, or too long for a case; packages/cases/adapters.json has what a night is. */

const AT = Date.UTC(2025, 2, 1, 8);
const MINUTE_MS = 60_000;

const iso = (ms: number): string => new Date(ms).toISOString();

/** One sample each minute, half an hour before the moment to score. */
function each(values: readonly (number | null)[]) {
  return values.map((value, minute) => ({ at: iso(AT - (30 - minute) * MINUTE_MS), value }));
}

const of = (input: IntervalsInput): Session => fromIntervals({ at: AT, ...input }).session;
/** Somebody, beside one reading. */
const person = (who: Person) => of({ heart_rate: each([60]), person: who });

const readRequest = createReader(DEFAULT_SERIES_LIMITS);
const isAccepted = (session: Session): boolean =>
  !isBodyProblem(readRequest(Buffer.from(JSON.stringify({ current_session: session }))));

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

t.test('what only code can give, and no recording', async (t) => {
  const local = t.throws(() => of({ at: '2025-03-01T08:00:00' }), {
    message: /without an offset/,
  }) as unknown as Error;
  t.notMatch(local.message, '2025', 'no value is repeated');
  t.throws(() => person({ age: 34, bornAt: '1991-05-17' }), { message: /not both/ });
});

t.test('more devices than one person wears are refused at once', (t) => {
  const of = (devices: number) => {
    const moments = Array.from({ length: devices }, (_, index) => {
      return [AT / 1000 - index, { heart_rate: 60, deviceid: String(index) }] as const;
    });
    return fromWithings({ at: AT, activity: { status: 0, body: { series: Object.fromEntries(moments) } } });
  };
  t.strictSame(of(256).session.HR_day_1h, [60]);
  t.throws(() => of(257), { message: /more than 256 devices/ });
  t.end();
});

t.test('days of Polar have the offset of the sleep near them', (t) => {
  const night = (date: string, evening: string, offset: string) => {
    const [sleepStart, sleepEnd] = [`${evening}T23:00:00${offset}`, `${date}T07:00:00${offset}`];
    return { sleepDate: date, sleepResult: { hypnogram: { sleepStart, sleepEnd } } };
  };
  const nightSleeps = [
    night('2026-03-20', '2026-03-19', '+01:00'),
    night('2026-04-10', '2026-04-09', '+02:00'),
  ];
  // The pulse says the local hour.
  const samples = Array.from({ length: 24 }, (_, hour) => {
    return { offsetMillis: (hour + 0.5) * 3_600_000, heartRate: 50 + hour };
  });
  const heartRateSamplesPerDay = ['2026-04-09', '2026-04-10'].map((date) => ({ date, samples }));
  const heart_rate = { continuousSamples: { heartRateSamplesPerDay } };
  const { session } = fromPolar({ sleep: { nightSleeps }, heart_rate, person: {} });
  t.strictSame(session.HR_night, [73, 50, 51, 52, 53, 54, 55, 56]);
  t.end();
});
