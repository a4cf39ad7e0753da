import fc from 'fast-check';
import t from 'tap';
import { isHeartRate, SHARES, sleepContradictions, STAGES } from '#rules/contradictions.js';
import type { SessionFrame } from '#acuity/contract/request.js';

/** The fields that are blamed. */
function blamed(given: SessionFrame): string[] {
  return sleepContradictions(given).map(({ field }) => field);
}

/** Deep, REM and light sleep, the sleep time, the three shares, the time awake; what is blamed; and why it is here. */
const CASES = `
- > : nothing
90 100 230 25200 > deepSleepSeconds : stages in minutes beside seconds
90 100 230 33600 > deepSleepSeconds : … and awake time: at three quarters
400 400 400 96001 > : … beyond three quarters
400 400 300 60000 > deepSleepSeconds : … at eleven tenths
400 400 300 59999 > : … beyond eleven tenths
0 200 220 25200 > deepSleepSeconds : one stage of no minutes
5400 6000 14700 26100 > : seconds beside seconds
0 0 0 0 > : no sleep at all
90 100 - 25200 > : two stages beside seconds
90 100 230 420 > sleepTimeSeconds : everything in minutes
90 100 230 > deepSleepSeconds : stages in minutes alone
90 100 230 90000 > deepSleepSeconds : stages in minutes beside another time
90 100 - 420 > sleepTimeSeconds : two stages in minutes
90 - 230 420 > sleepTimeSeconds : REM sleep is what is left
- - - 420 20 25 55 > sleepTimeSeconds : shares of minutes
- - - 420 0.2 - 0.55 > sleepTimeSeconds : two fractions of minutes
- 100 - - 20 25 > remSleepSeconds : a stage, its share and another share
60 60 0 > deepSleepSeconds : two minutes
60 59 0 > : less than two minutes
60 60 - 720 > sleepTimeSeconds : twelve minutes
60 60 - 721 > : more than twelve minutes
- - - 420 > : seven minutes without stages
90 - - 420 > : seven minutes of deep sleep
90 0 330 420 > : seven minutes without REM sleep
0 90 - 420 > : seven minutes without deep sleep
- - - 420 0.7 - 0.3 > : a rest of nothing but rounding
5400 6000 14700 420 > : a sleep time that the stages replace
1 2 4 7 > sleepTimeSeconds : everything in hours
1 2 4 > deepSleepSeconds : stages in hours alone
1 2 4 26100 > deepSleepSeconds : stages in hours beside seconds
- 5400 - 7 > sleepTimeSeconds : a sleep time in hours beside one stage
- - - 8 0.2 > sleepTimeSeconds : … and shares
0 0 - 8 > sleepTimeSeconds : … and the rest is light sleep
- - - 7 > : a sleep time in hours alone
- - 1 1 > sleepTimeSeconds : one second of sleep
- - 24 24 > sleepTimeSeconds : twenty-four
- - 25 25 > : twenty-five
0 0 0 7 > sleepTimeSeconds : a sleep time in hours beside stages of none
0 0 0 24 > sleepTimeSeconds : … twenty-four
0 0 0 25 > : … twenty-five
0 - - 24 > sleepTimeSeconds : … beside one stage of none
- - - 24 0 > sleepTimeSeconds : … and beside a share of none
0 0 0 0.5 > : no sleep at all, with stages of none
90 6000 14700 26100 > deepSleepSeconds : deep sleep in minutes
5400 100 14700 26100 > remSleepSeconds : REM sleep in minutes
5400 6000 245 26100 > lightSleepSeconds : light sleep in minutes
89 6000 14700 26099 > deepSleepSeconds : … rounded down
90 6000 14700 26100 - - - 2400 > deepSleepSeconds : … the sleep time without the awake time that is given
90 6000 14700 28500 - - - 2400 > deepSleepSeconds : … with it
93 6000 14700 28140 - - - 0 > deepSleepSeconds : … with more awake time than is given: at three quarters
93 6000 14700 28141 - - - 0 > : … beyond three quarters
121 6000 14700 27300 - - - 0 > deepSleepSeconds : … at eleven tenths
121 6000 14700 27299 - - - 0 > : … beyond eleven tenths
91 6000 14700 26101 > deepSleepSeconds : … whose awake time is not given: to the minute
91 6000 14700 26219 > deepSleepSeconds : … a second less than a minute more
91 6000 14700 26100 > : … a minute less, so 91 seconds
91 6000 14700 26220 > : … a minute more
91 6000 14700 27900 > : … half an hour more: 91 s of deep sleep and long awake
150 480 14460 23580 > : hardly any deep sleep, and long awake
0 6000 14700 26100 > : a stage of none
90 - 14700 26100 > : one in minutes, another missing
- - - - 0.2 25 55 > deepPercentage : a fraction among points
- - - - 20 0.25 0.55 > remPercentage : two fractions beside a point
- - - - 0.25 25 55 > deepPercentage : … at 105 taken a hundredfold
- - - - 0.26 25 55 > : … beyond
- - - - 0.15 25 55 > deepPercentage : … at 95
- - - - 0.14 25 55 > : … below
- - - - 0.03 20 79.97 > : next to nothing, and points that are whole with it
5400 6000 14700 - 0.2 25 55 > : two scales that the stages replace
- - - - 0.25 0.35 0.45 > : fractions that sum to 1.05
- - - - 0.25 0.35 0.46 > deepPercentage : fractions that sum to more
- - - - 25 35 45 > : points that sum to 105
- - - - 25 35 45.1 > deepPercentage : points that sum to more
- - - - - 60 50 > remPercentage : two points that sum to more
- - - - 1 1 1 > deepPercentage : fractions of at most 1 each
- - - - 1 > : a whole one
- - - - 0.5 0.9 98.6 > : points with small ones among them
5400 6000 14700 - 60 50 40 > : too large a sum that the stages replace
5400 - 14700 - 60 50 40 > deepPercentage : … which two stages do not
- - - 420 0.9 0.9 > sleepTimeSeconds deepPercentage : both at once`;
const FIELDS = [...STAGES, 'sleepTimeSeconds', ...SHARES, 'awakeSleepSeconds'] as const;

t.test('what can’t be true of one night is blamed on the field that is most likely mistaken', async (t) => {
  t.strictSame(blamed({ deepSleepSeconds: null, remPercentage: null, sleepTimeSeconds: null }), []);
  for (const line of CASES.trim().split('\n')) {
    const [, values = '', fields = '', name = ''] = /^(.*?) > (.*?) ?: (.*)$/.exec(line) ?? [];
    const given = values
      .split(' ')
      .flatMap((value, at) => (value === '-' ? [] : [[FIELDS[at], Number(value)]]));
    t.equal(blamed(Object.fromEntries(given) as SessionFrame).join(' '), fields, name);
  }
});

t.test('a night in seconds, however it is worded, does not contradict itself', async (t) => {
  const stage = fc.integer({ min: 600, max: 20_000 });
  fc.assert(
    fc.property(
      stage,
      stage,
      stage,
      fc.integer({ min: 0, max: 7_200 }),
      fc.nat(127),
      (deep, rem, light, awake, kept) => {
        const asleep = deep + rem + light;
        fc.pre(3 * awake <= asleep);
        const shares = [deep / asleep, rem / asleep, light / asleep];
        const whole = [deep, rem, light, asleep + awake, ...shares].map(
          (value, at) => [FIELDS[at], value] as const,
        );
        const given = whole.filter((_, index) => ((kept >> index) & 1) === 1);
        return blamed(Object.fromEntries(given) as SessionFrame).length === 0;
      },
    ),
  );
  t.pass();
});

t.test('heart rate in the place of breathing: most of at least ten samples above 40', async (t) => {
  const of = (fast: number, slow: number): boolean => {
    return isHeartRate([...Array(fast).fill(40.1), ...Array(slow).fill(40)] as number[]);
  };
  t.ok(of(10, 0));
  t.notOk(of(9, 0));
  t.notOk(of(0, 100));
  t.ok(of(6, 5));
  t.notOk(of(6, 6));
  // What is no breathing at all counts neither for nor against it.
  t.ok(isHeartRate([...Array(10).fill(45), ...Array(9).fill(0), 900, -1, 255, NaN, 2.9, 70.1] as number[]));
  t.notOk(isHeartRate([...Array(9).fill(45), 900, 255] as number[]));
});
