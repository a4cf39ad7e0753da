import t from 'tap';
import { SHARES, STAGES } from '#rules/contradictions.js';
import { Sleep } from '#rules/sleep.js';
import { LAYOUT } from '#acuity/night/layout.js';
import { normaliseSleep } from '#acuity/night/normalise.js';
import type { SessionFrame } from '#acuity/contract/request.js';
import { writeScalars } from '#acuity/night/places.js';

type Known = Partial<Record<keyof Sleep, number>>;

function normalised(scalars: SessionFrame): Known {
  const records = new Float64Array(2 * LAYOUT.RECORD_LENGTH);
  const sleep = new Sleep();
  writeScalars(scalars, records, LAYOUT.RECORD_LENGTH);
  normaliseSleep(records, LAYOUT.RECORD_LENGTH, sleep);
  return Object.fromEntries(Object.entries(sleep).filter(([, value]) => !Number.isNaN(value)));
}

/** Deep, REM and light sleep, the sleep time, the three shares and the time awake: as given, and what is known then. */
const CASES = `
5400 6000 14700 27900 90 5 5 1800 > 5400 6000 14700 26100 0.206896551724 0.229885057471 0.563218390805 1800 : three stages, a time with awake time in it, and other shares
0 0 0 - 20 > 0 0 0 0 : three stages of nothing
- - - - 0.2 0.25 0.55 > - - - - 0.2 0.25 0.55 : fractions alone
- - - - 20 25 55 > - - - - 0.2 0.25 0.55 : percent points alone
- - - - 0.4 0.3 0.4 > - - - - 0.4 0.3 0.4 : shares of at most 1 are fractions, with any sum
- - - - 0.5 0.5 99 > - - - - 0.005 0.005 0.99 : one share above 1: percent points
- - - - 0.25 - 0.5 > - - - - 0.25 0.25 0.5 : two shares: the third is what is left
- - - - 60 - 50 > - - - - 0.6 - 0.5 : two shares above the whole leave no third
- - - - - 1 > - - - - - 1 : one fraction
5400 6000 - 26100 > 5400 6000 14700 26100 0.206896551724 0.229885057471 0.563218390805 : the total and two stages give the third
5400 6000 - 10000 > 5400 6000 - 10000 0.54 0.6 : a total below its stages leaves the third missing
- - - 20000 25 > 5000 - - 20000 0.25 : a share and the total give the stage
- 5000 - 20000 > - 5000 - 20000 - 0.25 : a stage and the total give the share
- - 12000 - - - 0.5 > - - 12000 24000 - - 0.5 : a stage and its share give the total
- - - 20000 0.25 0.25 > 5000 5000 10000 20000 0.25 0.25 0.5 : the total and two shares give all
- - - - - - - 600 > - - - - - - - 600 : awake time alone
- - - 0 > - - - 0 : no sleep at all`;
const GIVEN = [...STAGES, 'sleepTimeSeconds', ...SHARES, 'awakeSleepSeconds'];
const KNOWN = ['deepS', 'remS', 'lightS', 'sleepS', 'deepShare', 'remShare', 'lightShare', 'awakeS'];

function valuesOf(names: readonly string[], text: string): Readonly<Record<string, number>> {
  const values = text.split(' ').map((value, at) => [names[at] ?? '', Number(value)] as const);
  return Object.fromEntries(values.filter(([, value]) => !Number.isNaN(value)));
}

t.test('what is known of a night follows from what is given', async (t) => {
  t.strictSame(normalised({ sleepTimeSeconds: null, deepSleepSeconds: null, deepPercentage: null }), {});
  for (const line of CASES.trim().split('\n')) {
    const [, given = '', known = '', name = ''] = /^(.*?) > (.*?) : (.*)$/.exec(line) ?? [];
    const [expected, actual] = [valuesOf(KNOWN, known), normalised(valuesOf(GIVEN, given))];
    t.strictSame(Object.keys(actual).toSorted(), Object.keys(expected).toSorted(), name);
    for (const [field, value] of Object.entries(expected)) {
      const found = actual[field as keyof Sleep] ?? NaN;
      t.ok(Math.abs(found - value) <= 1e-9 * (1 + value), `${name}: ${field} is ${found}, not ${value}`);
    }
  }
});
