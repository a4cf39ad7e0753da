import t from 'tap';
import { localMs, offsetAt } from '#adapters/zone.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Moments at which zones changed their offset. */
const CHANGES: readonly (readonly [zone: string, at: string])[] = [
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'], // by half an hour
  ['America/St_Johns', '2006-04-02T03:31Z'], // a minute after midnight
  ['Asia/Kathmandu', '1985-12-31T18:30Z'], // by a quarter
  ['Pacific/Apia', '2011-12-30T10:00Z'], // by a day
  ['Africa/Casablanca', '2026-02-15T02:00Z'], // for Ramadan
  ['Africa/Casablanca', '2026-03-22T02:00Z'],
];

/** The offset that Intl writes: the hour and the minute of the zone's clock, and its date. */
function writtenOffset(ms: number, timeZone: string): number {
  const name = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' }).format(ms);
  const [, sign, hours = 0, minutes = 0] = /GMT(?:([+-])(\d\d):(\d\d))?$/.exec(name) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

t.test('an offset is that of its minute, at the edges of summer time too', async (t) => {
  for (const [zone, at] of CHANGES) {
    const changeMs = Date.parse(at);
    t.not(offsetAt(changeMs - 1, zone), offsetAt(changeMs, zone), `${zone} changes at ${at}`);
    for (const byMs of [-17 * DAY_MS, -DAY_MS, -MINUTE_MS, -1, 0, 1, MINUTE_MS, DAY_MS, 17 * DAY_MS])
      t.equal(offsetAt(changeMs + byMs, zone), writtenOffset(changeMs + byMs, zone), `${zone} ${at} ${byMs}`);
  }
});

t.test(
  'of an hour that comes twice the first counts, and one that is skipped is as if it were not',
  async (t) => {
    const local = (clock: string) =>
      new Date(localMs(Date.parse(`${clock}Z`), 'Europe/Berlin')).toISOString();
    t.equal(local('2026-10-25T01:59:59'), '2026-10-24T23:59:59.000Z');
    t.equal(local('2026-10-25T02:30:00'), '2026-10-25T00:30:00.000Z');
    t.equal(local('2026-10-25T03:00:00'), '2026-10-25T02:00:00.000Z');
    t.equal(local('2026-03-29T01:59:59'), '2026-03-29T00:59:59.000Z');
    t.equal(local('2026-03-29T02:30:00'), '2026-03-29T01:30:00.000Z');
    t.equal(local('2026-03-29T03:00:00'), '2026-03-29T01:00:00.000Z');
  },
);

t.test('a zone in any case is the same; what is none is an error', async (t) => {
  t.equal(offsetAt(Date.UTC(2026, 6, 1), 'EUROPE/berlin'), 7_200_000);
  for (const zone of ['Europe/Atlantis', '../../etc/localtime', '', '+25:00', '__proto__', {} as string])
    t.throws(() => offsetAt(0, zone), { name: 'AdapterError', message: /no such time zone/ });
});
