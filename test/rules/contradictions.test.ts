import fc from 'fast-check';
import t from 'tap';
import { isHeartRate, sleepContradictions } from '#rules/contradictions.js';
import type { SessionFrame } from '#acuity/contract/request.js';

/** The fields that are blamed. */
function blamed(given: SessionFrame): string[] {
  return sleepContradictions(given).map(({ field }) => field);
}

const stages = (deep: number | null, rem: number | null, light: number | null): SessionFrame => ({
  deepSleepSeconds: deep,
  remSleepSeconds: rem,
  lightSleepSeconds: light,
});
const shares = (deep: number | null, rem: number | null, light: number | null): SessionFrame => ({
  deepPercentage: deep,
  remPercentage: rem,
  lightPercentage: light,
});

const cases: readonly (readonly [name: string, given: SessionFrame, fields: readonly string[]])[] = [
  ['nothing', {}, []],
  ['nulls', { ...stages(null, null, null), ...shares(null, null, null), sleepTimeSeconds: null }, []],

  // 420 minutes of stages
  [
    'stages in minutes beside seconds',
    { ...stages(90, 100, 230), sleepTimeSeconds: 25_200 },
    ['deepSleepSeconds'],
  ],
  [
    '… and awake time: at three quarters',
    { ...stages(90, 100, 230), sleepTimeSeconds: 33_600 },
    ['deepSleepSeconds'],
  ],
  ['… beyond three quarters', { ...stages(400, 400, 400), sleepTimeSeconds: 96_001 }, []],
  ['… at eleven tenths', { ...stages(400, 400, 300), sleepTimeSeconds: 60_000 }, ['deepSleepSeconds']],
  ['… beyond eleven tenths', { ...stages(400, 400, 300), sleepTimeSeconds: 59_999 }, []],
  ['one stage of no minutes', { ...stages(0, 200, 220), sleepTimeSeconds: 25_200 }, ['deepSleepSeconds']],
  ['seconds beside seconds', { ...stages(5_400, 6_000, 14_700), sleepTimeSeconds: 26_100 }, []],
  ['no sleep at all', { ...stages(0, 0, 0), sleepTimeSeconds: 0 }, []],
  ['two stages beside seconds', { ...stages(90, 100, null), sleepTimeSeconds: 25_200 }, []],

  ['everything in minutes', { ...stages(90, 100, 230), sleepTimeSeconds: 420 }, ['sleepTimeSeconds']],
  ['stages in minutes alone', stages(90, 100, 230), ['deepSleepSeconds']],
  [
    'stages in minutes beside another time',
    { ...stages(90, 100, 230), sleepTimeSeconds: 90_000 },
    ['deepSleepSeconds'],
  ],
  ['two stages in minutes', { ...stages(90, 100, null), sleepTimeSeconds: 420 }, ['sleepTimeSeconds']],
  ['REM sleep is what is left', { ...stages(90, null, 230), sleepTimeSeconds: 420 }, ['sleepTimeSeconds']],
  ['shares of minutes', { ...shares(20, 25, 55), sleepTimeSeconds: 420 }, ['sleepTimeSeconds']],
  ['two fractions of minutes', { ...shares(0.2, null, 0.55), sleepTimeSeconds: 420 }, ['sleepTimeSeconds']],
  [
    'a stage, its share and another share',
    { remSleepSeconds: 100, ...shares(20, 25, null) },
    ['remSleepSeconds'],
  ],
  ['two minutes', { ...stages(60, 60, 0) }, ['deepSleepSeconds']],
  ['less than two minutes', stages(60, 59, 0), []],
  ['twelve minutes', { ...stages(60, 60, null), sleepTimeSeconds: 720 }, ['sleepTimeSeconds']],
  ['more than twelve minutes', { ...stages(60, 60, null), sleepTimeSeconds: 721 }, []],
  ['seven minutes without stages', { sleepTimeSeconds: 420 }, []],
  ['seven minutes of deep sleep', { ...stages(90, null, null), sleepTimeSeconds: 420 }, []],
  ['seven minutes without REM sleep', { ...stages(90, 0, 330), sleepTimeSeconds: 420 }, []],
  ['seven minutes without deep sleep', { ...stages(0, 90, null), sleepTimeSeconds: 420 }, []],
  ['a rest of nothing but rounding', { ...shares(0.7, null, 0.3), sleepTimeSeconds: 420 }, []],
  ['a sleep time that the stages replace', { ...stages(5_400, 6_000, 14_700), sleepTimeSeconds: 420 }, []],

  ['everything in hours', { ...stages(1, 2, 4), sleepTimeSeconds: 7 }, ['sleepTimeSeconds']],
  ['stages in hours alone', stages(1, 2, 4), ['deepSleepSeconds']],
  ['stages in hours beside seconds', { ...stages(1, 2, 4), sleepTimeSeconds: 26_100 }, ['deepSleepSeconds']],
  [
    'a sleep time in hours beside one stage',
    { sleepTimeSeconds: 7, remSleepSeconds: 5_400 },
    ['sleepTimeSeconds'],
  ],
  ['… and shares', { sleepTimeSeconds: 8, ...shares(0.2, null, null) }, ['sleepTimeSeconds']],
  ['… and the rest is light sleep', { sleepTimeSeconds: 8, ...stages(0, 0, null) }, ['sleepTimeSeconds']],
  ['a sleep time in hours alone', { sleepTimeSeconds: 7 }, []],
  ['one second of sleep', { sleepTimeSeconds: 1, lightSleepSeconds: 1 }, ['sleepTimeSeconds']],
  ['twenty-four', { sleepTimeSeconds: 24, lightSleepSeconds: 24 }, ['sleepTimeSeconds']],
  ['twenty-five', { sleepTimeSeconds: 25, lightSleepSeconds: 25 }, []],
  ['no sleep at all, with stages of none', { ...stages(0, 0, 0), sleepTimeSeconds: 7 }, []],

  // What the sleep time leaves for the stage is 5,400 s.
  ['deep sleep in minutes', { ...stages(90, 6_000, 14_700), sleepTimeSeconds: 26_100 }, ['deepSleepSeconds']],
  ['REM sleep in minutes', { ...stages(5_400, 100, 14_700), sleepTimeSeconds: 26_100 }, ['remSleepSeconds']],
  [
    'light sleep in minutes',
    { ...stages(5_400, 6_000, 245), sleepTimeSeconds: 26_100 },
    ['lightSleepSeconds'],
  ],
  ['… rounded down', { ...stages(89, 6_000, 14_700), sleepTimeSeconds: 26_099 }, ['deepSleepSeconds']],
  [
    '… the sleep time without the awake time that is given',
    { ...stages(90, 6_000, 14_700), sleepTimeSeconds: 26_100, awakeSleepSeconds: 2_400 },
    ['deepSleepSeconds'],
  ],
  [
    '… with it',
    { ...stages(90, 6_000, 14_700), sleepTimeSeconds: 28_500, awakeSleepSeconds: 2_400 },
    ['deepSleepSeconds'],
  ],
  ['… with awake time that is not given: at three quarters', { ...stages(93, 6_000, 14_700), sleepTimeSeconds: 28_140 }, ['deepSleepSeconds']], // prettier-ignore
  ['… beyond three quarters', { ...stages(93, 6_000, 14_700), sleepTimeSeconds: 28_141 }, []],
  ['… at eleven tenths', { ...stages(121, 6_000, 14_700), sleepTimeSeconds: 27_300 }, ['deepSleepSeconds']],
  ['… beyond eleven tenths', { ...stages(121, 6_000, 14_700), sleepTimeSeconds: 27_299 }, []],
  // Five half minutes of deep sleep, and the sleep time has 8,490 s of awake time in it: a night that was recorded.
  ['hardly any deep sleep, and long awake', { ...stages(150, 480, 14_460), sleepTimeSeconds: 23_580 }, []],
  ['a stage of none', { ...stages(0, 6_000, 14_700), sleepTimeSeconds: 26_100 }, []],
  ['one in minutes, another missing', { ...stages(90, null, 14_700), sleepTimeSeconds: 26_100 }, []],

  ['a fraction among points', shares(0.2, 25, 55), ['deepPercentage']],
  ['two fractions beside a point', shares(20, 0.25, 0.55), ['remPercentage']],
  ['… at 105 taken a hundredfold', shares(0.25, 25, 55), ['deepPercentage']],
  ['… beyond', shares(0.26, 25, 55), []],
  ['… at 95', shares(0.15, 25, 55), ['deepPercentage']],
  ['… below', shares(0.14, 25, 55), []],
  ['next to nothing, and points that are whole with it', shares(0.03, 20, 79.97), []],
  ['two scales that the stages replace', { ...stages(5_400, 6_000, 14_700), ...shares(0.2, 25, 55) }, []],

  ['fractions that sum to 1.05', shares(0.25, 0.35, 0.45), []],
  ['fractions that sum to more', shares(0.25, 0.35, 0.46), ['deepPercentage']],
  ['points that sum to 105', shares(25, 35, 45), []],
  ['points that sum to more', shares(25, 35, 45.1), ['deepPercentage']],
  ['two points that sum to more', shares(null, 60, 50), ['remPercentage']],
  ['fractions of at most 1 each', shares(1, 1, 1), ['deepPercentage']],
  ['a whole one', shares(1, null, null), []],
  ['points with small ones among them', shares(0.5, 0.9, 98.6), []],
  ['too large a sum that the stages replace', { ...stages(5_400, 6_000, 14_700), ...shares(60, 50, 40) }, []],
  [
    '… which two stages do not',
    { ...stages(5_400, null, 14_700), ...shares(60, 50, 40) },
    ['deepPercentage'],
  ],

  [
    'both at once',
    { ...shares(0.9, 0.9, null), sleepTimeSeconds: 420 },
    ['sleepTimeSeconds', 'deepPercentage'],
  ],
];

t.test('what can’t be true of one night is blamed on the field that is most likely mistaken', async (t) => {
  for (const [name, given, fields] of cases) t.strictSame(blamed(given), fields, name);
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
        const whole: SessionFrame = {
          ...stages(deep, rem, light),
          ...shares(deep / asleep, rem / asleep, light / asleep),
          sleepTimeSeconds: asleep + awake,
        };
        const given = Object.fromEntries(
          Object.entries(whole).filter((_, index) => ((kept >> index) & 1) === 1),
        );
        return blamed(given).length === 0;
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
